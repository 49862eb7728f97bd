//go:build proof

package secured

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/access"
	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/kafka/driver/franz"
	"kafkabench.example/kafka-bench/internal/kafka/driver/sarama"
	"kafkabench.example/kafka-bench/internal/kafka/driver/segmentio"
)

var adminAccess access.Access

// drivers are all drivers in this test binary.
var drivers = append([]driver.Driver{franz.New(), sarama.New(), segmentio.New()}, inC()...)

const (
	oauth       = "org.apache.kafka.common.security.oauthbearer."
	plainModule = "org.apache.kafka.common.security.plain.PlainLoginModule"
	scramModule = "org.apache.kafka.common.security.scram.ScramLoginModule"
	topic       = "forms"
)

// form is a client.properties for one of the broker's listeners.
type form struct {
	listener string
	lines    []string
}

func (b *broker) forms(t *testing.T) map[string]form {
	trust := b.makeStores(t)
	login := func(mechanism, module string) []string {
		return []string{"sasl.mechanism=" + mechanism, "sasl.jaas.config=" + module + ` required username="` + user + `" password="` + password + `";`}
	}
	tokens := func(url, options string, more ...string) []string {
		return append([]string{
			"security.protocol=SASL_PLAINTEXT", "sasl.mechanism=OAUTHBEARER", "sasl.oauthbearer.token.endpoint.url=" + url,
			"sasl.login.callback.handler.class=" + oauth + "OAuthBearerLoginCallbackHandler",
			"sasl.jaas.config=" + oauth + "OAuthBearerLoginModule required" + options + ";",
		}, more...)
	}
	plaintext := []string{"security.protocol=SASL_PLAINTEXT"}
	mutual := func(lines ...string) form { return form{"MTLS", append(trust["JKS"], lines...)} }
	forms := map[string]form{
		"SSL, JKS":    {"TLS", trust["JKS"]},
		"SSL, PKCS12": {"TLS", trust["PKCS12"]},
		"SSL, PEM":    {"TLS", trust["PEM"]},
		"mTLS, JKS":   mutual("ssl.keystore.location="+b.path("keystore.jks"), "ssl.keystore.password=changeit", "ssl.key.password=changeit-too"),
		"mTLS, PKCS12": mutual("ssl.keystore.type=PKCS12", "ssl.keystore.location="+b.path("keystore.p12"),
			"ssl.keystore.password=changeit"),
		"mTLS, PEM":                 mutual("ssl.keystore.type=PEM", "ssl.keystore.location="+b.path("client.pem")),
		"mTLS, encrypted PEM":       mutual("ssl.keystore.type=PEM", "ssl.keystore.location="+b.path("encrypted.pem"), "ssl.key.password=changeit"),
		"TLS 1.3 only":              {"TLS", append(trust["PEM"], "ssl.enabled.protocols=TLSv1.3")},
		"SCRAM-SHA-256":             {"LOGIN", append(plaintext, login("SCRAM-SHA-256", scramModule)...)},
		"SCRAM-SHA-512":             {"LOGIN", append(plaintext, login("SCRAM-SHA-512", scramModule)...)},
		"PLAIN":                     {"LOGIN", append(plaintext, login("PLAIN", plainModule)...)},
		"PLAIN over TLS":            {"BOTH", append([]string{"security.protocol=SASL_SSL"}, append(trust["PKCS12"][1:], login("PLAIN", plainModule)...)...)},
		"OAUTHBEARER, login module": {"TOKEN", tokens(b.issuer.URL, ` clientId="`+user+`" clientSecret="`+password+`" scope="kafka"`)},
		"OAUTHBEARER, settings": {"TOKEN", tokens(b.issuer.URL, "", "sasl.oauthbearer.client.credentials.client.id="+user,
			"sasl.oauthbearer.client.credentials.client.secret="+password, "sasl.oauthbearer.scope=kafka")},
		"OAUTHBEARER, file": {"TOKEN", tokens("file://"+b.write("token", b.issuer.Token(user, "kafka")), "")},
		"config.providers": {"LOGIN", append(plaintext, "config.providers=file,dir",
			"config.providers.file.class=org.apache.kafka.common.config.provider.FileConfigProvider",
			"config.providers.dir.class=org.apache.kafka.common.config.provider.DirectoryConfigProvider",
			"sasl.mechanism=PLAIN", "sasl.jaas.config="+plainModule+" required username=\"${file:"+
				b.write("credentials.properties", "user="+user)+":user}\" password=\"${dir:"+b.folder+":password}\";")},
	}
	b.write("password", password)
	forms["GSSAPI, key table"] = form{"TICKET", b.kerberos.clientLines()}
	forms["GSSAPI, ticket cache"] = form{"TICKET", b.kerberos.cacheLines(t)}
	return forms
}

// makeStores makes the stores with Java's and OpenSSL's tools. It returns the settings of each kind of trust store.
func (b *broker) makeStores(t *testing.T) map[string][]string {
	t.Helper()
	chain, key := b.authority.Issue(t, 0, user)
	b.write("client.pem", key+chain)
	b.write("key.pem", key)
	openssl(t, "pkcs12", "-export", "-in", b.path("client.pem"), "-name", user, "-out", b.path("keystore.p12"), "-passout", "pass:changeit")
	openssl(t, "pkcs8", "-topk8", "-in", b.path("key.pem"), "-out", b.path("encrypted-key.pem"), "-passout", "pass:changeit",
		"-v1", "PBE-SHA1-3DES") // Kafka reads no other form with Java 17
	encrypted, err := os.ReadFile(b.path("encrypted-key.pem"))
	check(t, err)
	b.write("encrypted.pem", string(encrypted)+chain)
	for kind, file := range map[string]string{"JKS": "truststore.jks", "PKCS12": "truststore.p12"} {
		b.keytool(t, "-importcert", "-noprompt", "-alias", "ca", "-file", b.path("ca.pem"), "-keystore", b.path(file),
			"-storetype", kind, "-storepass", "changeit")
	}
	b.keytool(t, "-importkeystore", "-srckeystore", b.path("keystore.p12"), "-srcstoretype", "PKCS12", "-srcstorepass", "changeit",
		"-destkeystore", b.path("keystore.jks"), "-deststoretype", "JKS", "-deststorepass", "changeit", "-srcalias", user,
		"-destkeypass", "changeit-too")
	return map[string][]string{
		"JKS":    {"security.protocol=SSL", "ssl.truststore.location=" + b.path("truststore.jks"), "ssl.truststore.password=changeit"},
		"PKCS12": {"security.protocol=SSL", "ssl.truststore.type=PKCS12", "ssl.truststore.location=" + b.path("truststore.p12"), "ssl.truststore.password=changeit"},
		"PEM":    {"security.protocol=SSL", "ssl.truststore.type=PEM", "ssl.truststore.location=" + b.path("ca.pem")},
	}
}

func openssl(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.Command("openssl", args...).CombinedOutput(); err != nil {
		t.Fatalf("openssl %s: %v\n%s", args[0], err, out)
	}
}

// TestSecured shares one broker.
func TestSecured(t *testing.T) {
	b := startBroker(t)
	t.Run("forms", func(t *testing.T) { testForms(t, b) })
	t.Run("rights", func(t *testing.T) { testRights(t, b) })
}

// testForms: each form that Kafka's own tool accepts, unchanged, every driver accepts too, or refuses by naming a
// capability that it lacks.
func testForms(t *testing.T, b *broker) {
	admin, err := cluster.NewAdmin([]string{b.addresses["ADMIN"]}, adminAccess)
	check(t, err)
	defer admin.Close()
	_, err = admin.CreateTopic(t.Context(), topic, 1, 1, nil)
	check(t, err)
	for name, form := range b.forms(t) {
		t.Run(name, func(t *testing.T) {
			file := b.write("client.properties", strings.Join(form.lines, "\n")+"\n")
			brokers := b.addresses[form.listener]
			b.run(t, "org.apache.kafka.tools.ProducerPerformance", "--topic", topic, "--num-records", "5", "--record-size", "100",
				"--throughput", "-1", "--bootstrap-server", brokers, "--command-config", file)
			a, warnings, err := access.Read(file)
			if err != nil || len(warnings) > 0 {
				t.Fatal(err, warnings)
			}
			if _, err := cluster.Connect(t.Context(), []string{brokers}, "", a); err != nil {
				t.Fatal(err)
			}
			for _, d := range drivers {
				t.Run(d.Name(), func(t *testing.T) { pass(t, d, brokers, a) })
			}
		})
	}
}

// pass sends a record through a driver and reads the topic's first record as a group and by hand.
func pass(t *testing.T, d driver.Driver, brokers string, a access.Access) {
	t.Helper()
	done := make(chan driver.Done, 1)
	p, err := d.NewProducer(driver.ProducerConfig{
		Brokers: []string{brokers}, Access: a, Topic: topic, Acks: driver.AcksAll, DeliveryTimeout: 20 * time.Second,
		OnDone: func(d driver.Done) { done <- d },
	})
	for c := range driver.AccessNeeds(a) {
		if driver.Lacks(d, c) {
			if err == nil || !strings.Contains(err.Error(), string(c)) {
				t.Errorf("it lacks %s, and the refusal is: %v", c, err)
			}
			return
		}
	}
	check(t, err)
	defer p.Close()
	p.Produce(&driver.Record{Value: []byte("hello"), Created: time.Now()})
	if d := <-done; d.Outcome != driver.Acked {
		t.Fatalf("the record is %v: %v", d.Outcome, d.Err)
	}
	for _, cfg := range []driver.ConsumerConfig{
		{Partitions: map[int32]int64{0: 0}}, {Group: "forms-" + d.Name(), Protocol: driver.ProtocolClassic},
	} {
		cfg.Brokers, cfg.Access, cfg.Topic = []string{brokers}, a, topic
		cfg.OnError = func(err error) { t.Logf("group %q: %v", cfg.Group, err) }
		c, err := d.NewConsumer(cfg)
		check(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		chunks, err := c.Poll(ctx)
		cancel()
		if err != nil || len(chunks) == 0 {
			t.Errorf("group %q polled %d chunks: %v", cfg.Group, len(chunks), err)
		}
		if cfg.Group != "" && err == nil && len(chunks) > 0 { // so that a later poll of the group has records too
			check(t, c.Commit(t.Context(), map[int32]int64{0: 0}))
		}
		c.Close()
	}
}
