package truth

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/bench"
)

// queueing is 20,000 records in four seconds for two consumers at a queue; no warm-up, so
// that the topics hold nothing else.
const queueing = `
topic: {partitions: 4}
load: {rate: 5k/s, record: {size: 100B, payload: random}, compression: none, partitioning: round-robin}
consume: {consumers: 2, commit: 100ms, queue: {engine: %s, threads: 4, in_flight: 30000}}
phases: {warmup: 0s, measure: 4s, drain: 1m}
sampling: {interval: 100ms, lag: 100ms}
cluster: {metrics: none}
`

const queued = 20_000

// ofQueue is a scenario with a queue.
func ofQueue(t *testing.T, name, engine string, overrides ...string) scenario.Scenario {
	t.Helper()
	s, err := scenario.Parse(name+".yaml", fmt.Appendf(nil, queueing, engine), overrides...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// wantQueueBooks fails the test unless everything that the brokers have acknowledged is
// acknowledged by the application or a dead letter, and each delivery has its place.
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
	var acked, again int64
	for _, iv := range r.Intervals {
		acked, again = acked+*iv.AckedByQueue, again+*iv.Redelivered
	}
	if r.Run.Warmup.Load.Acked == 0 {
		wantCount(t, "acknowledged by the intervals", acked, q.UniqueAcked)
		wantCount(t, "redelivered by the intervals", again, q.Redelivered)
	}
	if !r.Run.Lag.Drained {
		t.Error("the run has not drained")
	}
	return q
}

// wantArithmetic fails the test unless deliveries per record are what the drops come to,
// each attempt has as much of the one before as is dropped, and nothing came early.
func wantArithmetic(t *testing.T, q *result.Queue, each, share float64) {
	t.Helper()
	if got := *q.DeliveriesPerRecord; math.Abs(got-each)/each > 0.02 || math.Abs(q.ExpectedDeliveriesPerRecord-each) > 1e-9 {
		t.Errorf("%v deliveries per record, and %v expected; want %v", got, q.ExpectedDeliveriesPerRecord, each)
	}
	for i, part := range q.Tail {
		if q.DeliveriesByAttempt[i] >= 2000 && math.Abs(part-share)/share > 0.1 {
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

// dropping are the runs whose applications drop half of what they are handed.
var dropping = []struct {
	name, engine string
	queue        string  // further keys of the queue
	most         float64 // deliveries; 0 is no bound
}{
	{"markers-silent", "markers", "drop: {share: 50%}, visibility: 2s", 0},
	{"markers-external", "markers", "drop: {share: 50%}, visibility: 2s, tracker: external", 0},
	{"markers-nack", "markers", "drop: {share: 50%, how: nack}, backoff: {min: 50ms, max: 200ms}", 0},
	{"markers-four", "markers", "drop: {share: 50%}, visibility: 2s, max_deliveries: 4", 4},
	{"offsetmap-silent", "offsetmap", "drop: {share: 50%}, visibility: 2s", 0},
	{"offsetmap-nack", "offsetmap", "drop: {share: 50%, how: nack}", 0},
	{"offsetmap-five", "offsetmap", "drop: {share: 50%}, visibility: 2s, max_deliveries: 5", 5},
	{"offsetmap-keys", "offsetmap", "drop: {share: 50%, how: nack}, order: partition, max_deliveries: 4", 4},
	{"share-silent", "share", "drop: {share: 50%}, visibility: 1s, max_deliveries: 5", 5},
	{"share-nack", "share", "drop: {share: 50%, how: nack}, max_deliveries: 4", 4},
}

// testQueueDrops: half of all deliveries are not acknowledged. How often a record is
// delivered is a matter of arithmetic, the topics hold what the books say of copies and
// dead letters, and every redelivery comes at its deadline or after it.
func testQueueDrops(t *testing.T) {
	kafka := realKafka(t)
	for _, c := range dropping {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := ofQueue(t, c.name, c.engine, "consume.queue={engine: "+c.engine+", threads: 4, in_flight: 30000, "+c.queue+"}")
			cfg := config(t, kafka, s)
			cfg.KeepTopics = true
			r := undisturbed(t, func() *result.Recorded {
				r := run(t, cfg)
				wantQueueBooks(t, r)
				return r
			}, heldUp)
			q := r.Run.Queue
			const share = 0.5
			each := 1 / (1 - share)
			if c.most > 0 {
				each *= 1 - math.Pow(share, c.most)
				wantDeadLetters(t, kafka, r, queued*math.Pow(share, c.most))
			} else {
				wantCount(t, "dead letters", q.DeadLettered, 0)
			}
			wantCount(t, "records", r.Run.Load.Acked, queued)
			wantArithmetic(t, q, each, share)
			wantTimesOfQueue(t, r, s)
			if c.engine == "markers" {
				copies := recordsIn(t, kafka, r.Run.Run.Topic) - queued
				wantCount(t, "copies in the topic", copies, q.Tailed)
				if c.most == 0 {
					wantCount(t, "copies of what came again", copies, q.Redelivered)
				}
			}
		})
	}
}

// heldUp says that locks ran out of records that nobody had been handed, or that a handler
// was too late for: the machine had others to serve, and what the queue delivers to nobody
// is a delivery to it, and none to the application.
func heldUp(r *result.Recorded) string {
	q := r.Run.Queue
	silent := q.Dropped > 0 && q.Engine != "share" // whose locks are the brokers'
	if q.AttemptsDiffer == 0 && len(q.GivenUp) == 0 && (!silent || q.Expired == q.Dropped) {
		return ""
	}
	return fmt.Sprintf("%d deliveries have another attempt for the queue, %v were given up, and %d locks ran out where %d were dropped", q.AttemptsDiffer, q.GivenUp, q.Expired, q.Dropped)
}

// wantTimesOfQueue fails the test unless first deliveries and later ones have times of
// their own.
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

// wantDeadLetters fails the test unless about so many records are dead letters, and the
// topic of theirs holds as many as the books.
func wantDeadLetters(t *testing.T, kafka *cluster.Kafka, r *result.Recorded, about float64) {
	t.Helper()
	dead := float64(r.Run.Queue.DeadLettered)
	if math.Abs(dead-about) > 4*math.Sqrt(about) {
		t.Errorf("%v dead letters, want about %v", dead, about)
	}
	wantCount(t, "records in the topic of the dead letters", recordsIn(t, kafka, r.Run.Run.Topic+"-dead"), r.Run.Queue.DeadLettered)
}

// recordsIn is how many records a topic's partitions hold together, by their ends.
func recordsIn(t *testing.T, kafka *cluster.Kafka, topic string) (sum int64) {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(kafka.Bootstrap()...))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	ends, err := kadm.NewClient(client).ListEndOffsets(ctx, topic)
	if err != nil || ends.Error() != nil {
		t.Fatal(err, ends.Error())
	}
	ends.Each(func(o kadm.ListedOffset) { sum += o.Offset })
	return sum
}

// testQueueSettles: with nothing dropped each record is delivered once and acknowledged
// once, and nothing of the run's is left behind.
func testQueueSettles(t *testing.T) {
	kafka := realKafka(t)
	for _, engine := range []string{"plain", "markers", "offsetmap", "share"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			r := run(t, config(t, kafka, ofQueue(t, "settles", engine, "consume.queue.max_deliveries="+map[bool]string{true: "0", false: "3"}[engine == "plain"])))
			q := wantQueueBooks(t, r)
			wantCount(t, "deliveries", q.Received, queued)
			wantCount(t, "redelivered, dropped, nacked, dead, expired", q.Redelivered+q.Dropped+q.Nacked+q.DeadLettered+q.Expired, 0)
			if q.Cost == nil || q.Cost.ClientRequestsPerRecord <= 0 || q.Cost.ClientReadBytesPerRecord < 100 {
				t.Errorf("cost: %+v", q.Cost)
			}
			// What was acknowledged after the window is no part of the rate: on a busy machine
			// that is more than nothing.
			if inWindow := q.AckedPerS * 4; inWindow > queued || inWindow < queued/4 {
				t.Errorf("%v of %d records were acknowledged in the window", inWindow, queued)
			}
			wantQueueGone(t, kafka, r.Run.Run.Topic)
		})
	}
}

// wantQueueGone fails the test if topics or groups of a run are left.
func wantQueueGone(t *testing.T, kafka *cluster.Kafka, of string) {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(kafka.Bootstrap()...))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	admin := kadm.NewClient(client)
	topics, err := admin.ListTopics(ctx)
	if err != nil {
		t.Fatal(err)
	}
	groups, err := admin.ListGroups(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Concat(topics.Names(), groups.Groups()) {
		if strings.HasPrefix(name, of) {
			t.Errorf("%s is left", name)
		}
	}
}

// testQueueKill: a consumer is killed with records in hand. What it had is delivered
// again, and nothing is lost.
func testQueueKill(t *testing.T) {
	kafka := realKafka(t)
	for _, engine := range []string{"plain", "markers", "offsetmap", "share"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			overrides := []string{
				"load.rate=1k/s", "phases.warmup=2s", "phases.measure=6s", "faults=[{at: 2s, kill: consumer 0, for: 1s}]",
				"consume.work=10ms", "consume.queue.threads=8", "consume.consumers=3",
			}
			if engine != "share" {
				overrides = append(overrides, "consume.session_timeout=6s")
			}
			if engine == "markers" || engine == "offsetmap" {
				overrides = append(overrides, "consume.queue.visibility=3s")
			}
			r := undisturbed(t, func() *result.Recorded {
				r := run(t, config(t, kafka, ofQueue(t, "kill-"+engine, engine, overrides...)))
				wantQueueBooks(t, r)
				return r
			}, nothingInHand)
			q := r.Run.Queue
			if shows := nothingInHand(r); shows != "" {
				t.Error(shows)
			}
			if q.Lateness != nil {
				wantCount(t, "early redeliveries", q.Lateness.Negative, 0)
			}
			if q.Redelivered < q.Unsettled || engine != "plain" && q.Redelivered > 5000 {
				t.Errorf("%d redelivered, of %d in hand", q.Redelivered, q.Unsettled)
			}
			if f := r.Run.Faults[0]; f.Name != "kill" || f.EndNs == nil || !strings.Contains(f.Detail, "had not settled") {
				t.Errorf("the fault: %+v", f)
			}
		})
	}
}

// nothingInHand says that a killed consumer had nothing to do at that moment, as may be
// where the machine had others to serve.
func nothingInHand(r *result.Recorded) string {
	if r.Run.Queue.Unsettled > 0 {
		return ""
	}
	return fmt.Sprintf("the killed consumer had nothing in hand: %+v", *r.Run.Queue)
}

// testQueueFill: a topic that was filled is drained through a queue, and the window ends
// with the last acknowledgement.
func testQueueFill(t *testing.T) {
	kafka := realKafka(t)
	for _, engine := range []string{"plain", "markers", "offsetmap", "share"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			r := run(t, config(t, kafka, ofQueue(t, "fill-"+engine, engine, "load.producers=0", "topic.fill=2MB", "phases.measure=30s")))
			q := r.Run.Queue
			wantValid(t, r)
			wantCount(t, "acknowledged", q.UniqueAcked, queued)
			wantCount(t, "received", q.Received, queued)
			wantCount(t, "pending and lost", q.Pending+q.Lost, 0)
			window := time.Duration(r.Run.Run.Phases[1].EndNs).Seconds()
			if got := q.AckedPerS * window; math.Abs(got-queued) > 1 || !r.Run.Lag.Drained || window >= 30 {
				t.Errorf("%v/s over %v s; drained: %t", q.AckedPerS, window, r.Run.Lag.Drained)
			}
		})
	}
}

// A queue that was asked for what it can't do ends before anything is made.
func TestQueueRefused(t *testing.T) {
	e := embedded(t, cluster.EmbeddedOptions{})
	s := ofQueue(t, "refused", "markers", "load.record.size=40B")
	_, err := bench.Run(context.Background(), config(t, e, s))
	if err == nil || !strings.Contains(err.Error(), "records of at least 44 bytes") {
		t.Errorf("the error is %v", err)
	}
}

// cutter deletes what a run's topic holds at a time of the measured window.
type cutter struct {
	t      *testing.T
	kafka  *cluster.Kafka
	prefix string
	at     time.Duration
	done   chan struct{}
	// started is the offset in each partition where it starts then, in all.
	started int64
}

func (*cutter) Began(string)             {}
func (*cutter) Interval(result.Interval) {}

func (c *cutter) Event(e result.Event) {
	if e.Kind == "phase" && e.What == "measure" {
		go func() {
			defer close(c.done)
			time.Sleep(c.at)
			c.cut()
		}()
	}
}

func (c *cutter) cut() {
	client, err := kgo.NewClient(kgo.SeedBrokers(c.kafka.Bootstrap()...))
	if err != nil {
		c.t.Error(err)
		return
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	admin := kadm.NewClient(client)
	topics, err := admin.ListTopics(ctx)
	if err != nil {
		c.t.Error(err)
		return
	}
	for _, name := range topics.Names() {
		if !strings.HasPrefix(name, c.prefix) {
			continue
		}
		ends, err := admin.ListEndOffsets(ctx, name)
		if err != nil {
			c.t.Error(err)
			return
		}
		if _, err := admin.DeleteRecords(ctx, ends.Offsets()); err != nil {
			c.t.Error(err)
		}
		ends.Each(func(o kadm.ListedOffset) { c.started += o.Offset })
	}
}

// testQueueLoses: while the one consumer stands still, with ten records fetched ahead, what
// the topic holds is deleted. The queue then has nothing any more, and what was neither
// acknowledged nor fetched is lost: that is found before the drain's time is over.
func testQueueLoses(t *testing.T) {
	kafka := realKafka(t)
	s := ofQueue(t, "loses", "offsetmap", "load.rate=1k/s", "consume.consumers=1", "phases.drain=1m",
		"consume.queue={engine: offsetmap, visibility: 2s, in_flight: 10, batch: 1}", "faults=[{at: 1s, pause: consumer 0, for: 2s}]")
	cfg := config(t, kafka, s)
	c := &cutter{t: t, kafka: kafka, prefix: "kafka-bench-loses-", at: 2 * time.Second, done: make(chan struct{})}
	cfg.Watch = c
	r := run(t, cfg)
	<-c.done
	wantValid(t, r)
	q := r.Run.Queue
	var before int64 // that were acknowledged before the deletion
	for _, iv := range r.Intervals {
		if iv.EndNs <= int64(2*time.Second) {
			before += *iv.AckedByQueue
		}
	}
	// In flight are ten, and one in hand; what a poll brought beside them is known by the client.
	if least, most := c.started-before-50, c.started-before; c.started == 0 || q.Lost < least || q.Lost > most {
		t.Errorf("%d are lost; %d were deleted when %d of them were acknowledged", q.Lost, c.started, before)
	}
	wantCount(t, "pending", q.Pending, 0)
	wantCount(t, "acknowledged or lost", q.UniqueAcked+q.Lost, r.Run.Load.Acked)
	wantWarning(t, r, "LOST: ")
	if drain := r.Run.Run.Phases[2]; time.Duration(drain.EndNs-drain.StartNs) > 40*time.Second {
		t.Errorf("the drain took %v", time.Duration(drain.EndNs-drain.StartNs))
	}
}
