//go:build proof

package secured

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

const (
	realmName      = "SECURED.TEST"
	kerberosModule = "com.sun.security.auth.module.Krb5LoginModule"
)

// realm is a Kerberos key server on loopback, with a principal of the broker and one of the user.
type realm struct {
	config string // the file krb5.conf
	table  string // the key table
}

func startRealm(t *testing.T, folder string) *realm {
	t.Helper()
	if _, err := exec.LookPath("kinit"); err != nil {
		t.Fatal("there is no Kerberos; on Debian install: krb5-kdc krb5-admin-server krb5-user openssl")
	}
	address := freeAddress(t)
	_, port, err := net.SplitHostPort(address)
	check(t, err)
	r := &realm{config: filepath.Join(folder, "krb5.conf"), table: filepath.Join(folder, "all.keytab")}
	server := filepath.Join(folder, "kdc.conf")
	for path, content := range map[string]string{
		r.config: fmt.Sprintf("[libdefaults]\n default_realm = %[1]s\n udp_preference_limit = 1\n dns_lookup_kdc = false\n"+
			" rdns = false\n dns_canonicalize_hostname = false\n[realms]\n %[1]s = {\n  kdc = %[2]s\n }\n", realmName, address),
		server: fmt.Sprintf("[kdcdefaults]\n kdc_listen = 127.0.0.1:%[2]s\n kdc_tcp_listen = 127.0.0.1:%[2]s\n[realms]\n %[1]s = {\n"+
			"  database_name = %[3]s/principal\n  key_stash_file = %[3]s/stash\n  supported_enctypes = aes256-cts-hmac-sha1-96:normal\n }\n",
			realmName, port, folder),
	} {
		check(t, os.WriteFile(path, []byte(content), 0o600))
	}
	t.Setenv("KRB5_CONFIG", r.config)
	t.Setenv("KRB5_KDC_PROFILE", server)
	for _, args := range [][]string{
		{"kdb5_util", "create", "-s", "-r", realmName, "-P", "master"},
		{"kadmin.local", "addprinc", "-randkey", "kafka/localhost"}, {"kadmin.local", "addprinc", "-randkey", user},
		{"kadmin.local", "ktadd", "-k", r.table, "kafka/localhost", user},
	} {
		if out, err := exec.Command(system(args[0]), args[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", args[0], err, out)
		}
	}
	kdc := exec.Command(system("krb5kdc"), "-n", "-P", filepath.Join(folder, "kdc.pid"))
	check(t, kdc.Start())
	t.Cleanup(func() {
		_ = kdc.Process.Kill()
		_ = kdc.Wait()
	})
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			conn.Close()
			return r
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}

// system returns the path of a program that may be only in an administrator's PATH.
func system(name string) string {
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	return "/usr/sbin/" + name
}

func (r *realm) serverLines() []string {
	return []string{
		"listener.name.ticket.sasl.enabled.mechanisms=GSSAPI", "sasl.kerberos.service.name=kafka",
		"listener.name.ticket.gssapi.sasl.jaas.config=" + r.login("kafka/localhost"),
	}
}

func (r *realm) clientLines() []string {
	return []string{"security.protocol=SASL_PLAINTEXT", "sasl.mechanism=GSSAPI", "sasl.kerberos.service.name=kafka",
		"sasl.jaas.config=" + r.login(user)}
}

// cacheLines are those of a client with the ticket that kinit has got.
func (r *realm) cacheLines(t *testing.T) []string {
	t.Helper()
	cache := filepath.Join(filepath.Dir(r.table), "ticket")
	if out, err := exec.Command("kinit", "-c", cache, "-k", "-t", r.table, user).CombinedOutput(); err != nil {
		t.Fatalf("kinit: %v\n%s", err, out)
	}
	lines := r.clientLines()
	lines[3] = "sasl.jaas.config=" + kerberosModule + ` required useTicketCache=true ticketCache="` + cache + `";`
	return lines
}

func (r *realm) login(principal string) string {
	return kerberosModule + ` required useKeyTab=true storeKey=true keyTab="` + r.table + `" principal="` + principal + "@" + realmName + `";`
}
