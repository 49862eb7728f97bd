//go:build proof

package secured

import (
	"bytes"
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/access/accesstest"
	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/project/needs"
)

const (
	user     = "orders"
	password = "s3cret/+of=orders"
	limited  = "limited" // the user whose rights are taken away
)

// broker is a Kafka with ACLs. Of its listeners, ADMIN has all rights.
type broker struct {
	java      cluster.Java
	dist      cluster.Dist
	folder    string
	authority *accesstest.Authority
	issuer    *accesstest.Issuer
	addresses map[string]string // by listener
	kerberos  *realm
}

var listeners = map[string]string{
	"ADMIN": "PLAINTEXT", "TLS": "SSL", "MTLS": "SSL", "LOGIN": "SASL_PLAINTEXT", "BOTH": "SASL_SSL", "TOKEN": "SASL_PLAINTEXT",
	"TICKET": "SASL_PLAINTEXT", "CONTROLLER": "PLAINTEXT",
}

func startBroker(t *testing.T) *broker {
	t.Helper()
	needs.Kafka.Require(t)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	home, err := cluster.UserHome()
	check(t, err)
	b := &broker{folder: t.TempDir(), authority: accesstest.NewAuthority(t), addresses: make(map[string]string)}
	b.issuer = accesstest.NewIssuer(t, user, password, time.Hour)
	b.java, err = cluster.FindJava(ctx)
	check(t, err)
	b.dist, err = home.KafkaDist(ctx, "", func(s string) { t.Log(s) })
	check(t, err)
	for name := range listeners {
		b.addresses[name] = freeAddress(t)
	}
	b.addresses["TICKET"] = strings.Replace(b.addresses["TICKET"], "127.0.0.1", "localhost", 1) // as in the broker's principal
	b.kerberos = startRealm(t, b.folder)
	b.write("server.properties", b.properties(t))
	b.run(t, "kafka.tools.StorageTool", "format", "--cluster-id", "5L6g3nShT-eMCtK--X86sw", "--config", b.path("server.properties"),
		"--add-scram", "SCRAM-SHA-256=[name="+user+",password="+password+"]",
		"--add-scram", "SCRAM-SHA-512=[name="+user+",password="+password+"]",
		"--add-scram", "SCRAM-SHA-256=[name="+limited+",password="+password+"]")
	b.serve(t)
	return b
}

func (b *broker) path(name string) string { return filepath.Join(b.folder, name) }

func (b *broker) write(name, content string) string {
	if err := os.WriteFile(b.path(name), []byte(content), 0o600); err != nil {
		panic(err)
	}
	return b.path(name)
}

func (b *broker) properties(t *testing.T) string {
	var all, protocols []string
	for name, protocol := range listeners {
		all = append(all, name+"://"+b.addresses[name])
		protocols = append(protocols, name+":"+protocol)
	}
	chain, key := b.authority.Issue(t, 0, "localhost", "127.0.0.1")
	b.write("server.pem", key+chain)
	b.write("ca.pem", b.authority.PEM)
	const token = "listener.name.token.oauthbearer."
	lines := []string{
		"process.roles=broker,controller", "node.id=1", "controller.quorum.voters=1@" + b.addresses["CONTROLLER"],
		"listeners=" + strings.Join(all, ","), "listener.security.protocol.map=" + strings.Join(protocols, ","),
		"inter.broker.listener.name=ADMIN", "controller.listener.names=CONTROLLER", "log.dirs=" + b.path("data"),
		"auto.create.topics.enable=false", "offsets.topic.replication.factor=1", "offsets.topic.num.partitions=1",
		"transaction.state.log.replication.factor=1", "transaction.state.log.min.isr=1", "group.initial.rebalance.delay.ms=0",
		"share.coordinator.state.topic.replication.factor=1", "share.coordinator.state.topic.min.isr=1",
		"authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer",
		"super.users=User:ANONYMOUS;User:CN=" + user + ";User:" + user,
		"ssl.keystore.type=PEM", "ssl.keystore.location=" + b.path("server.pem"),
		"ssl.truststore.type=PEM", "ssl.truststore.location=" + b.path("ca.pem"),
		"listener.name.mtls.ssl.client.auth=required",
		"listener.name.login.sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256,SCRAM-SHA-512",
		"listener.name.login.plain.sasl.jaas.config=" + plainModule + ` required user_` + user + `="` + password + `";`,
		"listener.name.login.scram-sha-256.sasl.jaas.config=" + scramModule + " required;",
		"listener.name.login.scram-sha-512.sasl.jaas.config=" + scramModule + " required;",
		"listener.name.both.sasl.enabled.mechanisms=PLAIN",
		"listener.name.both.plain.sasl.jaas.config=" + plainModule + ` required user_` + user + `="` + password + `";`,
		"listener.name.token.sasl.enabled.mechanisms=OAUTHBEARER",
		token + "sasl.jaas.config=" + oauth + "OAuthBearerLoginModule required;",
		token + "sasl.server.callback.handler.class=" + oauth + "OAuthBearerValidatorCallbackHandler",
		token + "sasl.oauthbearer.jwks.endpoint.url=" + b.issuer.KeysURL,
		token + "sasl.oauthbearer.expected.audience=kafka", token + "sasl.oauthbearer.expected.issuer=issuer",
	}
	return strings.Join(append(lines, b.kerberos.serverLines()...), "\n") + "\n"
}

// command returns a call of Java with a class of Kafka. Its options allow the token issuer.
func (b *broker) command(class string, args ...string) *exec.Cmd {
	options := []string{"-Xmx512M", "-Djava.awt.headless=true", "-cp", b.dist.Classpath(),
		"-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls=" + b.issuer.URL + "," + b.issuer.KeysURL + ",file://" + b.path("token"),
		"-Dorg.apache.kafka.sasl.oauthbearer.allowed.files=" + b.path("token"),
		"-Djava.security.krb5.conf=" + b.kerberos.config,
	}
	return exec.Command(b.java.Path, append(append(options, class), args...)...)
}

func (b *broker) run(t *testing.T, class string, args ...string) {
	t.Helper()
	if out, err := b.command(class, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", class, err, out)
	}
}

// serve starts the broker and returns when its last listener accepts connections.
func (b *broker) serve(t *testing.T) {
	t.Helper()
	command := b.command("kafka.Kafka", b.path("server.properties"))
	var out bytes.Buffer
	command.Stdout, command.Stderr = &out, &out
	check(t, command.Start())
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	t.Cleanup(func() {
		_ = command.Process.Kill()
		<-ended
		if t.Failed() {
			t.Logf("the end of the broker's output:\n%s", out.Bytes()[max(0, out.Len()-4000):])
		}
	})
	deadline := time.After(2 * time.Minute)
	for {
		_, err := cluster.Connect(t.Context(), []string{b.addresses["ADMIN"]}, "", adminAccess)
		if err == nil {
			return
		}
		select {
		case <-ended:
			ended <- nil
			t.Fatalf("the broker ended:\n%s", out.Bytes())
		case <-deadline:
			t.Fatalf("the broker is not ready: %v", err)
		case <-time.After(200 * time.Millisecond):
		}
	}
}

func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	defer listener.Close()
	return listener.Addr().String()
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// keytool runs Java's own tool for stores.
func (b *broker) keytool(t *testing.T, args ...string) {
	t.Helper()
	path := filepath.Join(filepath.Dir(b.java.Path), "keytool")
	if resolved, err := filepath.EvalSymlinks(b.java.Path); err == nil {
		path = filepath.Join(filepath.Dir(resolved), "keytool")
	}
	if out, err := exec.Command(path, args...).CombinedOutput(); err != nil {
		t.Fatalf("keytool %s: %v\n%s", args[0], err, out)
	}
}
