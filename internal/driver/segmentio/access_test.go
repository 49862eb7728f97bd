package segmentio_test

import (
	"context"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"kafka-bench/internal/access"
	"kafka-bench/internal/access/accesstest"
	"kafka-bench/internal/driver"
	"kafka-bench/internal/driver/segmentio"
)

// TestAccess produces a record to a cluster that is encrypted and asks for a user, and
// reads it back as a group does: the client has a way in of its own for each of
// producing, fetching and the group.
func TestAccess(t *testing.T) {
	ca := accesstest.NewAuthority(t)
	for _, mechanism := range []string{access.MechanismPlain, access.MechanismScram256, access.MechanismScram512} {
		cluster := fake(t, kfake.NumBrokers(1), kfake.SeedTopics(1, topic), kfake.TLS(ca.Server(t, false)),
			kfake.EnableSASL(), kfake.Superuser(mechanism, "user", "secret"))
		settings := append(accesstest.Login(mechanism, "user", "secret"), "security.protocol="+access.ProtocolSASLTLS)
		a := accesstest.Access(t, append(settings, ca.Trust(t)...)...)

		done := make(chan driver.Done, 2)
		cfg := config(cluster, done)
		cfg.Access, cfg.DeliveryTimeout = a, 10*time.Second
		if d := produceOne(t, cfg, done); d.Outcome != driver.Acked {
			t.Fatalf("%s: %v (%v)", mechanism, d.Outcome, d.Err)
		}
		c, err := segmentio.New().NewConsumer(driver.ConsumerConfig{
			Brokers: cluster.ListenAddrs(), Access: a, Topic: topic, Group: "g", Protocol: "classic",
			OnError: func(err error) { t.Logf("%s: %v", mechanism, err) },
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		chunks, err := c.Poll(ctx)
		if err != nil || len(chunks) != 1 || string(chunks[0].Records[0].Value) != "value" {
			t.Errorf("%s: polled %d chunks (%v)", mechanism, len(chunks), err)
		}
		cancel()
		c.Close()
	}
}
