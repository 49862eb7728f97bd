package receive

import (
	"sync/atomic"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/load/loadtest"
	"kafkabench.example/kafka-bench/internal/measure/latency"
	"kafkabench.example/kafka-bench/internal/plan/payload"
)

const dueNs, sentNs = -int64(11 * time.Second), -int64(10500 * time.Millisecond)

// stampedBy returns n records of each producer, in turn, stamped by clocks that are ahead by the given times.
func stampedBy(t testing.TB, n int, ahead ...time.Duration) (records []driver.Received) {
	corpus, err := loadtest.HundredBytes()
	if err != nil {
		t.Fatal(err)
	}
	for i := range n * len(ahead) {
		producer := i % len(ahead)
		stamp := payload.Stamp{
			Run: loadtest.Run, Producer: uint16(producer), Sequence: uint64(i / len(ahead)),
			Intended: dueNs + int64(ahead[producer]), Actual: sentNs + int64(ahead[producer]),
		}
		records = append(records, driver.Received{Offset: int64(i), Value: corpus.Value(nil, uint64(i), &stamp)})
	}
	return records
}

func offsetsOf(producers int) load.Offsets {
	var behind atomic.Int64
	behind.Store(-int64(time.Hour))
	all := make(load.Offsets, producers)
	for i := range all[2:] {
		all[2+i] = &behind
	}
	return all
}

// The producer's clock decides whether a record is measured.
func TestTimesAcrossClocks(t *testing.T) {
	change := func(cfg *Config) {
		cfg.Producers, cfg.Partitions, cfg.Offsets = 4, 1, offsetsOf(4)
		cfg.Driver = &fakeKafka{log: [][]driver.Received{stampedBy(t, 10, 0, 0, time.Hour, time.Hour)}}
		cfg.Plan = loadtest.FixedWork(time.Microsecond)
	}
	consumeAfter(t, 10*time.Second, 0, change, func(t *testing.T, g *Group, _ *fakeConsumer, _ *load.Axis) {
		time.Sleep(100 * time.Millisecond)
		r := g.Received()
		if r.Delivered != 40 || r.Crossed != 20 || r.Timed != 40 {
			t.Errorf("%+v; want 40 delivered, 20 crossed", r)
		}
		if each := time.Duration(r.ServiceNs) / 40; each < 500*time.Millisecond || each > 600*time.Millisecond {
			t.Errorf("delivered %v after they were sent, want half a second", each)
		}
		var all latency.Collector
		g.AddTo(&all)
		all.Collect()
		for m, least := range map[latency.Metric]int64{
			latency.E2EServiceTime: -sentNs, latency.E2EResponseTime: -dueNs, latency.ProcessedResponseTime: -dueNs,
		} {
			least -= int64(10 * time.Second)
			for _, measured := range []bool{false, true} {
				d := all.Totals(measured, m)
				if d.Count != 20 || d.MaxNs < least || d.MaxNs > least+int64(100*time.Millisecond) {
					t.Errorf("%v, measured %v: %+v; want 20 of about %v", m, measured, d, time.Duration(least))
				}
			}
		}
	})
}
