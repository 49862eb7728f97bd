package kgogate_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kafka-bench/backpressure"
	"kafka-bench/backpressure/kgogate"
)

// A record that a broker refuses makes room again, one whose fate is not known
// does so only when the doubt is over.
func TestFate(t *testing.T) {
	unordered := []kgo.Opt{kgo.DisableIdempotentWrite(), kgo.MaxProduceRequestsInflightPerBroker(5)}
	for _, c := range []struct {
		name  string
		err   *kerr.Error
		opts  []kgo.Opt
		stats string
	}{
		{"refused", kerr.TopicAuthorizationFailed, nil, "produced 1 acked 0 failed 1"},
		{"refused in a crowd", kerr.TopicAuthorizationFailed, unordered, "produced 1 acked 0 unknown 1"},
		{"refused, one at a time", kerr.InvalidRecord, []kgo.Opt{kgo.DisableIdempotentWrite(), kgo.MaxProduceRequestsInflightPerBroker(1)}, "produced 1 acked 0 failed 1"},
		{"answer leaves it open", kerr.UnknownServerError, nil, "produced 1 acked 0 unknown 1"},
		{"timed out", kerr.NotLeaderForPartition, append(unordered, kgo.RecordDeliveryTimeout(3*time.Second)), "produced 1 acked 0 unknown 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			inVirtualTime(t, func(p *plant) {
				gate := p.gate(1)
				producer := p.producer(gate, kgogate.Config{})
				defer producer.Close()
				p.cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Err: c.err, Count: -1})
				producer.Produce(context.Background(), record(0), p.promise)
				time.Sleep(10 * time.Second)
				p.wantStats(producer, c.stats)
				report(gate, 0)
				if known := strings.HasSuffix(c.stats, "failed 1"); gate.Open() != known {
					t.Errorf("the gate is open: %v, the record's fate is known: %v", gate.Open(), known)
				}
				time.Sleep(backpressure.DefaultDoubt)
				report(gate, 0)
				if !gate.Open() {
					t.Error("the doubt is over and the gate is closed")
				}
			}, c.opts...)
		})
	}
}

// The gate of one process among several hears where its records went.
func TestAckedReachesTheGate(t *testing.T) {
	inVirtualTime(t, func(p *plant) {
		gate, err := backpressure.New(backpressure.Config{Controller: p.credit(10), Share: backpressure.Fixed(0.5)})
		if err != nil {
			t.Fatal(err)
		}
		read := func(committed, end int64) {
			gate.Report(gate.Mark(), backpressure.Reading{Partitions: []backpressure.Partition{{Topic: "orders", Committed: committed, End: end}}})
		}
		read(0, 0)
		producer := p.producer(gate, kgogate.Config{Excess: kgogate.Shed})
		defer producer.Close()
		p.produce(producer, 0, 6)
		p.rest()
		p.wantStats(producer, "produced 5 acked 5 gate 1") // half of 10
		read(2, 100)                                       // the other 95 are not ours
		if s := gate.Stats(); s.Lag != 3 {
			t.Errorf("%d own records are behind, want 3", s.Lag)
		}
	})
}
