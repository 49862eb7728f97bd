//go:build full && linux

package main

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"kafkabench.example/kafka-bench/internal/kafka/access"
	"kafkabench.example/kafka-bench/internal/kafka/access/accesstest"
)

// canaries are the secrets of one user, one for each place where a secret can stand.
type canaries struct {
	secrets map[string]string // by place
	env     []string          // of the program
	folder  string            // of the files that have secrets
	home    string            // of everything that the program may write
	brokers string
	metrics string // address with user and password
	issuer  *accesstest.Issuer
}

func newCanaries(t *testing.T) *canaries {
	t.Helper()
	c := &canaries{secrets: make(map[string]string), folder: t.TempDir(), home: t.TempDir()}
	of := func(place string) string {
		c.secrets[place] = "canary-" + place + "-0f3a"
		return c.secrets[place]
	}
	ca := accesstest.NewAuthority(t)
	chain, key := ca.Issue(t, 0, "alice")
	c.secrets["PEM key"] = strings.Split(key, "\n")[1]
	inLine := func(pem string) string { return strings.ReplaceAll(strings.TrimSpace(pem), "\n", `\n`) }
	c.file(t, "trust.jks", string(ca.TrustJKS(t, of("trust-store"))))
	c.file(t, "secrets.properties", "store="+c.secrets["trust-store"])
	c.file(t, "key-password", of("key-password"))
	provider := "org.apache.kafka.common.config.provider."
	c.file(t, "client.properties", strings.Join([]string{
		"config.providers=env,file,dir", "config.providers.env.class=" + provider + "EnvVarConfigProvider",
		"config.providers.file.class=" + provider + "FileConfigProvider", "config.providers.dir.class=" + provider + "DirectoryConfigProvider",
		"security.protocol=SASL_SSL", "sasl.mechanism=" + access.MechanismScram256,
		`sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required username="alice" password="${env:KAFKA_PASSWORD}";`,
		"ssl.truststore.location=" + filepath.Join(c.folder, "trust.jks"),
		"ssl.truststore.password=${file:" + filepath.Join(c.folder, "secrets.properties") + ":store}",
		"ssl.keystore.type=PEM", "ssl.keystore.certificate.chain=" + inLine(chain),
		"ssl.keystore.key=" + inLine(accesstest.Encrypted(t, key, c.secrets["key-password"])),
		"ssl.key.password=${dir:" + c.folder + ":key-password}",
	}, "\n"))
	wrong := append([]string{"security.protocol=SASL_SSL", "ssl.keystore.type=PEM", "ssl.keystore.certificate.chain=" + inLine(chain),
		"ssl.keystore.key=" + inLine(key)}, ca.Trust(t)...)
	c.file(t, "wrong.properties", strings.Join(append(wrong, accesstest.Login(access.MechanismScram256, "alice", of("wrong-password"))...), "\n"))
	c.issuer = accesstest.NewIssuer(t, "alice", "another", time.Hour)
	c.file(t, "oauth.properties", strings.Join(append(wrong, "sasl.mechanism=OAUTHBEARER",
		"sasl.login.callback.handler.class=org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginCallbackHandler",
		"sasl.oauthbearer.token.endpoint.url="+strings.Replace(c.issuer.URL, "http://", "http://alice:"+of("token-URL")+"@", 1),
		`sasl.jaas.config=org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required clientId="alice" clientSecret="`+
			of("client-secret")+`";`), "\n"))
	fake, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.TLS(ca.Server(t, true)), kfake.EnableSASL(),
		kfake.Superuser(access.MechanismScram256, "alice", of("login")))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(fake.Close)
	c.brokers = fake.ListenAddrs()[0]
	scraped := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(scraped.Close)
	c.metrics = strings.Replace(scraped.URL, "http://", "http://alice:"+of("metrics-URL")+"@", 1) + "/metrics"
	sessionKey := newKey()
	c.file(t, "session.key", sessionKey)
	raw, err := hex.DecodeString(sessionKey)
	if err != nil {
		t.Fatal(err)
	}
	c.secrets["session key"] = string(raw)
	c.env = append(os.Environ(), "KAFKA_PASSWORD="+c.secrets["login"], "KAFKA_BENCH_TOKEN="+of("KAFKA_BENCH"), "RATE="+of("scenario-variable"),
		"AWS_SECRET_ACCESS_KEY="+of("AWS"), "HTTPS_PROXY=http://alice:"+of("proxy")+"@127.0.0.1:1", "HOME="+c.home, "TMPDIR="+c.home, "XDG_CACHE_HOME="+c.home)
	return c
}

func (c *canaries) file(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(c.folder, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// found fails the test if a text has a secret, also in the forms in which requests carry it.
func (c *canaries) found(t *testing.T, where, text string) {
	t.Helper()
	for place, secret := range c.secrets {
		for form, shown := range map[string]string{
			"plain": secret, "base64": base64.RawStdEncoding.EncodeToString([]byte(secret)), "hexadecimal": hex.EncodeToString([]byte(secret)),
		} {
			if strings.Contains(text, shown) {
				t.Errorf("%s has the secret of %s, %s", where, place, form)
			}
		}
	}
}

// run runs the program as a process, and looks into its output and its children.
func (c *canaries) run(t *testing.T, code int, args ...string) (stdout string, children []string) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env, cmd.Dir = append(slices.Clone(c.env), childVariable+"="+strings.Join(args, "\n")), c.home
	var out, failed bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &failed
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait()
	}()
	late := time.AfterFunc(invokeTimeout, func() { _ = cmd.Process.Kill() })
	defer late.Stop()
	seen := make(map[int]string)
	for live := true; live; {
		select {
		case <-ended:
			live = false
		case <-time.After(5 * time.Millisecond):
			c.look(t, cmd.Process.Pid, seen)
		}
	}
	if got := cmd.ProcessState.ExitCode(); got != code && (code != exitValid || got != exitInvalid) { // a busy machine makes a run invalid
		t.Errorf("%v: exit code %d, want %d\n%s%s", args, got, code, &out, &failed)
	}
	c.found(t, fmt.Sprintf("the output of %v", args), out.String())
	c.found(t, fmt.Sprintf("the error output of %v:\n%s\nIt", args, &failed), failed.String())
	return out.String(), slices.Collect(maps.Values(seen))
}

// look reads once what /proc shows of each process below the parent.
func (c *canaries) look(t *testing.T, parent int, seen map[int]string) {
	read := func(pid int, name string) string {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, name)) // the process may have ended
		return string(text)
	}
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", parent))
	for _, list := range lists {
		text, _ := os.ReadFile(list)
		for _, word := range strings.Fields(string(text)) {
			var pid int
			if _, err := fmt.Sscan(word, &pid); err != nil {
				t.Error(err)
			}
			c.look(t, pid, seen)
			words, environment, limits := read(pid, "cmdline"), read(pid, "environ"), read(pid, "limits")
			// Before it executes its own program, a child shows what its parent has.
			if seen[pid] != "" || environment == "" || limits == "" || words == os.Args[0]+"\x00" || words != read(pid, "cmdline") {
				continue
			}
			seen[pid] = strings.ReplaceAll(words, "\x00", " ")
			c.found(t, "the environment of "+seen[pid], environment)
			c.found(t, "the command line of "+seen[pid], words)
			_, core, _ := strings.Cut(limits, "Max core file size")
			if soft := strings.Fields(core)[:2]; soft[0] != "0" || soft[1] != "0" {
				t.Errorf("%s may dump its memory: %s", seen[pid], soft)
			}
		}
	}
}

// files looks into the name and the content of each file below home.
func (c *canaries) files(t *testing.T) (n int) {
	t.Helper()
	err := filepath.WalkDir(c.home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		n++
		c.found(t, "the name of "+path, path)
		content, err := os.ReadFile(path)
		c.found(t, path, string(content))
		return err
	})
	if err != nil {
		t.Error(err)
	}
	return n
}

// TestCanaries: secrets in every place where one can stand are in no output, file, command line or environment of a
// child, and no child dumps its memory.
func TestCanaries(t *testing.T) {
	c := newCanaries(t)
	scenario := write(t, tiny+"consume: {processes: 2, consumers: 2}\nname: canary\n")
	on := func(config string, more ...string) []string {
		return append([]string{"run", scenario, "--set", "topic.partitions=2", "--set", "load.producers=2", "--set", "load.processes=2", "--out", "runs",
			"--brokers", c.brokers, "--command-config", filepath.Join(c.folder, config)}, more...)
	}
	wantChildren := func(children []string, words ...string) {
		t.Helper()
		for _, word := range words {
			if !slices.ContainsFunc(children, func(words string) bool { return strings.Contains(words, " "+word) }) {
				t.Errorf("no child is %s: %q", word, children)
			}
		}
	}
	_, children := c.run(t, exitValid, on("client.properties", "--web", "--repeat", "2", "--broker-metrics", c.metrics)...)
	wantChildren(children, workerName, pagesName)
	_, children = c.run(t, exitValid, "run", scenario, "--set", "topic.partitions=2", "--set", "load.producers=2", "--set", "consume.processes=1",
		"--out", "runs", "--brokers", c.brokers, "--command-config", filepath.Join(c.folder, "client.properties"), "--agents", "2", "--local-agents",
		"--key", filepath.Join(c.folder, "session.key"))
	wantChildren(children, "agent")
	c.run(t, exitValid, on("client.properties", "--dry-run")...)
	c.run(t, exitUnreachable, on("wrong.properties")...)
	c.run(t, exitUnreachable, on("oauth.properties")...)
	c.run(t, exitBadInput, on("client.properties", "--broker-metrics", strings.Replace(c.metrics, "http:", "httpx:", 1))...)
	c.run(t, exitBadInput, on("client.properties", "--set", "load.rate=${RATE}")...)
	c.run(t, exitBadInput, on("client.properties", "--set", "description=${RATE}")...)
	c.run(t, exitBadInput, on("client.properties", "--set", "load.client=${RATE}")...)
	runs, err := filepath.Glob(filepath.Join(c.home, "runs", "*", "run.json"))
	if err != nil || len(runs) < 3 {
		t.Fatalf("the runs are %q, %v", runs, err)
	}
	for _, args := range [][]string{
		{"report", filepath.Dir(runs[0])}, {"report", filepath.Dir(runs[0]), "--format", "html"}, {"report", filepath.Dir(runs[0]), "--format", "json"},
		{"list", "--out", "runs"}, {"history", "canary", "--out", "runs", "--format", "json"},
	} {
		if out, _ := c.run(t, exitValid, args...); out == "" {
			t.Errorf("%v prints nothing", args)
		}
	}
	if n := c.files(t); n < 10 {
		t.Errorf("%d files were looked at", n)
	}
}

// TestCanariesInBrokenFiles: whatever mistake a line of client properties has, no message has a secret.
func TestCanariesInBrokenFiles(t *testing.T) {
	c := newCanaries(t)
	t.Setenv("KAFKA_PASSWORD", c.secrets["login"])
	file, at := filepath.Join(c.folder, "broken.properties"), deadAddress(t)
	refused := 0
	for _, name := range []string{"client.properties", "oauth.properties"} {
		content, err := os.ReadFile(filepath.Join(c.folder, name))
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(string(content), "\n")
		for i, line := range lines {
			key, value, _ := strings.Cut(line, "=")
			for _, broken := range []string{
				"", key + "x=" + value, key[1:] + "=" + value, key, key + "=", value, value + "=" + key, line + "\n" + line, key + "=\"" + value + "\"",
				key + "= " + value + " # " + value, strings.ReplaceAll(key, ".", "_") + "=" + value, line + "\\", key + "=" + value[:len(value)/2] + "\n" + value[len(value)/2:],
				strings.ReplaceAll(line, "}", ""), strings.ReplaceAll(line, `"`, ""), strings.ReplaceAll(line, ";", ""), strings.ReplaceAll(line, "=", " "), line + "\\u00zz",
			} {
				c.file(t, "broken.properties", strings.Join(slices.Concat(lines[:i], []string{broken}, lines[i+1:]), "\n"))
				got := invoke(t, "run", "quick", "--dry-run", "--brokers", at, "--command-config", file)
				c.found(t, fmt.Sprintf("what is said of %s with %q for line %d:\n%s\nIt", name, broken, i+1, got.stderr), got.stdout+got.stderr)
				if got.code == exitBadInput {
					refused++
				}
			}
		}
	}
	if refused < 100 {
		t.Errorf("only %d files were refused", refused)
	}
}
