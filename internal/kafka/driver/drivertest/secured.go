package drivertest

import (
	"context"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"kafkabench.example/kafka-bench/internal/kafka/access"
	"kafkabench.example/kafka-bench/internal/kafka/access/accesstest"
	"kafkabench.example/kafka-bench/internal/kafka/driver"
)

const user, password = "alice", "s3cret of alice"

type entrance struct {
	name      string
	mechanism string // of the login; empty is none
	identity  bool   // the cluster requires a client certificate
	elsewhere bool   // the broker's certificate has another name, which is not checked
}

var entrances = []entrance{
	{name: "TLS", identity: true},
	{name: "TLS, any name", identity: true, elsewhere: true},
	{name: "PLAIN, no certificate", mechanism: access.MechanismPlain},
	{name: "PLAIN", mechanism: access.MechanismPlain, identity: true},
	{name: "SCRAM-SHA-256", mechanism: access.MechanismScram256, identity: true},
	{name: "SCRAM-SHA-512", mechanism: access.MechanismScram512, identity: true},
}

// TestSecured passes a record over TLS without a login, and with every login mechanism. The client
// has a certificate, except in one of the two cases with PLAIN. TestSecured reads with partitions
// assigned by hand, and as a group member. No setting shows the user or the password.
func TestSecured(t *testing.T, d driver.Driver) {
	atOnce(entrances, func(e entrance) {
		t.Run(e.name, func(t *testing.T) {
			brokers, a := e.open(t)
			passOne(t, d, brokers, a)
		})
	})
}

func (e entrance) open(t *testing.T) (brokers []string, a access.Access) {
	t.Helper()
	authority := accesstest.NewAuthority(t)
	options := []kfake.Opt{kfake.NumBrokers(1), kfake.SeedTopics(1, Topic)}
	lines, name := authority.Trust(t), "127.0.0.1"
	if e.identity {
		lines = append(lines, authority.Identity(t, "client")...)
	}
	if e.elsewhere {
		name = "elsewhere.example"
		lines = append(lines, "ssl.endpoint.identification.algorithm=")
	}
	options = append(options, kfake.TLS(authority.Server(t, e.identity, name)))
	protocol := access.ProtocolTLS
	if e.mechanism != "" {
		protocol = access.ProtocolSASLTLS
		options = append(options, kfake.EnableSASL(), kfake.Superuser(e.mechanism, user, password))
		lines = append(lines, accesstest.Login(e.mechanism, user, password)...)
	}
	return Fake(t, options...).ListenAddrs(), accesstest.Access(t, append(lines, "security.protocol="+protocol)...)
}

func passOne(t *testing.T, d driver.Driver, brokers []string, a access.Access) {
	t.Helper()
	done := make(chan driver.Done, 1)
	p := Producer(t, d, driver.ProducerConfig{
		Brokers: brokers, Access: a, Acks: driver.AcksAll, DeliveryTimeout: 10 * time.Second,
		OnDone: func(d driver.Done) { done <- d },
	})
	p.Produce(aRecord())
	if d := <-done; d.Outcome != driver.Acked {
		t.Fatalf("the record is %v: %v", d.Outcome, d.Err)
	}
	settings := p.Settings()
	for _, cfg := range []driver.ConsumerConfig{{Partitions: map[int32]int64{0: 0}}, {Group: "g"}} {
		cfg.Brokers, cfg.Access = brokers, a
		cfg.OnError = func(err error) { t.Logf("group %q: %v", cfg.Group, err) }
		c := Consumer(t, d, cfg)
		checkPolls(t, c, aRecord())
		settings = append(settings, c.Settings()...)
		c.Close()
	}
	for _, setting := range settings {
		if a.SASL != nil && (setting.Value == a.SASL.Username || setting.Value == string(a.SASL.Password)) {
			t.Errorf("the setting %s shows who logs in, or how", setting.Name)
		}
	}
}

func checkPolls(t *testing.T, c driver.Consumer, want *driver.Record) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	chunks, err := c.Poll(ctx)
	if err != nil || len(chunks) != 1 || string(chunks[0].Records[0].Value) != string(want.Value) {
		t.Fatalf("polled %d chunks, error %v", len(chunks), err)
	}
}
