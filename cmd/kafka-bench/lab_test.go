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

// settle is how long each test sleeps at its end, in virtual time, so that pending timers end (see
// package virtual).
const settle = time.Minute

// lab runs the program in virtual time, with clusters on a network in memory.
type lab struct{ surroundings }

func virtually(t *testing.T, f func(t *testing.T, l lab)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		t.Cleanup(func() { time.Sleep(settle) })
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

// interrupted interrupts each command this long after it begins to listen for signals.
func (l lab) interrupted(after time.Duration) lab { return l.interruptedTimes(1, after) }

func (l lab) interruptedTimes(times int, after time.Duration) lab {
	l.signals = func(c chan<- os.Signal) {
		time.AfterFunc(after, func() {
			for range times {
				c <- os.Interrupt
			}
		})
	}
	return l
}

func (l lab) invoke(t *testing.T, args ...string) invoked {
	t.Helper()
	return invokeIn(t, l.surroundings, args...)
}

// The lab's network has room for one cluster.
func (l lab) start(t *testing.T) *cluster.Embedded {
	t.Helper()
	e, err := cluster.StartEmbedded(l.embedded)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Stop(t.Context()) })
	return e
}

func (l lab) listen() []kfake.Opt {
	return []kfake.Opt{kfake.NumBrokers(1), kfake.ListenFn(l.embedded.Network.Listen), kfake.Ports(9092)}
}

func (l lab) client(brokers []string, more ...kgo.Opt) []kgo.Opt {
	return slices.Concat([]kgo.Opt{
		kgo.SeedBrokers(brokers...), kgo.Dialer(l.embedded.Network.DialContext), kgo.DisableClientMetrics(),
	}, more)
}
