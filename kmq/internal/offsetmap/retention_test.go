package offsetmap

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/internal/project/virtual"
	"kafkabench.example/kafka-bench/kmq/internal/engine"
	"kafkabench.example/kafka-bench/kmq/internal/lease"
)

// fill adds n records that are an hour old to each of two partitions.
func aging(t *testing.T) (fake *virtual.Cluster, fill func(n int), retention func(string)) {
	t.Helper()
	fake = startFake(t)
	cl := prepare(t, fake, "old", 2, 0)
	fill = func(n int) {
		t.Helper()
		for partition := range int32(2) {
			for range n {
				r := &kgo.Record{Topic: "old", Partition: partition, Value: []byte("x"), Timestamp: time.Now().Add(-time.Hour)}
				must(t, cl.ProduceSync(ctx, r).FirstErr())
			}
		}
	}
	return fake, fill, func(ms string) { fake.Set(t, "old", "retention.ms", ms) }
}

func alarm(t *testing.T, e *Engine) string {
	t.Helper()
	must(t, e.watch.Look(ctx))
	return e.Counts().RetentionAlarm
}

// Old open records are an alarm until they are done. Invariant 9.
func TestRetentionAlarm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake, fill, retention := aging(t)
		var log virtual.Log
		cfg := kafkaConfig(fake, "old")
		cfg.Log = slog.New(slog.NewTextHandler(&log, nil))
		e, _ := open(t, fake, cfg)
		e.mu.Lock()
		e.limit = 24
		e.mu.Unlock()
		fill(100) // records taken before the limit are not held
		soon, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		var open []*lease.Lease
		for len(e.Counts().Paused) == 0 || len(open) < 10 {
			leases, err := engine.Receive(soon, e, 1)
			must(t, err)
			if l := leases[0]; l.At.Offset%2 == 1 || l.At.Partition == 1 {
				must(t, e.Ack(ctx, l))
			} else {
				open = append(open, l)
			}
		}
		if a := alarm(t, e); a != "" {
			t.Errorf("all is covered, and the alarm is %q", a)
		}
		retention("3660000")
		for range 2 {
			if a := alarm(t, e); !strings.Contains(a, "offset 0 of partition 0 of topic old is not settled and older than 45m45s of its retention.ms of 1h1m0s") {
				t.Errorf("the alarm is %q", a)
			}
		}
		for _, l := range open {
			must(t, e.Ack(ctx, l))
		}
		if a := alarm(t, e); strings.Contains(a, "offset 0 of partition 0") || a == "" { // only waiting records
			t.Errorf("the alarm is %q", a)
		}
		for alarm(t, e) != "" {
			leases, err := engine.Receive(soon, e, 100)
			must(t, err)
			for _, l := range leases {
				must(t, e.Ack(ctx, l))
			}
		}
		if c := e.Counts(); c.Acked != 200 {
			t.Errorf("no alarm, and %d of 200 are done", c.Acked)
		}
		if n := strings.Count(log.String(), "retention covers all unsettled records again"); n != 1 {
			t.Errorf("said %d times that it ended", n)
		}
	})
}

func TestRetentionAlarmOfWhatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake, fill, retention := aging(t)
		fill(10)
		for partition := range int32(2) {
			fake.Delete(t, "old", partition, 5)
		}
		cfg := kafkaConfig(fake, "old")
		cfg.MaxInFlight = 1
		var log virtual.Log
		cfg.Log = slog.New(slog.NewTextHandler(&log, nil))
		e, _ := open(t, fake, cfg)
		_, err := engine.Receive(ctx, e, 1)
		must(t, err)
		if a := alarm(t, e); a != "" {
			t.Errorf("all is covered, and the alarm is %q", a)
		}
		retention("3660000")
		for range 2 {
			if a := alarm(t, e); !strings.Contains(a, "offset 5 of partition 0") || !strings.Contains(a, "offset 5 of partition 1") {
				t.Errorf("the alarm is %q", a)
			}
		}
		if n := strings.Count(log.String(), "retention does not cover all unsettled records"); n != 1 {
			t.Errorf("said %d times that it began", n)
		}
	})
}
