// Package virtual runs a test with a Kafka cluster in virtual time: in a bubble of
// testing/synctest, with kfake's brokers on a network in memory. A timer is never late there, and
// hours pass in seconds, so a test asserts exact times.
//
// Rules in a bubble:
//
//   - T.Run, T.Parallel and T.Deadline panic, because they wait for goroutines or a clock
//     outside of the bubble. For a subtest, call T.Run first, and Test in it.
//   - Time passes only while every goroutine waits. A loop that computes until the
//     clock moves never ends; use probe.Unknown instead of reading the machine.
//   - Goroutines that wake at the same instant run in any order. Assert exact values
//     only if one goroutine decides them, and otherwise bounds.
//   - A closed loop needs a cluster that takes time (ProduceDelay, ProducePerSecond).
//   - A goroutine that waits for a mutex stops the clock, and a commit of kgo waits for one
//     while its member joins. Build with the tag synctests, as the Makefile does, which
//     replaces kgo's mutexes by channels.
//   - The precise pacer sleeps in the kernel, on the machine's clock: use frugal.
//   - Do not compress with a codec that has finalizers (zstd).
package virtual

import (
	"bytes"
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
)

// Options are those of the cluster. Start sets Network.
type Options = cluster.EmbeddedOptions

// Cluster is an embedded cluster that only the test's own process reaches.
type Cluster struct {
	*cluster.Embedded
	ahead atomic.Int64 // see SetClock
}

// settle is how long the cleanup of Start waits for timers that outlast the test, such as those of
// closed clients.
const settle = time.Minute

// Test runs f in its own bubble with a cluster, which it stops after f and f's cleanups. The
// bubble's clock begins at midnight UTC of 2000-01-01.
func Test(t *testing.T, o Options, f func(t *testing.T, c *Cluster)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { f(t, Start(t, o)) })
}

// Start starts a cluster in the bubble of t, and stops it after all later cleanups of t.
func Start(t testing.TB, o Options) *Cluster {
	t.Helper()
	o.Network = &kfake.VirtualNetwork{}
	e, err := cluster.StartEmbedded(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = e.Stop(context.Background())
		time.Sleep(settle)
	})
	c := &Cluster{Embedded: e}
	c.stampAppends()
	return c
}

// Client returns the options of a client of the cluster.
func (c *Cluster) Client() []kgo.Opt {
	return slices.Concat(c.Access().Options(), []kgo.Opt{kgo.SeedBrokers(c.Bootstrap()...)})
}

// NewClient opens a client of the cluster, which is closed when the test ends.
func (c *Cluster) NewClient(t testing.TB, with ...kgo.Opt) *kgo.Client {
	t.Helper()
	client, err := kgo.NewClient(append(c.Client(), with...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}

// Set sets a configuration of a topic.
func (c *Cluster) Set(t testing.TB, topic, key, value string) {
	t.Helper()
	change := []kadm.AlterConfig{{Op: kadm.SetConfig, Name: key, Value: &value}}
	if _, err := kadm.NewClient(c.NewClient(t)).AlterTopicConfigs(t.Context(), change, topic); err != nil {
		t.Fatalf("set %s of topic %s: %v", key, topic, err)
	}
}

// Delete deletes the records of a partition before an offset, as retention does.
func (c *Cluster) Delete(t testing.TB, topic string, partition int32, before int64) {
	t.Helper()
	if err := c.Fake().DeleteRecords(topic, partition, before); err != nil {
		t.Fatalf("delete from topic %s: %v", topic, err)
	}
}

// Topic creates a topic.
func (c *Cluster) Topic(t testing.TB, name string, partitions int32) {
	t.Helper()
	if err := c.Fake().CreateTopic(name, partitions, nil); err != nil {
		t.Fatalf("create topic %s: %v", name, err)
	}
	brokers := int32(len(c.Fake().ListenAddrs()))
	for p := range partitions { // the fake's own leaders are random
		if err := c.Fake().MoveTopicPartition(name, p, p%brokers); err != nil {
			t.Fatalf("place partition %d of %s: %v", p, name, err)
		}
	}
}

// Log collects a log. It is safe for concurrent use.
type Log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *Log) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
