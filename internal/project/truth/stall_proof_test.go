//go:build proof

package truth

import (
	"sync"
	"syscall"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/kafka/cluster/clustertest"
	"kafkabench.example/kafka-bench/internal/kafka/driver/franz"
	"kafkabench.example/kafka-bench/internal/measure/latency"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/result"
)

const (
	stallLength = 3 * time.Second
	stallRate   = 2000
	stallWindow = 20 * time.Second
)

type stall struct {
	broker *cluster.Broker
	after  time.Duration

	mu           sync.Mutex
	frozen, woke time.Time
	err          error
	over         chan struct{}
}

func (s *stall) Began(string)             {}
func (s *stall) Interval(result.Interval) {}
func (s *stall) Event(e result.Event) {
	if e.Kind == "phase" && e.What == "measure" {
		time.AfterFunc(s.after, s.freeze)
	}
}

func (s *stall) freeze() {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer close(s.over)
	if s.err = s.broker.Signal(syscall.SIGSTOP); s.err != nil {
		return
	}
	s.frozen = time.Now()
	time.Sleep(stallLength)
	s.woke = time.Now()
	s.err = s.broker.Signal(syscall.SIGCONT)
}

// Every record may be in flight, so a record waits only for the broker.
func stallScenario(t *testing.T, name string, overrides ...string) scenario.Scenario {
	t.Helper()
	return smallScenario(t, name, append([]string{
		"topic.partitions=3", "load.rate=2k/s", "phases.warmup=1s", "phases.measure=20s",
	}, overrides...)...)
}

// TestStall freezes the broker (SIGSTOP) for 3 s of a run of 20 s and compares the response times
// with arithmetic.
//
// A record that comes due u after the broker froze is acknowledged once the broker woke, S after it
// froze. If the ack took no time, the record's response time would be S − u: a uniform tail up to
// S. The share of all records above x would be (S − x) / T.
//
//	response │╲  S + c
//	         │  ╲
//	       x │────╲───────────
//	         │      ╲  C
//	         └────────┴─────── u
//	              ↑   S
//
// But of the records that waited, the first is acknowledged c after the broker woke, and the last C
// after. The stall also affects records that were sent up to b before it. So the share above x is
// between
//
//	(S + c − x) / T   and   (b + S + C − x) / T
//
// The share must be at least the first bound, within 5 %; on a busy machine it may exceed the
// second. The same holds for deliveries, with their own c, C and b. A witness at the driver
// measures all of these, without the tested histograms. The test also logs the difference to (S −
// x) / T.
func TestStall(t *testing.T) {
	k := clustertest.Own(t, 1, shortSession)
	run(t, config(t, k, stallScenario(t, "warm", "phases.measure=3s"))) // warms up the broker's JIT
	r, s, w := stalledRun(t, k)
	wantValid(t, r)
	wantBalance(t, r)
	wantHistograms(t, r)
	wantSeries(t, r)
	wantNoTopics(t, k)
	wantCount(t, "scheduled", r.Run.Load.Scheduled, stallRate*int64(stallWindow/time.Second))
	wantCount(t, "unique", r.Run.Delivery.Unique, r.Run.Load.Scheduled)

	totals := histograms(t, r)
	settled := w.settledAt()
	for metric, through := range map[string][2]map[identity]time.Time{
		"send_response_time": {settled, settled},
		"e2e_response_time":  {w.polledAt, w.handledAt},
	} {
		st := w.standstill(s.frozen, s.woke, through[0], through[1])
		t.Logf("%s: the broker stood still for %v, from %v after the oldest record on its way was sent; the first came through %v later, and the last that had waited after %v",
			metric, st.length, st.before, st.first, st.caughtUp)
		if longest := time.Duration(r.Run.Time[metric].MaxNs); longest < stallLength {
			t.Errorf("%s: the longest is %v, and the broker stood still for %v", metric, longest, stallLength)
		}
		wantTail(t, metric, totals[metric], st)
	}
}

func stalledRun(t *testing.T, k *cluster.Kafka) (*result.Recorded, *stall, *witness) {
	t.Helper()
	s, w := &stall{broker: k.Brokers()[0], after: 8 * time.Second, over: make(chan struct{})}, newWitness()
	cfg := withDriver(config(t, k, stallScenario(t, "stall")), w.watch(franz.New()))
	cfg.Watch = s
	r := run(t, cfg)
	<-s.over
	if s.err != nil {
		t.Fatal(s.err)
	}
	return r, s, w
}

// wantTail compares the share of values above x with arithmetic, for x from a sixth to five sixths
// of the stall.
func wantTail(t *testing.T, metric string, h *latency.Histogram, st standstill) {
	t.Helper()
	share := func(above time.Duration) float64 { return above.Seconds() / stallWindow.Seconds() }
	for sixth := 1; sixth <= 5; sixth++ {
		x := stallLength * time.Duration(sixth) / 6
		least, most := share(st.length+st.first-x), share(st.before+st.length+st.caughtUp-x)
		got := float64(above(h, x)) / float64(h.Count())
		t.Logf("%s above %v: %.3f %% of the records; arithmetic says %.3f to %.3f %%; uncorrected it is off by %+.1f %%",
			metric, x, 100*got, 100*least, 100*most, 100*(got/share(stallLength-x)-1))
		if got < 0.95*least { // the machine may have added to the share
			t.Errorf("%s: %.3f %% of the records are above %v, and should be %.3f %% or more", metric, 100*got, x, 100*least)
		}
	}
}

// standstill is a stall as a witness saw it.
type standstill struct {
	before   time.Duration // from the send of the oldest record in flight until the broker froze
	length   time.Duration // from then until the broker woke
	first    time.Duration // from the broker's waking until the first record came through
	caughtUp time.Duration // the same for the last record that was sent before the broker woke
}

// standstill takes bounds of the moment at which each record was acknowledged, or delivered.
func (w *witness) standstill(frozen, woke time.Time, earliest, latest map[identity]time.Time) standstill {
	st := standstill{length: woke.Sub(frozen)}
	w.mu.Lock()
	defer w.mu.Unlock()
	for id, sent := range w.sent {
		at, came := earliest[id]
		if !came || at.Before(woke) || sent.After(woke) {
			continue
		}
		if after := at.Sub(woke); st.first == 0 || after < st.first {
			st.first = after
		}
		st.caughtUp = max(st.caughtUp, latest[id].Sub(woke))
		st.before = max(st.before, frozen.Sub(sent))
	}
	return st
}
