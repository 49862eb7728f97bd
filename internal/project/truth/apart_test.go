package truth

import (
	"fmt"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/result"
)

// longDelay makes the times of a pair of runs long beside what a busy machine adds.
const longDelay = 50 * time.Millisecond

// wantSameApart makes a run that is all in the tool beside one that has some of it in
// three processes, by an override, and wants them to differ in nothing: what was
// delivered is the same, each record once, the books balance, and the times are of one
// clock.
func wantSameApart(t *testing.T, c cluster.Cluster, override string, metrics []string, overrides ...string) (here, apart *result.Recorded) {
	t.Helper()
	unlike := mediansUnlike(metrics)
	pair := unstarved(t, func() []*result.Recorded {
		pair := runTogether(t,
			config(t, c, smallScenario(t, "here", overrides...)),
			config(t, c, smallScenario(t, "apart", append(overrides, override)...)))
		for _, r := range pair {
			wantWhole(t, r)
		}
		wantSameCounts(t, pair[0], pair[1])
		wantOneClock(t, pair[0], pair[1], metrics)
		wantProcessesGone(t, pair[1], 3)
		return pair
	}, unlike)
	if shows := unlike(pair); shows != "" {
		t.Error(shows)
	}
	return pair[0], pair[1]
}

// wantWhole wants each record of a run to have come once and in its order, and the books
// to say so wherever they are.
func wantWhole(t *testing.T, r *result.Recorded) {
	t.Helper()
	wantValid(t, r)
	wantBalance(t, r)
	wantHistograms(t, r)
	wantSeries(t, r)
	if d := r.Run.Delivery; !r.Run.Lag.Drained || d.Lost+d.Duplicates+d.Reordered+d.Foreign != 0 {
		t.Errorf("%s: %+v", r.Run.Run.Name, d)
	}
}

func wantSameCounts(t *testing.T, here, apart *result.Recorded) {
	t.Helper()
	a, b := here.Run, apart.Run
	wantCount(t, "scheduled apart", b.Load.Scheduled, a.Load.Scheduled)
	wantCount(t, "scheduled apart in the warm-up", b.Warmup.Load.Scheduled, a.Warmup.Load.Scheduled)
	wantCount(t, "bytes apart", b.Load.Bytes, a.Load.Bytes)
	wantCount(t, "unique apart", b.Delivery.Unique, a.Delivery.Unique)
	wantCount(t, "unique apart in the warm-up", b.Warmup.Delivery.Unique, a.Warmup.Delivery.Unique)
}

// wantOneClock wants the times of two runs to be as many, and none to be what only
// clocks that differ can make of it. Of thousands of times the least is the one that a
// busy machine does not make longer, and clocks that are apart show in it.
func wantOneClock(t *testing.T, here, apart *result.Recorded, metrics []string) {
	t.Helper()
	for _, metric := range metrics {
		a, b := here.Run.Time[metric], apart.Run.Time[metric]
		wantCount(t, metric+" apart", b.Count, a.Count)
		if b.MinNs < 0 || b.MinNs == 0 && metric != pacerLateness {
			t.Errorf("%s was once %d ns: the clocks differ", metric, b.MinNs)
		}
		if off := time.Duration(b.MinNs - a.MinNs).Abs(); off > 10*time.Millisecond {
			t.Errorf("%s: the least is %v apart, %v here", metric, time.Duration(b.MinNs), time.Duration(a.MinNs))
		}
	}
}

// pacerLateness is next to nothing, and may be nothing.
const pacerLateness = "pacer_lateness"

// pacerBound is how late the pacer of a valid run may be, at p99.
const pacerBound = 20 * time.Millisecond

// mediansUnlike says of which metric, but for the pacer's lateness, the medians of a pair
// of runs are more than a factor of three apart and further from each other than a pacer
// may be late in a run that is valid: times of a few milliseconds say nothing where one
// of the two waits for a processor longer than that.
func mediansUnlike(metrics []string) func([]*result.Recorded) string {
	return func(pair []*result.Recorded) string {
		for _, metric := range metrics {
			a, b := time.Duration(pair[0].Run.Time[metric].P50Ns), time.Duration(pair[1].Run.Time[metric].P50Ns)
			if metric != pacerLateness && (a > 3*b || b > 3*a) && (a-b).Abs() > pacerBound {
				return fmt.Sprintf("%s: p50 is %v apart, %v here", metric, b, a)
			}
		}
		return ""
	}
}
