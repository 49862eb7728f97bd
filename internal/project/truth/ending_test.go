package truth

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/kafka/driver/franz"
	"kafkabench.example/kafka-bench/internal/project/virtual"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/bench"
	"kafkabench.example/kafka-bench/internal/show/report"
)

// The interrupt comes some time after the first event that matches.
type interrupter struct {
	at    func(result.Event) bool
	after time.Duration
	fired chan struct{}
	once  sync.Once
}

func (i *interrupter) Began(string)             {}
func (i *interrupter) Interval(result.Interval) {}
func (i *interrupter) Event(e result.Event) {
	if i.at(e) {
		i.once.Do(func() { time.AfterFunc(i.after, func() { close(i.fired) }) })
	}
}

func interruptAt(cfg bench.Config, at func(result.Event) bool, after time.Duration) bench.Config {
	i := &interrupter{at: at, after: after, fired: make(chan struct{})}
	cfg.Watch, cfg.Interrupt = i, i.fired
	return cfg
}

func interruptIn(cfg bench.Config, phase string, after time.Duration) bench.Config {
	return interruptAt(cfg, begins(phase), after)
}

func begins(phase string) func(result.Event) bool {
	return func(e result.Event) bool { return e.Kind == "phase" && e.What == phase }
}

func TestInterruptInWindow(t *testing.T) {
	t.Parallel()
	virtual.Test(t, virtual.Options{}, func(t *testing.T, c *virtual.Cluster) {
		s := smallScenario(t, "interrupted", "phases.measure=1m", "load.rate=2k/s")
		const after = 700 * time.Millisecond
		r := run(t, interruptIn(config(t, c, s), "measure", after))
		wantInterrupted(t, r)
		wantValid(t, r)
		wantBalance(t, r)
		wantHistograms(t, r)
		wantSeries(t, r)
		wantWarning(t, r, "interrupted: ")
		wantCount(t, "end of the measured window in ns", r.Run.Run.Phases[1].EndNs, int64(after))
		wantDue(t, r.Run.Load.Scheduled, 2000, after)
		wantCount(t, "unique", r.Run.Delivery.Unique, r.Run.Load.Scheduled)
	})
}

func TestInterruptInWarmup(t *testing.T) {
	t.Parallel()
	virtual.Test(t, virtual.Options{}, func(t *testing.T, c *virtual.Cluster) {
		s := smallScenario(t, "early", "phases.warmup=1m")
		r := run(t, interruptIn(config(t, c, s), "warm-up", 300*time.Millisecond))
		wantInterrupted(t, r)
		wantBalance(t, r)
		wantCount(t, "scheduled in the measured window", r.Run.Load.Scheduled, 0)
		wantHistograms(t, r)
		wantSeries(t, r)
		warmup := r.Run.Run.Phases[0]
		length := time.Duration(warmup.EndNs - warmup.StartNs)
		if length <= 0 || length > 300*time.Millisecond {
			t.Errorf("the warm-up is %v long, and it was interrupted after 300 ms", length)
		}
		wantDue(t, r.Run.Warmup.Load.Scheduled, 1000, length)
		if why := reasons(r); len(why) == 0 || why[0] != "the run ended before the measured window began" {
			t.Errorf("the reasons are %q", why)
		}
	})
}

// Record i is due at i/rate. A record that is due at the very end may also be scheduled.
func wantDue(t *testing.T, scheduled, perSecond int64, within time.Duration) {
	t.Helper()
	if due := perSecond * int64(within) / int64(time.Second); scheduled < due || scheduled > due+1 {
		t.Errorf("%d records were scheduled in %v at %d/s", scheduled, within, perSecond)
	}
}

// The consumer would need a minute for the rest.
func TestInterruptInDrain(t *testing.T) {
	t.Parallel()
	virtual.Test(t, virtual.Options{}, func(t *testing.T, c *virtual.Cluster) {
		s := smallScenario(t, "undrained", "phases.drain=2m", "consume.work=50ms")
		r := run(t, interruptIn(config(t, c, s), "drain", 300*time.Millisecond))
		wantInterrupted(t, r)
		wantValid(t, r)
		wantBalance(t, r)
		if r.Run.Lag.Drained {
			t.Error("the run has drained")
		}
		// From the first record of the warm-up to the interrupt (1.8 s), the worker takes one each
		// 50 ms.
		wantCount(t, "of the warm-up: unique", r.Run.Warmup.Delivery.Unique, 1800/50)
		wantCount(t, "pending", r.Run.Delivery.Pending, 1000)
		wantCount(t, "acked", r.Run.Load.Acked, 1000)
		wantCount(t, "lost", r.Run.Delivery.Lost, 0)
		// No record arrived, so each took at least as long as the drain.
		e2e, drain := r.Run.Time["e2e_response_time"], r.Run.Run.Phases[2].EndNs-r.Run.Run.Phases[2].StartNs
		wantCount(t, "not ended", e2e.NotEnded, 1000)
		if len(e2e.AtLeast) != 9 || e2e.P50Ns > drain || e2e.P50Ns < drain-drain/1000 {
			t.Errorf("after a drain of %d ns the times are %+v", drain, e2e)
		}
	})
}

// The client will never report some records.
func TestInterruptWhileSettling(t *testing.T) {
	t.Parallel()
	virtual.Test(t, virtual.Options{}, func(t *testing.T, c *virtual.Cluster) {
		v, d := newVandal(), &tapped{Driver: franz.New()}
		d.produce = func(r *driver.Record, _ func(driver.Done)) bool { return !v.touches(r.Stamp, r.Value) }
		s := smallScenario(t, "unsettled", "phases.drain=2m")
		cfg := withDriver(config(t, c, s), d)
		r := run(t, interruptIn(cfg, "drain", 300*time.Millisecond))
		wantInterrupted(t, r)
		wantReason(t, r, fmt.Sprintf("the client never reported on %d records", touchable))
		wantCount(t, "unique", r.Run.Delivery.Unique, 1000-touchable)
	})
}

func wantInterrupted(t *testing.T, r *result.Recorded) {
	t.Helper()
	if !r.Run.Run.Interrupted || !r.Run.Finished() {
		t.Errorf("interrupted is %v, finished %v; want both", r.Run.Run.Interrupted, r.Run.Finished())
	}
	told := func(e result.Event) bool { return e.Kind == "phase" && e.What == "interrupted" }
	if !slices.ContainsFunc(r.Events, told) {
		t.Error("no event reports the interruption")
	}
	at := r.Run.Run.Phases[0].StartNs
	for _, phase := range r.Run.Run.Phases {
		if phase.StartNs != at || phase.EndNs < phase.StartNs {
			t.Errorf("the phases do not follow on each other: %+v", r.Run.Run.Phases)
		}
		at = phase.EndNs
	}
	if err := report.Text(io.Discard, r, report.Options{}); err != nil {
		t.Errorf("the report: %v", err)
	}
}

func TestLastWorkIsDone(t *testing.T) {
	t.Parallel()
	virtual.Test(t, virtual.Options{}, func(t *testing.T, c *virtual.Cluster) {
		s := smallScenario(t, "work", "load.rate=10/s", "load.producers=1", "topic.partitions=1", "consume.work=150ms")
		r := run(t, config(t, c, s))
		wantValid(t, r)
		wantHistograms(t, r)
		wantCount(t, "processed", r.Run.Time["processed_response_time"].Count, 10)
		// A record is due each 100 ms and takes 150 ms: each waits 50 ms longer than the one
		// before, and the last of fifteen 700 ms.
		const work, wait = 150 * time.Millisecond, 700 * time.Millisecond
		wantTime(t, "the longest until work begins", r.Run.Time["e2e_response_time"].MaxNs, lingers+wait)
		wantTime(t, "the longest until it ends", r.Run.Time["processed_response_time"].MaxNs, lingers+wait+work)
		if final := r.Run.Lag.FinalRecords; final == nil || *final != 0 {
			t.Errorf("the lag at the end is %v, want 0", final)
		}
	})
}

func TestInterruptBeforeTheRun(t *testing.T) {
	t.Parallel()
	virtual.Test(t, virtual.Options{ProduceDelay: time.Millisecond}, func(t *testing.T, c *virtual.Cluster) {
		cfg := config(t, c, smallScenario(t, "never"))
		interrupt := make(chan struct{})
		close(interrupt)
		cfg.Interrupt = interrupt
		if r, err := tryRun(cfg); !errors.Is(err, context.Canceled) {
			t.Errorf("the run is %v, %v; want context.Canceled", r, err)
		}
		wantNothingLeft(t, c, cfg.Out)
	})
}

// A run whose context is cancelled is not saved, but its files can be read, and its topic is gone.
func TestAbandon(t *testing.T) {
	t.Parallel()
	virtual.Test(t, virtual.Options{}, func(t *testing.T, c *virtual.Cluster) {
		cfg := config(t, c, smallScenario(t, "abandoned", "phases.measure=1m"))
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		i := &interrupter{at: begins("measure"), after: 800 * time.Millisecond, fired: make(chan struct{})}
		cfg.Watch = i
		go func() {
			<-i.fired
			cancel()
		}()
		outcome, err := bench.Run(ctx, cfg)
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("the run is %v, %v; want context.Canceled", outcome, err)
		}
		wantUnfinished(t, onlyRun(t, cfg.Out))
		wantNoTopics(t, c)
	})
}

func wantUnfinished(t *testing.T, r *result.Recorded) {
	t.Helper()
	if r.Run.Finished() || r.Run.Verdict.Status != result.Invalid {
		t.Errorf("finished is %v, the verdict %s", r.Run.Finished(), r.Run.Verdict.Status)
	}
	if len(r.Run.Verdict.Reasons) != 1 || r.Run.Verdict.Reasons[0] != "the run did not finish" {
		t.Errorf("the reasons are %q", r.Run.Verdict.Reasons)
	}
	if len(r.Events) == 0 {
		t.Error("there is no event")
	}
	var acked int64
	for _, iv := range r.Intervals {
		acked += iv.Acked
	}
	if acked < 500 {
		t.Errorf("%d intervals have %d acked records, want what a second or more of 1000/s left", len(r.Intervals), acked)
	}
	if totals := histograms(t, r); totals["warmup_send_response_time"] == nil {
		t.Error("the histograms of the warm-up are not in the log")
	}
	var text strings.Builder
	if err := report.Text(&text, r, report.Options{}); err != nil {
		t.Errorf("the report: %v", err)
	}
	if !strings.Contains(text.String(), "the run did not finish") {
		t.Errorf("the report does not say that the run did not finish:\n%s", text.String())
	}
}
