//go:build librdkafka && cgo

package librdkafka_test

import (
	"context"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"kafka-bench/internal/access"
	"kafka-bench/internal/access/accesstest"
	"kafka-bench/internal/driver"
	"kafka-bench/internal/driver/librdkafka"
)

// TestSecured: records pass under TLS with a certificate on both sides, for every
// way to log in, and for none; also where the broker's name is not checked.
func TestSecured(t *testing.T) {
	const user, password = "alice", "s3cret of alice"
	authority := accesstest.NewAuthority(t)
	for _, mechanism := range []string{"", access.MechanismPlain, access.MechanismScram256, access.MechanismScram512} {
		t.Run(mechanism, func(t *testing.T) {
			names := []string{"127.0.0.1"}
			options := []kfake.Opt{kfake.NumBrokers(1), kfake.SeedTopics(1, "t")}
			lines := append(authority.Trust(t), authority.Identity(t, "client")...)
			if mechanism == "" {
				names = []string{"elsewhere.example"}
				lines = append(lines, "security.protocol=SSL", "ssl.endpoint.identification.algorithm=")
			} else {
				options = append(options, kfake.EnableSASL(), kfake.Superuser(mechanism, user, password))
				lines = append(lines, "security.protocol=SASL_SSL")
				lines = append(lines, accesstest.Login(mechanism, user, password)...)
			}
			options = append(options, kfake.TLS(authority.Server(t, true, names...)))
			passOne(t, fake(t, options...).ListenAddrs(), accesstest.Access(t, lines...))
		})
	}
}

// passOne sends one record and receives it.
func passOne(t *testing.T, brokers []string, a access.Access) {
	t.Helper()
	done := make(chan driver.Done, 1)
	p, err := librdkafka.New().NewProducer(driver.ProducerConfig{
		Brokers: brokers, Access: a, Topic: "t", Acks: driver.AcksAll, DeliveryTimeout: 10 * time.Second,
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
	c, err := librdkafka.New().NewConsumer(driver.ConsumerConfig{
		Brokers: brokers, Access: a, Topic: "t", Partitions: map[int32]int64{0: 0},
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
}
