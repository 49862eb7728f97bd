package truth

import (
	"sort"
	"sync"
	"syscall"
	"testing"
	"time"

	"kafka-bench/internal/cluster"
	"kafka-bench/internal/driver/franz"
	"kafka-bench/internal/latency"
	"kafka-bench/internal/result"
	"kafka-bench/internal/scenario"
)

const (
	stallLength = 3 * time.Second
	stallRate   = 2000
	stallWindow = 20 * time.Second
)

// stall freezes a broker a while after the measured window began.
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

// stallScenario is a constant load on three partitions. Every record may be in
// flight, so that none waits for another's answer but the broker's own.
func stallScenario(t *testing.T, name string, overrides ...string) scenario.Scenario {
	t.Helper()
	return smallScenario(t, name, append([]string{
		"topic.partitions=3", "load.rate=2k/s", "phases.warmup=1s", "phases.measure=20s",
	}, overrides...)...)
}

// testStall freezes the broker (SIGSTOP) for 3 s of a run of 20 s and compares
// the response times with arithmetic.
//
// A record that comes due u after the broker froze is acknowledged once it woke,
// S after it froze. If all were acknowledged at that moment, its response time
// would be S − u: a uniform tail up to S, and the share of all records above x
// would be (S − x) / T. But it takes the broker a moment c until it gives its
// first answer, and until the moment C it catches up with what waited, in the
// order in which it came due. So that record is acknowledged at
//
//	S + c + (C − c) · u/S          and its response time is above x while
//
//	u < (S + c − x) / (1 − (C − c)/S)
//
//	response │╲  S + c
//	         │  ╲
//	       x │────╲───────────
//	         │      ╲  C
//	         └────────┴─────── u
//	              ↑   S
//
// And the stall is longer for the records than for the broker: it begins for the
// oldest that was on its way when the broker froze. All this is taken by a
// witness at the driver, and not from the histograms that are to be tested. The
// test tells as well how far the shares are off without it: by some hundredths.
func testStall(t *testing.T) *result.Recorded {
	k := realKafka(t)
	run(t, config(t, k, stallScenario(t, "warm", "phases.measure=3s"))) // the broker's JIT, not the stall

	s := &stall{broker: k.Brokers()[0], after: 8 * time.Second, over: make(chan struct{})}
	w := newWitness()
	cfg := withDriver(config(t, k, stallScenario(t, "stall")), w.watch(franz.New()))
	cfg.Watch = s
	r := run(t, cfg)
	<-s.over
	if s.err != nil {
		t.Fatal(s.err)
	}
	wantValid(t, r)
	wantBalance(t, r)
	wantHistograms(t, r)
	wantSeries(t, r)
	wantNoTopics(t, k)
	wantCount(t, "scheduled", r.Run.Load.Scheduled, stallRate*int64(stallWindow/time.Second))
	wantCount(t, "unique", r.Run.Delivery.Unique, r.Run.Load.Scheduled)

	st := w.standstill(s.frozen, s.woke)
	t.Logf("the broker stood still for %v, from %v after the oldest record on its way was sent; it gave its first answer %v later, and had caught up after %v",
		st.length, st.before, st.first, st.caughtUp)
	totals := histograms(t, r)
	for _, metric := range []string{"send_response_time", "e2e_response_time"} {
		if longest := time.Duration(r.Run.Time[metric].MaxNs); longest < stallLength {
			t.Errorf("%s: the longest is %v, and the broker stood still for %v", metric, longest, stallLength)
		}
		wantTail(t, metric, totals[metric], st)
	}
	return r
}

// wantTail compares the share of values above x with arithmetic, for x from a
// sixth to five sixths of the stall.
func wantTail(t *testing.T, metric string, h *latency.Histogram, st standstill) {
	t.Helper()
	for sixth := 1; sixth <= 5; sixth++ {
		x := stallLength * time.Duration(sixth) / 6
		length := st.before + st.length
		slope := 1 - (st.caughtUp-st.first).Seconds()/length.Seconds()
		want := (length + st.first - x).Seconds() / slope / stallWindow.Seconds()
		naive := (stallLength - x).Seconds() / stallWindow.Seconds()
		got := shareAbove(h, x)
		t.Logf("%s above %v: %.3f %% of the records, arithmetic says %.3f %% (off by %+.1f %%; %+.1f %% uncorrected)",
			metric, x, 100*got, 100*want, 100*(got/want-1), 100*(got/naive-1))
		if got < 0.95*want || got > 1.05*want {
			t.Errorf("%s: %.3f %% of the records are above %v, and should be %.3f %%", metric, 100*got, x, 100*want)
		}
	}
}

// shareAbove is the share of values above x, by the rank of the last that is not.
func shareAbove(h *latency.Histogram, x time.Duration) float64 {
	n := int(h.Count())
	rank := sort.Search(n, func(i int) bool { return h.Percentile(100*float64(i+1)/float64(n)) > int64(x) })
	return float64(n-rank) / float64(n)
}

// standstill is what a witness saw of a stall.
type standstill struct {
	before   time.Duration // from the sending of the oldest record on its way until the broker froze
	length   time.Duration // until it woke
	first    time.Duration // from then until its first answer
	caughtUp time.Duration // until the last answer to what was sent before it woke
}

func (w *witness) standstill(frozen, woke time.Time) standstill {
	st := standstill{length: woke.Sub(frozen)}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range w.settled {
		if s.at.Before(woke) || s.sent.After(woke) {
			continue
		}
		at := s.at.Sub(woke)
		if st.first == 0 || at < st.first {
			st.first = at
		}
		st.caughtUp = max(st.caughtUp, at)
		st.before = max(st.before, frozen.Sub(s.sent))
	}
	return st
}
