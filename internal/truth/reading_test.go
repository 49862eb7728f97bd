package truth

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"kafka-bench/internal/cluster"
	"kafka-bench/internal/driver"
	"kafka-bench/internal/driver/franz"
	"kafka-bench/internal/result"
	"kafka-bench/internal/scenario"
)

// filled makes a topic of three partitions with n records of somebody else's, and
// returns how many bytes their keys and values have.
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

// reading is a scenario that reads a topic and produces nothing.
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

// TestReading: all that a topic holds is read, counted and weighed, with a group and
// without; the measured window ends with the last record, and the topic stays as it
// was.
func TestReading(t *testing.T) {
	t.Parallel()
	const n = 30_000
	for _, assignment := range []string{"group", "manual"} {
		t.Run(assignment, func(t *testing.T) {
			t.Parallel()
			c := embedded(t, cluster.EmbeddedOptions{})
			bytes := filled(t, c, "orders", n)
			handled := &lastHandled{Driver: franz.New()}
			r := run(t, withDriver(config(t, c, reading(t, "read-"+assignment, "consume.assignment="+assignment)), handled))
			wantValid(t, r)
			if end := r.Run.Run.StartedAt.Add(time.Duration(r.Run.Run.Phases[1].EndNs)); end.After(handled.at.Add(time.Millisecond)) {
				t.Errorf("the window ends %v after the last record was worked on", end.Sub(handled.at))
			}
			wantRead(t, r, n, n)
			wantCount(t, "bytes", r.Run.Delivery.Bytes, bytes)
			wantCount(t, "records in the topic", topics(t, c)["orders"], n)
			wantNoTopics(t, c)
			if window := r.Run.Run.Phases[1]; window.StartNs != 0 || window.EndNs > 10e9 || r.Run.Run.Phases[0].StartNs != 0 {
				t.Errorf("the phases are %+v; want no warm-up, and a window that ends with the reading", r.Run.Run.Phases)
			}
			wantLagOfReading(t, r, assignment == "group")
			again := run(t, config(t, c, reading(t, "again", "consume.assignment="+assignment, "consume.groups=2")))
			wantValid(t, again)
			wantRead(t, again, 2*n, n)
		})
	}
}

// lastHandled is a driver that notes when the application was done with the last
// chunk.
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

// wantRead fails the test unless so many records were delivered in the window, and
// nothing else happened.
func wantRead(t *testing.T, r *result.Recorded, delivered, backlogAtMost int64) {
	t.Helper()
	d, l := r.Run.Delivery, r.Run.Load
	wantCount(t, "delivered", d.Delivered, delivered)
	wantCount(t, "pending", d.Pending, 0)
	wantCount(t, "foreign", d.Foreign, 0)
	wantCount(t, "scheduled and acked", l.Scheduled+l.Acked, 0)
	// The first poll of a member begins before the window, waiting for it.
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
	if peak := r.Run.Lag.BacklogPeakRecords; peak > backlogAtMost {
		t.Errorf("the backlog had its peak at %d; the topic holds %d", peak, backlogAtMost)
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
	if lag.FinalRecords == nil || *lag.FinalRecords != 0 || r.Run.Run.Group == "" {
		t.Errorf("the lag in the end is %v of group %q, want 0", lag.FinalRecords, r.Run.Run.Group)
	}
}

// TestReadingHasATimeout: a window that ends before everything is read says what is
// left.
func TestReadingHasATimeout(t *testing.T) {
	t.Parallel()
	c := embedded(t, cluster.EmbeddedOptions{})
	filled(t, c, "orders", 5000)
	r := run(t, config(t, c, reading(t, "timeout", "consume.work=1ms", "consume.consumers=1", "phases.measure=500ms")))
	wantValid(t, r)
	wantCount(t, "the end of the window", r.Run.Run.Phases[1].EndNs, 500e6)
	d := r.Run.Delivery
	if d.Delivered < 100 || d.Delivered > 501 {
		t.Errorf("%d records were delivered in half a second by a consumer of 1000/s", d.Delivered)
	}
	if late := 5000 - d.Pending - d.Delivered; late < 0 || late > 250 || r.Run.Lag.Drained {
		t.Errorf("%d were delivered and %d are left, of 5000; drained: %v", d.Delivered, d.Pending, r.Run.Lag.Drained)
	}
	wantWarning(t, r, "not read to its end")
}

// TestReadingAlong: from the end of the topic on, a run reads what others write
// while it goes on, and nothing of what was there before.
func TestReadingAlong(t *testing.T) {
	t.Parallel()
	c := embedded(t, cluster.EmbeddedOptions{})
	filled(t, c, "orders", 300)
	theirs := client(t, c)
	i := &interrupter{phase: "measure", after: 200 * time.Millisecond, fired: make(chan struct{})}
	cfg := config(t, c, reading(t, "along", "consume.from=end", "phases.measure=1500ms"))
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
	wantWarning(t, r, "consume.from: nobody produces in this run")
}

// TestReadingTransactions: the mark at the end of a transaction is no record, and
// the topic is read to its end all the same.
func TestReadingTransactions(t *testing.T) {
	t.Parallel()
	c := embedded(t, cluster.EmbeddedOptions{})
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
		if end := r.Run.Run.Phases[1].EndNs; end > 5e9 {
			t.Errorf("the window ends at %d ns, long after the last record", end)
		}
	}
}

// TestReadingNothing: an empty topic is no measurement.
func TestReadingNothing(t *testing.T) {
	t.Parallel()
	c := embedded(t, cluster.EmbeddedOptions{})
	filled(t, c, "orders", 0)
	r := run(t, config(t, c, reading(t, "nothing")))
	wantReason(t, r, "no record was delivered in the measured window")
}
