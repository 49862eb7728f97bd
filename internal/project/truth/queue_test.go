package truth

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/project/virtual"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/bench"
)

// queueing is 1,000 records in a second for two consumers of a queue. Without a warm-up, the topics
// have no other records.
const queueing = `
topic: {partitions: 4}
load: {rate: 1k/s, record: {size: 100B, payload: random}, compression: none, partitioning: round-robin}
consume: {consumers: 2, commit: 100ms, queue: {engine: %s, threads: 4, in_flight: 30000}}
phases: {warmup: 0s, measure: 1s, drain: 1m}
sampling: {interval: 100ms, lag: 100ms}
cluster: {metrics: none}
`

const queued = 1000

func ofQueue(t *testing.T, name, engine string, overrides ...string) scenario.Scenario {
	t.Helper()
	s, err := scenario.Parse(name+".yaml", fmt.Appendf(nil, queueing, engine), overrides...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func wantQueueBooks(t *testing.T, r *result.Recorded) *result.Queue {
	t.Helper()
	wantValid(t, r)
	q := r.Run.Queue
	if q == nil {
		t.Fatal("the run says nothing of a queue")
	}
	l := r.Run.Load
	wantCount(t, "failed and unknown", l.Failed+l.Unknown, 0)
	wantCount(t, "pending", q.Pending, 0)
	wantCount(t, "lost", q.Lost, 0)
	wantCount(t, "acknowledged or dead", q.UniqueAcked+q.DeadLettered-q.AckedAndDead, l.Acked)
	wantCount(t, "received", q.Received, q.UniqueDelivered+q.Redelivered)
	var tried, given int64
	for _, n := range q.DeliveriesByAttempt {
		tried += n
	}
	for _, n := range q.GivenUp {
		given += n
	}
	wantCount(t, "deliveries by attempt, in all", tried, q.Received)
	wantCount(t, "what became of deliveries", q.UniqueAcked+q.AckedAgain+q.Dropped+q.Nacked+q.Unsettled+given, q.Received)
	wantCount(t, "delivered in Run.Delivery", r.Run.Delivery.Delivered, q.Received)
	var acked, again, dead int64
	for _, iv := range r.Intervals {
		acked, again, dead = acked+*iv.AckedByQueue, again+*iv.Redelivered, dead+*iv.DeadLettered
	}
	if r.Run.Warmup.Load.Acked == 0 {
		wantCount(t, "acknowledged by the intervals", acked, q.UniqueAcked)
		wantCount(t, "redelivered by the intervals", again, q.Redelivered)
		wantCount(t, "dead letters by the intervals", dead, q.DeadLettered)
	}
	if !r.Run.Lag.Drained {
		t.Error("the run has not drained")
	}
	return q
}

// Drops are random: wantArithmetic allows four standard deviations. No redelivery came early.
func wantArithmetic(t *testing.T, q *result.Queue, each, share float64) {
	t.Helper()
	records := float64(q.UniqueDelivered)
	off := 4 * math.Sqrt(share/records) / (1 - share)
	if math.Abs(*q.DeliveriesPerRecord-each) > off || math.Abs(q.ExpectedDeliveriesPerRecord-each) > 1e-9 {
		t.Errorf("%v deliveries per record, and %v expected; want %v", *q.DeliveriesPerRecord, q.ExpectedDeliveriesPerRecord, each)
	}
	for i, part := range q.Tail {
		off := 4 * math.Sqrt(share*(1-share)/float64(q.DeliveriesByAttempt[i]))
		if math.Abs(part-share) > off {
			t.Errorf("attempt %d has %v of the one before: %v", i+2, part, q.DeliveriesByAttempt)
		}
	}
	wantCount(t, "deliveries of which the queue says another attempt", q.AttemptsDiffer, 0)
	wantCount(t, "acknowledged again", q.AckedAgain, 0)
	if q.Lateness == nil || q.Lateness.Count != q.Redelivered {
		t.Fatalf("%d redeliveries, of which the lateness is known: %+v", q.Redelivered, q.Lateness)
	}
	wantCount(t, "early redeliveries", q.Lateness.Negative, 0)
}

// The application drops half of its deliveries.
type dropping struct {
	name, engine string
	queue        string
	most         float64 // deliveries; 0 is no bound
}

// Deliveries per record match arithmetic, the topics match the books' copies and dead letters, and
// no redelivery is early.
func TestQueueDrops(t *testing.T) {
	t.Parallel()
	for _, d := range []dropping{
		{"markers-silent", "markers", "drop: {share: 50%}, visibility: 2s", 0},
		{"markers-four", "markers", "drop: {share: 50%}, visibility: 2s, max_deliveries: 4", 4},
		{"offsetmap-silent", "offsetmap", "drop: {share: 50%}, visibility: 2s", 0},
		{"offsetmap-keys", "offsetmap", "drop: {share: 50%, how: nack}, order: partition, max_deliveries: 4", 4},
		{"share-silent", "share", "drop: {share: 50%}, visibility: 1s, max_deliveries: 4", 4},
	} {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			virtual.Test(t, virtual.Options{}, func(t *testing.T, c *virtual.Cluster) {
				q := wantExactDrops(t, c, d, queued)
				wantCount(t, "given up", int64(len(q.GivenUp)), 0)
				if s := "silent"; strings.HasSuffix(d.name, s) && d.engine != "share" { // the brokers hold the locks of share
					wantCount(t, "locks that ran out", q.Expired, q.Dropped)
				}
				if late := time.Duration(q.Lateness.MaxNs); late > latest {
					t.Errorf("a redelivery was %v late", late)
				}
			})
		})
	}
}

// latest bounds the lateness of a redelivery in virtual time.
const latest = time.Second

const dropShare = 0.5

func wantExactDrops(t *testing.T, c cluster.Cluster, d dropping, n int64) *result.Queue {
	t.Helper()
	r := wantDrops(t, c, d, n)
	q, each := r.Run.Queue, 1/(1-dropShare)
	if d.most > 0 {
		each *= 1 - math.Pow(dropShare, d.most)
		about := float64(n) * math.Pow(dropShare, d.most)
		if off := math.Abs(float64(q.DeadLettered) - about); off > 4*math.Sqrt(about) {
			t.Errorf("%d dead letters, want about %v", q.DeadLettered, about)
		}
	} else if d.engine == "markers" {
		wantCount(t, "copies of what came again", q.Tailed, q.Redelivered)
	}
	wantArithmetic(t, q, each, dropShare)
	return q
}

// wantDrops checks what also holds on a slow cluster: there, a copy without an answer for a second
// is written again, and its record comes once more.
func wantDrops(t *testing.T, c cluster.Cluster, d dropping, n int64, overrides ...string) *result.Recorded {
	t.Helper()
	keys := fmt.Sprintf("consume.queue={engine: %s, threads: 4, in_flight: 30000, %s}", d.engine, d.queue)
	s := ofQueue(t, d.name, d.engine, append(overrides, keys)...)
	cfg := config(t, c, s)
	cfg.KeepTopics = true
	r := run(t, cfg)
	q := wantQueueBooks(t, r)
	if d.most > 0 {
		wantCount(t, "records in the topic of the dead letters", recordsIn(t, c, r.Run.Run.Topic+"-dead"), q.DeadLettered)
	} else {
		wantCount(t, "dead letters", q.DeadLettered, 0)
	}
	wantCount(t, "records", r.Run.Load.Acked, n)
	wantTimesOfQueue(t, r, s)
	if d.engine == "markers" {
		wantCount(t, "records in the topic", recordsIn(t, c, r.Run.Run.Topic), n)
		wantCount(t, "copies in the retry topic", recordsIn(t, c, r.Run.Run.Topic+"-retry"), q.Tailed)
	}
	return r
}

// The age is the time since the record was due, here up to 350 ms in each second.
func TestOldestUnacked(t *testing.T) {
	t.Parallel()
	virtual.Test(t, virtual.Options{}, func(t *testing.T, c *virtual.Cluster) {
		s := ofQueue(t, "oldest", "plain", "load.rate=1/s", "load.producers=1", "phases.measure=2s", "consume.work=350ms")
		r := run(t, config(t, c, s))
		wantValid(t, r)
		for at := 100 * time.Millisecond; at < 2*time.Second; at += 100 * time.Millisecond {
			want := at % time.Second
			if want > 350*time.Millisecond {
				want = 0
			}
			oldest := intervalAt(t, r, at).QueueOldestUnackedNs
			if oldest == nil || at != time.Second && *oldest != int64(want) { // after 1 s one is due at this moment
				t.Errorf("after %v the oldest is %s ns old, want %d", at, orUnknown(oldest, "%d"), want)
			}
		}
	})
}

// Records of a fill have no due times.
func TestOldestUnackedOfAFill(t *testing.T) {
	t.Parallel()
	virtual.Test(t, virtual.Options{}, func(t *testing.T, c *virtual.Cluster) {
		s := ofQueue(t, "filled", "plain", "load.producers=0", "topic.fill_records=20", "consume.work=10ms")
		r := run(t, config(t, c, s))
		wantCount(t, "acknowledged", r.Run.Queue.UniqueAcked, 20)
		for _, iv := range r.Intervals {
			if iv.QueueOldestUnackedNs != nil {
				t.Fatalf("at %d ns the oldest is %d ns old", iv.EndNs, *iv.QueueOldestUnackedNs)
			}
		}
	})
}

func wantTimesOfQueue(t *testing.T, r *result.Recorded, s scenario.Scenario) {
	t.Helper()
	q, first, again := r.Run.Queue, r.Run.Time["e2e_response_time"], r.Run.Time["redelivery_response_time"]
	wantCount(t, "times of first deliveries", first.Count, q.UniqueDelivered)
	wantCount(t, "times of later ones", again.Count, q.Redelivered)
	wantCount(t, "times of settling", r.Run.Time["settle_time"].Count, q.UniqueAcked)
	if s.Consume.Queue.Drop.How == "silent" && again.MinNs < int64(s.Consume.Queue.Visibility) {
		t.Errorf("a record came again %v after it was due to be sent, with a visibility of %v", time.Duration(again.MinNs), s.Consume.Queue.Visibility)
	}
}

func recordsIn(t *testing.T, c cluster.Cluster, topic string) int64 {
	t.Helper()
	return topics(t, c)[topic]
}

var engines = []string{"plain", "markers", "offsetmap", "share"}

func ofEachEngine(t *testing.T, o virtual.Options, test func(t *testing.T, c cluster.Cluster, engine string)) {
	t.Helper()
	for _, engine := range engines {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			virtual.Test(t, o, func(t *testing.T, c *virtual.Cluster) { test(t, c, engine) })
		})
	}
}

func TestQueueSettles(t *testing.T) {
	t.Parallel()
	ofEachEngine(t, virtual.Options{}, func(t *testing.T, c cluster.Cluster, engine string) {
		most := "3"
		if engine == "plain" {
			most = "0"
		}
		r := run(t, config(t, c, ofQueue(t, "settles", engine, "consume.queue.max_deliveries="+most)))
		q := wantQueueBooks(t, r)
		wantCount(t, "deliveries", q.Received, queued)
		wantCount(t, "redelivered, dropped, nacked, dead, expired", q.Redelivered+q.Dropped+q.Nacked+q.DeadLettered+q.Expired, 0)
		if q.Cost == nil || q.Cost.ClientRequestsPerRecord <= 0 || q.Cost.ClientReadBytesPerRecord < 100 {
			t.Errorf("cost: %+v", q.Cost)
		}
		const lingering = 20 // records that are due in the last 5 ms, and acknowledged later
		if inWindow := q.AckedPerS; inWindow > queued || inWindow < queued-lingering {
			t.Errorf("%v of %d records were acknowledged in the window", inWindow, queued)
		}
		wantNoTopics(t, c)
	})
}

// The killed consumer is not restarted, because a rebalance of one member takes no time. In a
// longer rebalance, kgo's commit waits in a mutex and stops the bubble's clock.
func TestQueueKill(t *testing.T) {
	t.Parallel()
	ofEachEngine(t, virtual.Options{}, func(t *testing.T, c cluster.Cluster, engine string) {
		f, inHand := wantKilled(t, c, engine, "consume.consumers=2", "faults=[{at: 2000500us, kill: consumer 0}]") // when no thread wakes
		if inHand == 0 {
			t.Errorf("the killed consumer had nothing in hand: %+v", f)
		}
	})
}

// wantKilled kills a consumer two seconds into the window. Each of at most four consumers has a
// partition with 12 records a second and can process 8, so all its threads are busy. It returns the
// fault, and the number of records in the consumer's hands.
func wantKilled(t *testing.T, c cluster.Cluster, engine string, overrides ...string) (result.Fault, int64) {
	t.Helper()
	overrides = append(overrides, "load.rate=50/s", "phases.measure=3s", "consume.work=1s",
		"consume.queue.threads=8", "consume.queue.batch=1")
	if engine != "share" {
		overrides = append(overrides, "consume.session_timeout=6s")
	}
	if engine == "markers" || engine == "offsetmap" {
		overrides = append(overrides, "consume.queue.visibility=3s")
	}
	r := run(t, config(t, c, ofQueue(t, "kill-"+engine, engine, overrides...)))
	q, f := wantQueueBooks(t, r), r.Run.Faults[0]
	if q.Lateness != nil {
		wantCount(t, "early redeliveries", q.Lateness.Negative, 0)
	}
	if q.Redelivered < q.Unsettled {
		t.Errorf("%d redelivered, of %d in hand", q.Redelivered, q.Unsettled)
	}
	if f.Name != "kill" || !strings.Contains(f.Detail, "had not settled") {
		t.Errorf("the fault: %+v", f)
	}
	return f, q.Unsettled
}

func TestQueueFill(t *testing.T) {
	t.Parallel()
	// No FetchDelay: kgo's commit during a rebalance waits in a mutex and stops the bubble's clock,
	// so a rebalance must take no time.
	ofEachEngine(t, virtual.Options{}, func(t *testing.T, c cluster.Cluster, engine string) {
		wantFillDrained(t, c, engine, queued)
	})
}

func wantFillDrained(t *testing.T, c cluster.Cluster, engine string, n int64) {
	t.Helper()
	r := run(t, config(t, c, ofQueue(t, "fill-"+engine, engine,
		"load.producers=0", fmt.Sprintf("topic.fill=%dB", 100*n), "phases.measure=30s", "consume.work=1ms")))
	q := r.Run.Queue
	wantValid(t, r)
	wantCount(t, "acknowledged", q.UniqueAcked, n)
	wantCount(t, "received", q.Received, n)
	wantCount(t, "pending and lost", q.Pending+q.Lost, 0)
	window := time.Duration(r.Run.Run.Phases[1].EndNs).Seconds()
	if got := q.AckedPerS * window; math.Abs(got-float64(n)) > 1 || !r.Run.Lag.Drained || window >= 30 {
		t.Errorf("%v/s over %v s; drained: %t", q.AckedPerS, window, r.Run.Lag.Drained)
	}
}

func TestQueueRefused(t *testing.T) {
	t.Parallel()
	virtual.Test(t, virtual.Options{}, func(t *testing.T, c *virtual.Cluster) {
		s := ofQueue(t, "refused", "markers", "load.record.size=40B")
		_, err := bench.Run(context.Background(), config(t, c, s))
		if err == nil || !strings.Contains(err.Error(), "records of at least 44 bytes") {
			t.Errorf("the error is %v", err)
		}
	})
}

// cutter deletes the content of a run's topic at a time of the measured window.
type cutter struct {
	admin  *kadm.Client
	prefix string
	at     time.Duration
	done   chan error
	// started is the sum of the partitions' start offsets after the deletion.
	started int64
}

func (*cutter) Began(string)             {}
func (*cutter) Interval(result.Interval) {}

func (c *cutter) Event(e result.Event) {
	if e.Kind == "phase" && e.What == "measure" {
		time.AfterFunc(c.at, func() { c.done <- c.cut() })
	}
}

func (c *cutter) cut() error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	topics, err := c.admin.ListTopics(ctx)
	if err != nil {
		return err
	}
	for _, name := range topics.Names() {
		if !strings.HasPrefix(name, c.prefix) {
			continue
		}
		ends, err := c.admin.ListEndOffsets(ctx, name)
		if err != nil {
			return err
		}
		if _, err := c.admin.DeleteRecords(ctx, ends.Offsets()); err != nil {
			return err
		}
		ends.Each(func(o kadm.ListedOffset) { c.started += o.Offset })
	}
	return nil
}

// Deleted records neither acknowledged nor fetched are lost, which is found before the drain's
// timeout.
func TestQueueLoses(t *testing.T) {
	t.Parallel()
	virtual.Test(t, virtual.Options{}, func(t *testing.T, c *virtual.Cluster) { wantLosses(t, c) })
}

func wantLosses(t *testing.T, c cluster.Cluster) {
	t.Helper()
	s := ofQueue(t, "loses", "offsetmap", "phases.measure=4s", "consume.consumers=1",
		"consume.queue={engine: offsetmap, visibility: 2s, in_flight: 10, batch: 1}", "faults=[{at: 1s, pause: consumer 0, for: 2s}]")
	cfg := config(t, c, s)
	cut := &cutter{admin: kadm.NewClient(client(t, c)), prefix: "kafka-bench-loses-", at: 2 * time.Second, done: make(chan error, 1)}
	cfg.Watch = cut
	r := run(t, cfg)
	if err := <-cut.done; err != nil {
		t.Fatal(err)
	}
	wantValid(t, r)
	q := r.Run.Queue
	var before int64 // acknowledged before the deletion
	for _, iv := range r.Intervals {
		if iv.EndNs <= int64(2*time.Second) {
			before += *iv.AckedByQueue
		}
	}
	// The consumer has up to 50 deleted records: at most ten in flight, including those in work,
	// and others of the same poll in its client.
	if least, most := cut.started-before-50, cut.started-before; cut.started == 0 || q.Lost < least || q.Lost > most {
		t.Errorf("%d are lost; %d were deleted when %d of them were acknowledged", q.Lost, cut.started, before)
	}
	wantCount(t, "pending", q.Pending, 0)
	wantCount(t, "acknowledged or lost", q.UniqueAcked+q.Lost, r.Run.Load.Acked)
	wantWarning(t, r, "LOST: ")
	if drain := r.Run.Run.Phases[2]; time.Duration(drain.EndNs-drain.StartNs) > 40*time.Second {
		t.Errorf("the drain took %v", time.Duration(drain.EndNs-drain.StartNs))
	}
}
