package franz_test

import (
	"bytes"
	"context"
	"runtime/pprof"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"kafka-bench/internal/driver"
	"kafka-bench/internal/driver/franz"
)

// TestKilledConsumerEnds: whatever it was doing when it was killed, closing it takes
// no time, and nothing of it is left. It is killed at several moments of its joining.
func TestKilledConsumerEnds(t *testing.T) {
	cluster := fake(t, kfake.NumBrokers(1), kfake.SeedTopics(4, topic))
	for _, protocol := range []string{"classic", "consumer"} {
		for _, after := range []time.Duration{0, 5 * time.Millisecond, 50 * time.Millisecond, time.Second} {
			c, err := franz.New().NewConsumer(driver.ConsumerConfig{
				Brokers: cluster.ListenAddrs(), Topic: topic, Group: "g-" + protocol + after.String(), Protocol: protocol,
				FetchMaxWait: 50 * time.Millisecond,
			})
			if err != nil {
				t.Fatal(err)
			}
			polled := make(chan error)
			go func() {
				for {
					if _, err := c.Poll(context.Background()); err != nil {
						polled <- err
						return
					}
				}
			}()
			time.Sleep(after)
			c.(driver.Killer).Kill()
			if err := <-polled; !strings.Contains(err.Error(), "killed") {
				t.Errorf("%s after %v: the poll says %v", protocol, after, err)
			}
			began := time.Now()
			c.Close()
			if took := time.Since(began); took > time.Second {
				t.Errorf("%s after %v: closing it took %v", protocol, after, took)
			}
		}
	}
	wantNoClient(t)
}

// wantNoClient fails the test if a goroutine of a client is left after a moment. The
// test must not run beside others.
func wantNoClient(t *testing.T) {
	t.Helper()
	var stacks bytes.Buffer
	for range 100 {
		stacks.Reset()
		if err := pprof.Lookup("goroutine").WriteTo(&stacks, 1); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(stacks.String(), "franz-go/pkg/kgo.") {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Errorf("goroutines are left:\n%s", &stacks)
}
