package segmentio_test

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kafka-bench/internal/driver"
	"kafka-bench/internal/driver/segmentio"
)

// TestNothingIsLeftRunning: clients that were closed, or killed and closed, leave no
// goroutine of theirs behind, also if they could reach nobody.
func TestNothingIsLeftRunning(t *testing.T) {
	cluster := fake(t, kfake.NumBrokers(1), kfake.SeedTopics(2, topic))
	for _, brokers := range [][]string{cluster.ListenAddrs(), {"127.0.0.1:1"}} {
		done := make(chan driver.Done, 1)
		cfg := config(cluster, done)
		cfg.Brokers = brokers
		p, err := segmentio.New().NewProducer(cfg)
		if err != nil {
			t.Fatal(err)
		}
		p.Produce(&driver.Record{Value: []byte("value")})
		<-done
		p.Close()
		for _, kill := range []bool{false, true} {
			consumeAndClose(t, driver.ConsumerConfig{Brokers: brokers, Topic: topic, Group: "g", Protocol: "classic"}, kill)
			consumeAndClose(t, driver.ConsumerConfig{Brokers: brokers, Topic: topic, Partitions: map[int32]int64{0: 0, 1: 0}}, kill)
		}
	}
	closeInFlight(t)
	// The transport's last connections end a moment after it was closed.
	var left string
	for range 100 {
		if left = running(); left == "" {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Errorf("still running:\n%s", left)
}

// closeInFlight closes a producer whose request is not answered.
func closeInFlight(t *testing.T) {
	t.Helper()
	cluster := fake(t, kfake.NumBrokers(1), kfake.SeedTopics(1, topic))
	written := make(chan struct{}, 1)
	cluster.ControlKey(int16(kmsg.Produce), func(kmsg.Request) (kmsg.Response, error, bool) {
		written <- struct{}{}
		return nil, nil, true
	})
	cfg := config(cluster, make(chan driver.Done, 1))
	cfg.DeliveryTimeout = 0 // the client's own is 10 s
	p, err := segmentio.New().NewProducer(cfg)
	if err != nil {
		t.Fatal(err)
	}
	p.Produce(&driver.Record{Value: []byte("value")})
	<-written
	p.Close()
}

// consumeAndClose polls until a record comes, or for a moment.
func consumeAndClose(t *testing.T, cfg driver.ConsumerConfig, kill bool) {
	t.Helper()
	c, err := segmentio.New().NewConsumer(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	if _, err := c.Poll(ctx); err != nil {
		t.Error(err)
	}
	if kill {
		c.(driver.Killer).Kill()
	}
	started := time.Now()
	c.Close()
	if took := time.Since(started); took > 5*time.Second {
		t.Errorf("closing took %v", took)
	}
}

// running are the stacks of goroutines in the client or in the driver, but for the
// test's own.
func running() string {
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	var found []string
	for _, stack := range strings.Split(string(stacks), "\n\n") {
		if strings.Contains(stack, "segmentio") && !strings.Contains(stack, "TestNothingIsLeftRunning") {
			found = append(found, stack)
		}
	}
	return strings.Join(found, "\n\n")
}
