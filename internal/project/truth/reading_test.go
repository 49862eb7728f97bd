package truth

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/kafka/driver/franz"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/project/virtual"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/show/report"
)

// The records are not the run's. filled returns the bytes of their keys and values.
func filled(t *testing.T, c cluster.Cluster, topic string, n int) (bytes int64) {
	t.Helper()
	theirs := client(t, c)
	if _, err := kadm.NewClient(theirs).CreateTopic(context.Background(), 3, 1, nil, topic); err != nil {
		t.Fatal(err)
	}
	return fill(t, theirs, topic, n)
}

func fill(t *testing.T, theirs *kgo.Client, topic string, n int) (bytes int64) {
	t.Helper()
	records := make([]*kgo.Record, n)
	for i := range records {
		records[i] = &kgo.Record{Topic: topic, Partition: int32(i % 3), Key: fmt.Append(nil, i), Value: fmt.Appendf(nil, "order %d of somebody", i)}
		bytes += int64(len(records[i].Key) + len(records[i].Value))
	}
	if err := theirs.ProduceSync(context.Background(), records...).FirstErr(); err != nil {
		t.Error(err)
	}
	return bytes
}

func reading(t *testing.T, name string, overrides ...string) scenario.Scenario {
	t.Helper()
	s, err := scenario.Parse(name+".yaml", []byte(`
topic: {existing: orders}
load: {producers: 0}
consume: {consumers: 2, commit: 50ms, fetch: {max_partition_bytes: 10kB}}
phases: {measure: 20s}
sampling: {interval: 100ms, lag: 50ms}
`), overrides...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// With a group and without, the window ends with the last record, and the topic is unchanged.
func TestReading(t *testing.T) {
	t.Parallel()
	const n = 30_000
	for _, assignment := range []string{"group", "manual"} {
		t.Run(assignment, func(t *testing.T) {
			t.Parallel()
			slowly(t, func(t *testing.T, c *virtual.Cluster) {
				bytes := filled(t, c, "orders", n)
				handled := &lastHandled{Driver: franz.New()}
				s := reading(t, "read-"+assignment, "consume.assignment="+assignment)
				r := run(t, withDriver(config(t, c, s), handled))
				wantValid(t, r)
				window := r.Run.Run.Phases[1]
				if end := r.Run.Run.StartedAt.Add(time.Duration(window.EndNs)); end.Sub(handled.at) != 1 {
					t.Errorf("the window ends %v after the last record was worked on, want a nanosecond", end.Sub(handled.at))
				}
				wantRead(t, r, n, n)
				wantCount(t, "bytes", r.Run.Delivery.Bytes, bytes)
				wantCount(t, "records in the topic", topics(t, c)["orders"], n)
				wantNoTopics(t, c)
				if window.StartNs != 0 || r.Run.Run.Phases[0].StartNs != 0 {
					t.Errorf("the phases are %+v; want no warm-up", r.Run.Run.Phases)
				}
				wantLagOfReading(t, r, assignment == "group")
				again := run(t, config(t, c, reading(t, "again", "consume.assignment="+assignment, "consume.groups=2")))
				wantValid(t, again)
				wantRead(t, again, 2*n, n)
			})
		})
	}
}

// lastHandled records when the application finished the last chunk.
type lastHandled struct {
	driver.Driver
	mu sync.Mutex
	at time.Time
}

func (d *lastHandled) NewConsumer(cfg driver.ConsumerConfig) (driver.Consumer, error) {
	tap := &tapped{Driver: d.Driver, poll: func(chunks []driver.Chunk) []driver.Chunk {
		for i := range chunks {
			chunks[i].Free = func() {
				d.mu.Lock()
				defer d.mu.Unlock()
				d.at = time.Now()
			}
		}
		return chunks
	}}
	return tap.NewConsumer(cfg)
}

func wantRead(t *testing.T, r *result.Recorded, delivered, held int64) {
	t.Helper()
	d, l := r.Run.Delivery, r.Run.Load
	wantCount(t, "delivered", d.Delivered, delivered)
	wantCount(t, "pending", d.Pending, 0)
	wantCount(t, "foreign", d.Foreign, 0)
	wantCount(t, "scheduled and acked", l.Scheduled+l.Acked, 0)
	// The first poll of a member begins before the window.
	polls, members := r.Run.Consumer.Polls, int64(r.Run.Consumer.Members)
	if timed := r.Run.Time["poll_time"].Count; polls == 0 || timed > polls || timed < polls-members {
		t.Errorf("%d of %d polls have a time", timed, polls)
	}
	window := float64(r.Run.Run.Phases[1].EndNs) / 1e9
	if got := d.DeliveredPerS * window; got < float64(delivered)-1 || got > float64(delivered)+1 {
		t.Errorf("%.0f/s over %.3f s is %.0f records, want %d", d.DeliveredPerS, window, got, delivered)
	}
	if timed := r.Run.Time["poll_time"].Count; len(r.Run.Time) > 1 || len(r.Run.Time) == 1 && timed == 0 || !r.Run.Lag.Drained || d.Checked || l.ClosedLoop {
		t.Errorf("times %v, drained %v, checked %v, closed loop %v", r.Run.Time, r.Run.Lag.Drained, d.Checked, l.ClosedLoop)
	}
	wantCount(t, "the backlog's peak", r.Run.Lag.BacklogPeakRecords, held)
	if !r.Run.Says("lag.backlog_peak_records") || !r.Run.Says("lag.drained") || r.Run.Says("lag.time_lag_peak_ns") || r.Run.Says("intervals.time_lag_ns") {
		t.Errorf("not measured are %q; want the time lag", r.Run.Run.NotMeasured)
	}
}

func wantLagOfReading(t *testing.T, r *result.Recorded, grouped bool) {
	t.Helper()
	lag := r.Run.Lag
	if !grouped {
		if lag.PeakRecords != nil || lag.FinalRecords != nil || r.Run.Run.Group != "" || r.Run.Consumer.Commits > 0 {
			t.Errorf("without a group there is a lag (%v, %v), a group %q or %d commits", lag.PeakRecords, lag.FinalRecords, r.Run.Run.Group, r.Run.Consumer.Commits)
		}
		return
	}
	if lag.FinalRecords == nil || r.Run.Run.Group == "" {
		t.Fatalf("there is no lag in the end, or no group (%q)", r.Run.Run.Group)
	}
	wantCount(t, "the lag in the end", *lag.FinalRecords, 0)
}

func TestReadingHasATimeout(t *testing.T) {
	t.Parallel()
	slowly(t, func(t *testing.T, c *virtual.Cluster) {
		filled(t, c, "orders", 5000)
		r := run(t, config(t, c, reading(t, "timeout", "consume.work=1ms", "consume.consumers=1", "phases.measure=500ms")))
		wantValid(t, r)
		wantCount(t, "the end of the window", r.Run.Run.Phases[1].EndNs, 500e6)
		d := r.Run.Delivery
		wantCount(t, "delivered", d.Delivered, 480) // 1000/s from the end of the first fetch
		if inHand := 5000 - d.Pending - d.Delivered; inHand < 0 || inHand > 1 || r.Run.Lag.Drained {
			t.Errorf("%d were delivered and %d are left, of 5000; drained: %v", d.Delivered, d.Pending, r.Run.Lag.Drained)
		}
		wantWarning(t, r, "not read to its end")
		wantCount(t, "the backlog's peak", r.Run.Lag.BacklogPeakRecords, 5000)
	})
}

func TestReadingOn(t *testing.T) {
	t.Parallel()
	slowly(t, func(t *testing.T, c *virtual.Cluster) {
		filled(t, c, "orders", 3000)
		s := reading(t, "on", "consume.work=1ms", "consume.consumers=1", "consume.groups=2", "phases.warmup=500ms", "phases.measure=50ms", "sampling.interval=1s")
		r := run(t, config(t, c, s))
		wantValid(t, r)
		const left = 3000 - 480 // at 1000/s from the end of the first fetch, at 20 ms
		for i, g := range r.Run.Groups {
			if peak := g.Lag.BacklogPeakRecords; peak < left-1 || peak > left {
				t.Errorf("the backlog of group %d had its peak at %d, want %d", i, peak, left)
			}
		}
		slowest := max(r.Run.Groups[0].Lag.BacklogPeakRecords, r.Run.Groups[1].Lag.BacklogPeakRecords)
		wantCount(t, "the backlog's peak", r.Run.Lag.BacklogPeakRecords, slowest)
		if d := r.Run.Delivery.Delivered; d < 98 || d > 102 {
			t.Errorf("%d records were delivered in 50 ms by two groups of 1000/s", d)
		}
	})
}

// From the topic's end, a run reads nothing older.
func TestReadingAlong(t *testing.T) {
	t.Parallel()
	slowly(t, func(t *testing.T, c *virtual.Cluster) {
		filled(t, c, "orders", 300)
		theirs := client(t, c)
		i := &interrupter{at: begins("measure"), after: 200 * time.Millisecond, fired: make(chan struct{})}
		cfg := config(t, c, reading(t, "along", "consume.from=end", "phases.measure=1500ms", "consume.changes=[{at: 1s, work: 100us}]"))
		cfg.Watch = i
		written := make(chan struct{})
		go func() {
			defer close(written)
			<-i.fired
			fill(t, theirs, "orders", 60)
		}()
		r := run(t, cfg)
		<-written
		wantValid(t, r)
		wantCount(t, "delivered", r.Run.Delivery.Delivered, 60)
		wantCount(t, "the end of the window", r.Run.Run.Phases[1].EndNs, 1500e6)
		wantWarning(t, r, "consume.from: this run has no producers")
		wantNothingReached(t, r)
	})
}

// A run that has no topic end to reach has no figures of reaching it, and no zeros instead.
func wantNothingReached(t *testing.T, r *result.Recorded) {
	t.Helper()
	for _, path := range []string{
		"lag.backlog_peak_records", "lag.time_lag_peak_ns", "lag.drained", "lag.drain_time_s", "lag.drain_per_s",
		"intervals.backlog_records", "intervals.time_lag_ns",
	} {
		if r.Run.Says(path) {
			t.Errorf("%s counts as measured; not measured are %q", path, r.Run.Run.NotMeasured)
		}
	}
	lag := r.Run.Lag
	if len(lag.Changes) > 0 || event(r, "consumer", "work 100µs") == nil {
		t.Errorf("the changes are %+v; want the event alone", lag.Changes)
	}
	if lag.Drained || lag.BacklogGrowthPerS != nil || lag.BacklogGrowthErrorPerS != nil || lag.DrainTimeS != 0 || lag.DrainPerS != 0 {
		t.Errorf("there is a drain or a growth of a backlog that nobody knows: %+v", lag)
	}
	for _, iv := range r.Intervals {
		if iv.BacklogPartition != nil {
			t.Fatalf("the interval that ends at %d ns has a backlog by partition: %v", iv.EndNs, iv.BacklogPartition)
		}
	}
	var page strings.Builder
	if err := report.Text(&page, r, report.Options{}); err != nil {
		t.Fatal(err)
	}
	for _, claim := range []string{"held were read", "delivered after the window", "NOT DRAINED", "backlog", "time lag"} {
		if strings.Contains(page.String(), claim) {
			t.Errorf("the report says %q of it:\n%s", claim, page.String())
		}
	}
	for _, w := range r.Run.Verdict.Warnings {
		if strings.HasPrefix(w, "not read to its end") || strings.HasPrefix(w, "not drained") {
			t.Errorf("it warns %q, and there was nothing to reach", w)
		}
	}
}

func TestReadingTransactions(t *testing.T) {
	t.Parallel()
	slowly(t, func(t *testing.T, c *virtual.Cluster) {
		filled(t, c, "orders", 0)
		theirs := client(t, c, kgo.TransactionalID("theirs"))
		for range 2 {
			if err := theirs.BeginTransaction(); err != nil {
				t.Fatal(err)
			}
			fill(t, theirs, "orders", 300)
			if err := theirs.EndTransaction(context.Background(), kgo.TryCommit); err != nil {
				t.Fatal(err)
			}
		}
		for _, parallel := range []string{"consumer", "partition"} {
			r := run(t, config(t, c, reading(t, "transactions", "consume.work=100us", "consume.parallel="+parallel)))
			wantValid(t, r)
			wantRead(t, r, 600, 606)
			wantLagOfReading(t, r, true) // the markers are committed too
			if end := r.Run.Run.Phases[1].EndNs; end > 5e9 {
				t.Errorf("the window ends at %d ns, long after the last record", end)
			}
		}
	})
}

func TestReadingNothing(t *testing.T) {
	t.Parallel()
	slowly(t, func(t *testing.T, c *virtual.Cluster) {
		filled(t, c, "orders", 0)
		r := run(t, config(t, c, reading(t, "nothing")))
		wantReason(t, r, "no record was delivered in the measured window")
	})
}
