package truth

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"kafka-bench/internal/bench"
	"kafka-bench/internal/cluster"
	"kafka-bench/internal/driver"
	"kafka-bench/internal/driver/franz"
	"kafka-bench/internal/result"
)

// testCrash kills the broker (SIGKILL) in the middle of two runs, at acks 1 and
// at acks all, and starts it again on the same data. What became of each record
// is known to a witness at the driver and to a reader of the log that shares no
// code with the run; run.json has to agree with them to the record.
func testCrash(t *testing.T) {
	k := realKafka(t)
	levels := []string{"load.acks=1", "load.acks=all"}
	witnesses := make([]*witness, len(levels))
	configs := make([]bench.Config, len(levels))
	crash := &crash{broker: k.Brokers()[0], over: make(chan struct{})}
	for i, acks := range levels {
		witnesses[i] = newWitness()
		// A record may take no longer than 3 s, and the broker is gone for more:
		// some fail, and of some nobody knows.
		s := smallScenario(t, "crash-"+strings.TrimPrefix(acks, "load.acks="), acks,
			"load.delivery_timeout=3s", "phases.warmup=1s", "phases.measure=13s", "phases.drain=60s")
		configs[i] = withDriver(config(t, k, s), witnesses[i].watch(franz.New()))
		configs[i].KeepTopics = true // for the reader
	}
	configs[0].Watch = crash
	runs := runTogether(t, configs...)
	<-crash.over
	if crash.err != nil {
		t.Fatal(crash.err)
	}
	t.Logf("the broker was gone for %v", crash.took)
	for i, r := range runs {
		t.Run(levels[i], func(t *testing.T) { wantSurvivors(t, k, r, witnesses[i]) })
	}
	removeTopics(t, k, runs)
}

// crash kills a broker two seconds into the measured window of the run that it
// watches, and starts it again.
type crash struct {
	broker *cluster.Broker
	took   time.Duration
	err    error
	over   chan struct{}
}

func (c *crash) Began(string)             {}
func (c *crash) Interval(result.Interval) {}
func (c *crash) Event(e result.Event) {
	if e.Kind == "phase" && e.What == "measure" {
		time.AfterFunc(2*time.Second, c.strike)
	}
}

func (c *crash) strike() {
	defer close(c.over)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	began := time.Now()
	c.broker.Kill()
	c.err = c.broker.Restart(ctx)
	c.took = time.Since(began)
}

// wantSurvivors compares the run's books with what the witness and the log say.
func wantSurvivors(t *testing.T, c cluster.Cluster, r *result.Recorded, w *witness) {
	t.Helper()
	wantValid(t, r)
	wantBalance(t, r)
	wantHistograms(t, r)
	wantSeries(t, r)
	l, d := r.Run.Load, r.Run.Delivery
	wantCount(t, "scheduled", l.Scheduled, 13_000)
	wantCount(t, "acked", l.Acked, w.with(driver.Acked, true))
	wantCount(t, "failed", l.Failed, w.with(driver.Failed, true))
	wantCount(t, "unknown", l.Unknown, w.with(driver.Unknown, true))
	wantCount(t, "warm-up: acked", r.Run.Warmup.Load.Acked, w.with(driver.Acked, false))
	wantCount(t, "settled twice", int64(w.twice), 0)
	if l.Failed+l.Unknown == 0 {
		t.Error("every record was acked: the broker was not gone for long enough to prove anything")
	}
	if !r.Run.Lag.Drained {
		t.Fatalf("the run was not drained: the log cannot be compared with what was delivered (%d pending)", d.Pending)
	}
	log := readLog(t, c, r.Run.Run.Topic)
	var inLog, lost, unacked, misplaced, risen int64
	for id, s := range w.settled {
		at, there := log[id]
		if !s.measured {
			continue
		}
		switch {
		case there && s.outcome == driver.Acked:
			inLog++
			if s.offset != at {
				misplaced++
			}
		case there:
			inLog++
			unacked++
			if s.outcome == driver.Failed {
				risen++
			}
		case s.outcome == driver.Acked:
			lost++
		}
	}
	t.Logf("acked %d, failed %d, unknown %d; in the log %d, of them not acked %d; lost %d; delivered twice %d; errors %v",
		l.Acked, l.Failed, l.Unknown, inLog, unacked, lost, d.Duplicates, l.Errors)
	wantCount(t, "unique, of which the log has", d.Unique, inLog)
	wantCount(t, "lost, which the log has not", d.Lost, lost)
	wantCount(t, "delivered without an ack", d.UnackedDelivered, unacked)
	wantCount(t, "failed, and in the log all the same", risen, 0)
	wantCount(t, "acked at another offset than the log has", misplaced, 0)
	wantCount(t, "foreign or corrupt", d.Foreign+d.Corrupt, 0)
}

// readLog reads the records of a topic from its start: where each of them is in
// its partition. A record that is there twice is where it is first.
func readLog(t *testing.T, c cluster.Cluster, topic string) map[identity]int64 {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	reader := client(t, c, kgo.ConsumeTopics(topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	ends, err := kadm.NewClient(reader).ListEndOffsets(ctx, topic)
	if err != nil || ends.Error() != nil {
		t.Fatal(err, ends.Error())
	}
	left := make(map[int32]int64)
	ends.Each(func(o kadm.ListedOffset) {
		if o.Offset > 0 {
			left[o.Partition] = o.Offset
		}
	})
	log := make(map[identity]int64)
	for len(left) > 0 {
		fetches := reader.PollFetches(ctx)
		if err := fetches.Err0(); err != nil {
			t.Fatal(err)
		}
		fetches.EachRecord(func(r *kgo.Record) {
			if _, id, ok := stampOf(r.Value); !ok {
				t.Errorf("the log has a record that nobody sent: %q", r.Value)
			} else if _, twice := log[id]; !twice {
				log[id] = r.Offset
			}
			if r.Offset+1 >= left[r.Partition] {
				delete(left, r.Partition)
			}
		})
	}
	return log
}

// removeTopics takes away the topics that the reader needed.
func removeTopics(t *testing.T, c cluster.Cluster, runs []*result.Recorded) {
	t.Helper()
	names := make(map[string]bool)
	for _, r := range runs {
		names[r.Run.Run.Topic] = true
	}
	admin := kadm.NewClient(client(t, c))
	for name := range maps.Keys(names) {
		if response, err := admin.DeleteTopic(context.Background(), name); err != nil {
			t.Error(fmt.Errorf("%s: %w", response.ErrMessage, err))
		}
	}
}
