package main

import (
	"os"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/kafka/probe"
)

// settle is the virtual time in which pending timers end after a test (see package virtual).
const settle = time.Minute

// lab runs the program in virtual time, with clusters on a network in memory.
type lab struct{ surroundings }

func virtually(t *testing.T, f func(t *testing.T, l lab)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		t.Cleanup(func() { time.Sleep(settle) }) // after all other cleanups
		f(t, newLab())
	})
}

func newLab() lab {
	return lab{surroundings{
		embedded: cluster.EmbeddedOptions{Network: &kfake.VirtualNetwork{}},
		probes:   probe.Unknown(),
		signals:  func(chan<- os.Signal) {},
	}}
}

// interrupted returns l with an interrupt of each command, this long after it begins to listen.
func (l lab) interrupted(after time.Duration) lab {
	l.signals = func(c chan<- os.Signal) { time.AfterFunc(after, func() { c <- os.Interrupt }) }
	return l
}

func (l lab) invoke(t *testing.T, args ...string) invoked {
	t.Helper()
	return invokeIn(t, l.surroundings, args...)
}

// start starts a cluster that ends with the test. The lab's network has room for one.
func (l lab) start(t *testing.T) *cluster.Embedded {
	t.Helper()
	e, err := cluster.StartEmbedded(l.embedded)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Stop(t.Context()) })
	return e
}

// listen returns the options of a kfake cluster on the lab's network, with one broker.
func (l lab) listen() []kfake.Opt {
	return []kfake.Opt{kfake.NumBrokers(1), kfake.ListenFn(l.embedded.Network.Listen), kfake.Ports(9092)}
}

func (l lab) client(brokers []string, more ...kgo.Opt) []kgo.Opt {
	return slices.Concat([]kgo.Opt{
		kgo.SeedBrokers(brokers...), kgo.Dialer(l.embedded.Network.DialContext), kgo.DisableClientMetrics(),
	}, more)
}
