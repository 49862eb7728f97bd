package sarama_test

import (
	"context"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"kafka-bench/internal/access"
	"kafka-bench/internal/access/accesstest"
	"kafka-bench/internal/driver"
	"kafka-bench/internal/driver/sarama"
)

// TestSecured: records pass under TLS with a certificate on both sides, for every
// way to log in, and for none.
func TestSecured(t *testing.T) {
	const user, password = "alice", "s3cret of alice"
	authority := accesstest.NewAuthority(t)
	for _, mechanism := range []string{"", access.MechanismPlain, access.MechanismScram256, access.MechanismScram512} {
		t.Run(mechanism, func(t *testing.T) {
			options := []kfake.Opt{kfake.NumBrokers(1), kfake.SeedTopics(1, topic), kfake.TLS(authority.Server(t, true, "127.0.0.1"))}
			lines := append(authority.Trust(t), authority.Identity(t, "client")...)
			protocol := access.ProtocolTLS
			if mechanism != "" {
				protocol = access.ProtocolSASLTLS
				options = append(options, kfake.EnableSASL(), kfake.Superuser(mechanism, user, password))
				lines = append(lines, accesstest.Login(mechanism, user, password)...)
			}
			a := accesstest.Access(t, append(lines, "security.protocol="+protocol)...)
			passOne(t, fake(t, options...).ListenAddrs(), a)
		})
	}
}

// passOne sends one record and receives it.
func passOne(t *testing.T, brokers []string, a access.Access) {
	t.Helper()
	done := make(chan driver.Done, 1)
	p, err := sarama.New().NewProducer(driver.ProducerConfig{
		Brokers: brokers, Access: a, Topic: topic, Acks: driver.AcksAll, DeliveryTimeout: 10 * time.Second,
		OnDone: func(d driver.Done) { done <- d },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	p.Produce(&driver.Record{Value: []byte("a record")})
	if d := <-done; d.Outcome != driver.Acked {
		t.Fatalf("the record is %v: %v", d.Outcome, d.Err)
	}
	c, err := sarama.New().NewConsumer(driver.ConsumerConfig{
		Brokers: brokers, Access: a, Topic: topic, Partitions: map[int32]int64{0: 0},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	chunks, err := c.Poll(ctx)
	if err != nil || len(chunks) != 1 || string(chunks[0].Records[0].Value) != "a record" {
		t.Fatalf("polled %d chunks, error %v", len(chunks), err)
	}
	for _, setting := range append(p.Settings(), c.Settings()...) {
		if a.SASL != nil && (setting.Value == a.SASL.Username || setting.Value == string(a.SASL.Password)) {
			t.Errorf("the setting %s shows who logs in, or how", setting.Name)
		}
	}
}
