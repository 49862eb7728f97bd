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
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/observe"
	"kafkabench.example/kafka-bench/kmq"
)

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

func TestTraffic(t *testing.T) {
	var tr traffic
	for key, n := range []int{1, 3} {
		for range n {
			tr.OnBrokerE2E(kgo.BrokerMetadata{}, int16(key), kgo.BrokerE2E{BytesWritten: 20, BytesRead: 2000})
		}
	}
	got := tr.reading()
	if r := got.Requests; r["Fetch"] != 3 || r["Produce"] != 1 || len(r) != 2 || got.Written != 80 || got.Read != 8000 {
		t.Errorf("%+v", got)
	}
}

func TestQueueLog(t *testing.T) {
	w, err := result.Create(t.TempDir(), "log", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	var seen eventsSeen
	axis := load.NewAxis(nil)
	j := observe.NewJournal(axis, w, &seen)
	j.SetAxis(0, time.Second)
	l := &queueLog{axis: axis, journal: j}
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

func TestErrorsOfAQueue(t *testing.T) {
	for from, to := range map[error]error{kmq.ErrExpired: queued.ErrLockExpired, kmq.ErrLost: queued.ErrLockLost, nil: nil} {
		if got := inLoadsWords(from); !errors.Is(got, to) || !errors.Is(got, from) {
			t.Errorf("%v is %v", from, got)
		}
	}
}

func TestTailsOfWork(t *testing.T) {
	w := work(scenario.Work{Median: unit.Duration(time.Millisecond), Sigma: 1, Distribution: "lognormal"})
	if want := time.Duration(1e6 * math.Exp(0.5)); (w.Time-want).Abs() > time.Microsecond || w.Distribution != "lognormal" || w.Jitter < w.Time {
		t.Errorf("%+v, want a mean of %v", w, want)
	}
}
