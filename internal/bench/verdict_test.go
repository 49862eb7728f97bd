package bench

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"kafka-bench/internal/result"
	"kafka-bench/internal/scenario"
)

func TestToolThatCouldNotMeasureIsInvalid(t *testing.T) {
	run := func(lateness, delay time.Duration) *result.Run {
		return &result.Run{
			Time:    map[string]result.Time{"pacer_lateness": {Count: 1, P99Ns: int64(lateness)}},
			Process: result.Process{SchedDelayNs: result.Quantile{P99Ns: int64(delay)}},
		}
	}
	for _, c := range []struct {
		name            string
		lateness, delay time.Duration
		says            []string
	}{
		{"in time", maxLateness, maxSchedDelay, nil},
		{"late", maxLateness + 1, 0, []string{"the pacer was late"}},
		{"starved", 0, maxSchedDelay + 1, []string{"starved of CPU"}},
		{"both", time.Second, time.Second, []string{"the pacer was late: 1.00 s at p99", "waited 1.00 s at p99"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			reasons := faultsOfTheTool(run(c.lateness, c.delay))
			if len(reasons) != len(c.says) {
				t.Fatalf("%q; want %d reasons", reasons, len(c.says))
			}
			for i, want := range c.says {
				if !strings.Contains(reasons[i], want) {
					t.Errorf("%q does not say %q", reasons[i], want)
				}
			}
		})
	}
}

func TestIntervalsEndAtMultiplesOfThePeriod(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		period := rapid.Int64Range(1, 5_000_000_000).Draw(t, "period")
		at := rapid.Int64Range(-100_000_000_000, 100_000_000_000).Draw(t, "at")
		next := multipleAfter(at, period)
		if next <= at || next > at+period || next%period != 0 {
			t.Fatalf("after %d comes %d with period %d", at, next, period)
		}
	})
}

// What was not delivered is told of; that nothing was left is no warning, even
// where there was no drain to see it.
func TestNothingPendingIsNoWarning(t *testing.T) {
	r := &run{cfg: Config{Scenario: scenario.Defaults()}}
	for pending, want := range map[int64]int{0: 0, 1: 1} {
		out := &result.Run{Delivery: result.Delivery{Pending: pending}}
		if got := r.warningsOfTheRecords(out); len(got) != want {
			t.Errorf("with %d pending it warns %q", pending, got)
		}
	}
}
