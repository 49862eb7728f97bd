package bench

import (
	"errors"
	"log/slog"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/load/queued"
	"kafkabench.example/kafka-bench/internal/measure/ledger"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/kmq"
)

// A queue is asked whether it is empty when nothing has happened for long, and then again
// after as long.
func TestQuiet(t *testing.T) {
	q := newQuiet(10 * time.Second)
	at := func(s int, delivered, acked int64) bool {
		return q.look(time.Unix(int64(s), 0), snapshot.Received{Delivered: delivered}, snapshot.QueueTotal{Acked: acked})
	}
	for _, look := range []struct {
		s                int
		delivered, acked int64
		want             bool
	}{
		{0, 5, 5, false}, {9, 5, 5, false}, {10, 5, 5, true}, {15, 5, 5, false}, {20, 5, 5, true},
		{25, 6, 5, false}, {34, 6, 5, false}, {34, 6, 6, false}, {44, 6, 6, true},
	} {
		if got := at(look.s, look.delivered, look.acked); got != look.want {
			t.Errorf("after %d s with %d delivered and %d acknowledged: %t", look.s, look.delivered, look.acked, got)
		}
	}
}

// What was not handed over is in the queue, unless that has nothing any more; the books
// balance either way.
func TestBooksOfAQueue(t *testing.T) {
	sender, receiver := ledger.NewSender(0, 1), ledger.NewReceiver(0, 1)
	for i := range 10 {
		sender.Acked(0, sender.Next(0, true), int64(i))
		if i != 3 && i != 9 {
			receiver.Deliver(0, uint64(i), true)
		}
	}
	for _, empty := range []bool{false, true} {
		r := &run{queue: &queue{empty: empty}}
		b := r.ofQueue(ledger.Close([]*ledger.Sender{sender}, []*ledger.Receiver{receiver}, func(int32) int64 { return -1 })).Measured
		want := [2]int64{0, 2}
		if empty {
			want = [2]int64{2, 0}
		}
		if got := [2]int64{b.Lost, b.Pending}; got != want || len(b.Imbalance()) > 0 {
			t.Errorf("empty %t: lost and pending are %v, want %v; %v", empty, got, want, b.Imbalance())
		}
	}
}

func TestCheckQueue(t *testing.T) {
	s := scenario.Defaults()
	s.Load.Record.Size = scenario.FixedSize(43)
	if err := CheckQueue(s); err != nil {
		t.Errorf("without a queue: %v", err)
	}
	s.Consume.Queue.Engine = "markers"
	if err := CheckQueue(s); err == nil || !strings.Contains(err.Error(), "at least 44 bytes") {
		t.Errorf("with records too small: %v", err)
	}
	s.Load.Record.Size = scenario.FixedSize(44)
	if err := CheckQueue(s); err != nil {
		t.Error(err)
	}
}

// The clients' requests are counted by type, and a stretch is a difference.
func TestTraffic(t *testing.T) {
	var tr traffic
	tr.OnBrokerE2E(kgo.BrokerMetadata{}, 0, kgo.BrokerE2E{BytesWritten: 100, BytesRead: 10})
	before := tr.reading()
	for range 3 {
		tr.OnBrokerE2E(kgo.BrokerMetadata{}, 1, kgo.BrokerE2E{BytesWritten: 20, BytesRead: 2000})
	}
	tr.OnBrokerE2E(kgo.BrokerMetadata{}, 0, kgo.BrokerE2E{BytesWritten: 100, BytesRead: 10})
	since := tr.reading().since(before)
	all, sum := since.byType()
	if sum != 4 || all["Fetch"] != 3 || all["Produce"] != 1 || len(all) != 2 || since.written != 160 || since.read != 6010 {
		t.Errorf("%v, %d in all, %d written, %d read", all, sum, since.written, since.read)
	}
}

// The cost of a record is of those that were acknowledged in the window; that of the
// brokers is none where one of them did not tell.
func TestQueueCost(t *testing.T) {
	r := &run{axis: load.NewAxis(nil), queue: &queue{}}
	r.axis.Set(0, 10*time.Second)
	if c := r.queueCost(nil); c != nil {
		t.Errorf("nothing was acknowledged: %+v", c)
	}
	r.atStart.queue.totals.Acked = 100
	r.atEnd.queue.totals.Acked = 1100
	r.atEnd.queue.traffic.written, r.atEnd.queue.traffic.read = 50_000, 150_000
	r.atEnd.queue.traffic.requests[1] = 250
	in, out := 20_000., 60_000.
	told := result.Broker{Metrics: &result.BrokerMetrics{BytesInPerS: &in, BytesOutPerS: &out, Requests: []result.RequestUse{{Type: "Fetch", Count: 400}, {Type: "Produce", Count: 100}}}}
	c := r.queueCost([]result.Broker{told, told})
	if c.ClientRequestsPerRecord != 0.25 || c.ClientWrittenBytesPerRecord != 50 || c.ClientReadBytesPerRecord != 150 || c.ClientRequests["Fetch"] != 250 {
		t.Errorf("of the clients: %+v", c)
	}
	if c.BrokerRequestsPerRecord == nil || *c.BrokerRequestsPerRecord != 1 || math.Abs(*c.BrokerBytesInPerRecord-400) > 1e-9 || math.Abs(*c.BrokerBytesOutPerRecord-1200) > 1e-9 {
		t.Errorf("of the brokers: %+v", c)
	}
	if c := r.queueCost([]result.Broker{told, {}}); c.BrokerRequestsPerRecord != nil {
		t.Errorf("a broker did not tell: %+v", c)
	}
}

// What a queue logs is an event with what it says of it, and not more often than a person
// would read.
func TestQueueLog(t *testing.T) {
	w, err := result.Create(t.TempDir(), "log", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	var seen eventsSeen
	j := newJournal(load.NewAxis(nil), w, &seen)
	j.setAxis(0, time.Second)
	l := &queueLog{journal: j}
	logger := l.logger().With("consumer", 2).WithGroup("g")
	logger.Debug("not told")
	logger.Warn("late", "after", time.Second, "error", errors.New("why"), "n", 3, slog.String("key", "v"))
	for range 50 {
		logger.Info("again")
	}
	if n := len(seen.all); n != 1+maxTold+1 {
		t.Fatalf("%d events", n)
	}
	e := seen.all[0]
	for key, want := range map[string]any{"consumer": int64(2), "g.after": "1s", "g.error": "why", "g.n": int64(3), "g.key": "v", "level": "WARN"} {
		if e.Data[key] != want {
			t.Errorf("%s is %v (%T), want %v", key, e.Data[key], e.Data[key], want)
		}
	}
	if e.Kind != "queue" || e.What != "late" || seen.all[1].Data["level"] != nil || seen.all[maxTold+1].Reason != "and is not told any more" {
		t.Errorf("%+v and %+v", e, seen.all[maxTold+1])
	}
}

type eventsSeen struct{ all []result.Event }

func (*eventsSeen) Began(string)             {}
func (*eventsSeen) Interval(result.Interval) {}
func (s *eventsSeen) Event(e result.Event)   { s.all = append(s.all, e) }

// The words of the queue's errors are the load's, whatever is around them.
func TestErrorsOfAQueue(t *testing.T) {
	for from, to := range map[error]error{kmq.ErrExpired: queued.ErrLockExpired, kmq.ErrLost: queued.ErrLockLost, nil: nil} {
		if got := inLoadsWords(from); !errors.Is(got, to) || !errors.Is(got, from) {
			t.Errorf("%v is %v", from, got)
		}
	}
}

// What is lost, early or given up is a warning; what is to be expected of a queue is none.
func TestWarningsOfAQueue(t *testing.T) {
	r := &run{queue: &queue{}, drained: true}
	clean := &result.Run{Queue: &result.Queue{Received: 10, Redelivered: 5, Dropped: 5, Lateness: &result.Time{Count: 5}}}
	if got := r.warningsOfTheQueue(clean); len(got) > 0 {
		t.Errorf("%q", got)
	}
	r.drained = false
	bad := &result.Run{Queue: &result.Queue{
		Lost: 3, Pending: 2, AckedAgain: 4, AckedAndDead: 1, Missing: 7, GivenUp: result.Counts{"expired": 6, "lost": 8},
		Lateness: &result.Time{Negative: 9}, RetentionAlarm: "soon",
	}}
	got := strings.Join(r.warningsOfTheQueue(bad), "\n")
	for _, want := range []string{"LOST: 3 ", "not drained: 2 ", "EARLY: 9 ", "4 records were acknowledged again", "1 records are both", "6 records were worked on and not settled: their lock had run out", "8 records were worked on and not settled: their partition had moved to another member", "7 records that were to be", "retention: soon"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not among\n%s", want, got)
		}
	}
}

// Work that is said by its tail has the moments that the tail gives it.
func TestTailsOfWork(t *testing.T) {
	w := work(scenario.Work{Median: unit.Duration(time.Millisecond), Sigma: 1, Distribution: "lognormal"})
	if want := time.Duration(1e6 * math.Exp(0.5)); (w.Time-want).Abs() > time.Microsecond || w.Distribution != "lognormal" || w.Jitter < w.Time {
		t.Errorf("%+v, want a mean of %v", w, want)
	}
	if got := workWord(scenario.Work{P50: 5e6, P99: 1e8, Distribution: "lognormal"}); got != "lognormal with a p50 of 5ms and a p99 of 100ms" {
		t.Error(got)
	}
}
