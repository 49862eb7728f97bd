package truth

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/kafka/driver/franz"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/bench"
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
	found := w.compare(readLog(t, c, r.Run.Run.Topic))
	t.Logf("acked %d, failed %d, unknown %d; found %+v; delivered twice %d; errors %v",
		l.Acked, l.Failed, l.Unknown, found, d.Duplicates, l.Errors)
	wantCount(t, "unique", d.Unique, found.inLog)
	wantCount(t, "lost", d.Lost, found.lost)
	wantCount(t, "delivered without an ack", d.UnackedDelivered, found.unacked)
	wantCount(t, "failed, and in the log all the same", found.risen, 0)
	wantCount(t, "acked at an offset where the log has another", found.misplaced, 0)
	wantCount(t, "foreign or corrupt", d.Foreign+d.Corrupt, 0)
}

// survey is what the log and the witness together say of the measured records.
type survey struct {
	inLog     int64
	lost      int64 // acked, and not in the log
	unacked   int64 // in the log, and not acked
	risen     int64 // of those, the ones that the client called failed
	misplaced int64 // acked at an offset where the log has another record
}

func (w *witness) compare(log map[identity][]int64) (found survey) {
	for id, s := range w.settled {
		at, acked := log[id], s.outcome == driver.Acked
		switch {
		case !s.measured:
		case len(at) == 0 && acked:
			found.lost++
		case len(at) > 0 && acked:
			found.inLog++
			if !slices.Contains(at, s.offset) {
				found.misplaced++
			}
		case len(at) > 0:
			found.inLog++
			found.unacked++
			if s.outcome == driver.Failed {
				found.risen++
			}
		}
	}
	return found
}

// readLog reads the records of a topic from its start: at which offsets of its
// partition each of them is.
func readLog(t *testing.T, c cluster.Cluster, topic string) map[identity][]int64 {
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
	log := make(map[identity][]int64)
	for len(left) > 0 {
		fetches := reader.PollFetches(ctx)
		if err := fetches.Err0(); err != nil {
			t.Fatal(err)
		}
		fetches.EachRecord(func(r *kgo.Record) {
			_, id, ok := stampOf(r.Value)
			if !ok {
				t.Errorf("the log has a record that nobody sent: %q", r.Value)
			}
			log[id] = append(log[id], r.Offset)
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
	admin := kadm.NewClient(client(t, c))
	for _, r := range runs {
		if _, err := admin.DeleteTopic(context.Background(), r.Run.Run.Topic); err != nil {
			t.Error(err)
		}
	}
}
