package truth

import (
	"sync"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/kafka/driver/franz"
	"kafkabench.example/kafka-bench/internal/measure/latency"
	"kafkabench.example/kafka-bench/internal/project/virtual"
)

func TestWitness(t *testing.T) {
	t.Parallel()
	o := virtual.Options{ProduceDelay: 30 * time.Millisecond, FetchDelay: 70 * time.Millisecond}
	virtual.Test(t, o, func(t *testing.T, c *virtual.Cluster) {
		w := newWitness()
		r := run(t, withDriver(config(t, c, smallScenario(t, "witness")), w.watch(franz.New())))
		wantValid(t, r)
		wantBalance(t, r)
		wantCount(t, "acked", r.Run.Load.Acked, w.with(driver.Acked, true))
		wantCount(t, "acked in the warm-up", r.Run.Warmup.Load.Acked, w.with(driver.Acked, false))
		wantCount(t, "settled twice", int64(w.twice), 0)
		for metric, came := range map[string]map[identity]time.Time{
			"send_service_time": w.settledAt(), "e2e_service_time": w.polledAt,
		} {
			seen, told := w.took(came), r.Run.Time[metric]
			wantCount(t, metric, told.Count, seen.Count)
			for what, of := range map[string][2]int64{
				"min": {told.MinNs, seen.MinNs}, "p50": {told.P50Ns, seen.P50Ns}, "p90": {told.P90Ns, seen.P90Ns},
				"p99": {told.P99Ns, seen.P99Ns}, "max": {told.MaxNs, seen.MaxNs},
			} {
				wantTime(t, metric+" "+what, of[0], time.Duration(of[1]))
			}
		}
	})
}

func (w *witness) took(came map[identity]time.Time) latency.Distribution {
	h := latency.NewHistogram()
	for id, s := range w.settled {
		if s.measured {
			h.Record(int64(came[id].Sub(w.sent[id])))
		}
	}
	return h.Distribution()
}

// witness keeps every single record. The tool itself cannot: a long run has too many.
type witness struct {
	mu      sync.Mutex
	sent    map[identity]time.Time
	settled map[identity]settlement
	twice   int // settled twice, which no driver may do
	// A record is delivered to the application between the poll that first returned it and the
	// moment when the application has finished its chunk.
	polledAt, handledAt map[identity]time.Time
}

type settlement struct {
	outcome  driver.Outcome
	offset   int64
	measured bool
	at       time.Time
}

func newWitness() *witness {
	return &witness{
		sent: make(map[identity]time.Time), settled: make(map[identity]settlement),
		polledAt: make(map[identity]time.Time), handledAt: make(map[identity]time.Time),
	}
}

func (w *witness) watch(d driver.Driver) *tapped {
	return &tapped{Driver: d, produce: w.produced, done: w.done, poll: w.polled}
}

func (w *witness) produced(r *driver.Record, _ func(driver.Done)) bool {
	_, id, _ := stampOf(r.Stamp, r.Value)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sent[id] = time.Now()
	return true
}

func (w *witness) done(d driver.Done, pass func(driver.Done)) {
	defer pass(d)
	at := time.Now()
	stamp, id, _ := stampOf(d.Stamp, d.Value)
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, before := w.settled[id]; before {
		w.twice++
	}
	w.settled[id] = settlement{outcome: d.Outcome, offset: d.Offset, measured: stamp.Intended >= 0, at: at}
}

func (w *witness) polled(chunks []driver.Chunk) []driver.Chunk {
	at := time.Now()
	for i, c := range chunks {
		var ids []identity
		for _, r := range c.Records {
			if _, id, ok := stampOf(r.Stamp, r.Value); ok {
				ids = append(ids, id)
			}
		}
		w.note(w.polledAt, ids, at)
		chunks[i].Free = func() {
			w.note(w.handledAt, ids, time.Now())
			if c.Free != nil {
				c.Free()
			}
		}
	}
	return chunks
}

func (w *witness) note(when map[identity]time.Time, ids []identity, at time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, id := range ids {
		if _, before := when[id]; !before {
			when[id] = at
		}
	}
}

func (w *witness) settledAt() map[identity]time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	at := make(map[identity]time.Time, len(w.settled))
	for id, s := range w.settled {
		at[id] = s.at
	}
	return at
}

func (w *witness) with(outcome driver.Outcome, measured bool) (n int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range w.settled {
		if s.outcome == outcome && s.measured == measured {
			n++
		}
	}
	return n
}
