package truth

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/kafka/driver/franz"
	"kafkabench.example/kafka-bench/internal/kafka/probe"
	"kafkabench.example/kafka-bench/internal/measure/latency"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/project/virtual"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/bench"
)

// small has two producers, two partitions, one consumer, half a second of warm-up and one measured
// second.
const small = `
topic: {partitions: 2}
load:
  rate: 1k/s
  producers: 2
  record: {size: 100B, payload: random}
  compression: none
  linger: 1ms
  partitioning: round-robin
consume: {consumers: 1, commit: 100ms}
phases: {warmup: 500ms, measure: 1s, drain: 20s}
sampling: {interval: 100ms, lag: 100ms}
`

func smallScenario(t *testing.T, name string, overrides ...string) scenario.Scenario {
	t.Helper()
	s, err := scenario.Parse(name+".yaml", []byte(small), overrides...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// workerWord makes the test binary a child process of a run.
const workerWord = "worker"

var workerCommand = []string{os.Args[0], workerWord}

func config(t *testing.T, c cluster.Cluster, s scenario.Scenario) bench.Config {
	t.Helper()
	cfg := bench.Config{
		Scenario: s, Cluster: c, Driver: franz.New(), Out: t.TempDir(),
		Tool: result.Tool{Version: "test"}, Worker: workerCommand,
	}
	if _, in := c.(*virtual.Cluster); in {
		cfg.Probes, cfg.Scenario.Load.Pacer = probe.Unknown(), "frugal"
	}
	return cfg
}

func withDriver(cfg bench.Config, d driver.Driver) bench.Config {
	cfg.Driver = d
	return cfg
}

// A test that hangs fails with its name.
const runTimeout = 2 * time.Minute

func run(t *testing.T, cfg bench.Config) *result.Recorded {
	t.Helper()
	recorded, err := tryRun(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return recorded
}

func tryRun(cfg bench.Config) (*result.Recorded, error) {
	ctx, cancel := context.WithTimeout(context.Background(), runTimeout)
	defer cancel()
	outcome, err := bench.Run(ctx, cfg)
	if err != nil {
		return nil, err
	}
	recorded, err := result.Read(outcome.Dir)
	if err != nil {
		return nil, err
	}
	if len(recorded.Notes) > 0 {
		return nil, fmt.Errorf("the run's files: %v", recorded.Notes)
	}
	return recorded, nil
}

func onlyRun(t *testing.T, out string) *result.Recorded {
	t.Helper()
	entries, err := os.ReadDir(out)
	if err != nil || len(entries) != 1 {
		t.Fatalf("%s has %d entries (%v), want one run", out, len(entries), err)
	}
	recorded, err := result.Read(filepath.Join(out, entries[0].Name()))
	if err != nil {
		t.Fatal(err)
	}
	return recorded
}

// ofTheMachine lists the beginnings of reasons that blame a busy machine.
var ofTheMachine = []string{"the pacer was late", "the tool was starved of CPU"}

// reasons omits those of a busy machine if the run is on a real clock, because no time of such a
// run is asserted.
func reasons(r *result.Recorded) []string {
	if r.Run.Run.StartedAt.Year() == 2000 { // the year of a bubble's clock
		return r.Run.Verdict.Reasons
	}
	return slices.DeleteFunc(slices.Clone(r.Run.Verdict.Reasons), func(reason string) bool {
		return slices.ContainsFunc(ofTheMachine, func(busy string) bool { return strings.HasPrefix(reason, busy) })
	})
}

func wantValid(t *testing.T, r *result.Recorded) {
	t.Helper()
	if why := reasons(r); len(why) > 0 {
		t.Errorf("the run is invalid: %q", why)
	}
	if v := r.Run.Verdict; (v.Status == result.Valid) != (len(v.Reasons) == 0) {
		t.Errorf("the verdict is %s with the reasons %q", v.Status, v.Reasons)
	}
}

func wantReason(t *testing.T, r *result.Recorded, want string) {
	t.Helper()
	why := reasons(r)
	if r.Run.Verdict.Status != result.Invalid || len(why) != 1 || why[0] != want {
		t.Errorf("the verdict is %s, with the reasons %q; want invalid, because %q", r.Run.Verdict.Status, why, want)
	}
}

func wantWarning(t *testing.T, r *result.Recorded, beginning string) {
	t.Helper()
	for _, w := range r.Run.Verdict.Warnings {
		if strings.HasPrefix(w, beginning) {
			return
		}
	}
	t.Errorf("no warning begins with %q; there are %q", beginning, r.Run.Verdict.Warnings)
}

func wantCount(t *testing.T, what string, got, want int64) {
	t.Helper()
	if got != want {
		t.Errorf("%s = %d, want %d", what, got, want)
	}
}

func wantBalance(t *testing.T, r *result.Recorded) {
	t.Helper()
	for phase, b := range map[string]struct {
		load     result.Load
		delivery result.Delivery
	}{
		"warm-up":  {r.Run.Warmup.Load, r.Run.Warmup.Delivery.Delivery},
		"measured": {r.Run.Load, r.Run.Delivery},
	} {
		l, d := b.load, b.delivery
		wantCount(t, phase+": scheduled", l.Scheduled, l.Admitted+l.Deferred+l.Shed)
		wantCount(t, phase+": admitted", l.Admitted, l.Acked+l.Failed+l.Unknown)
		copies := max(1, int64(d.Copies))
		wantCount(t, phase+": acked", copies*l.Acked, d.Unique-d.UnackedDelivered+d.Pending+d.Lost+d.Corrupt)
		wantCount(t, phase+": delivered", d.Delivered, d.Unique+d.Duplicates)
	}
}

func histograms(t *testing.T, r *result.Recorded) map[string]*latency.Histogram {
	t.Helper()
	file, err := os.Open(filepath.Join(r.Dir, result.HistogramsFile))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	totals := make(map[string]*latency.Histogram)
	for entry, err := range latency.ReadLog(file) {
		if err != nil {
			t.Fatal(err)
		}
		if totals[entry.Tag] == nil {
			totals[entry.Tag] = latency.NewHistogram()
		}
		totals[entry.Tag].Merge(entry.Histogram)
	}
	return totals
}
