package result_test

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"kafkabench.example/kafka-bench/internal/result"
)

// A run from before the rates of the warm-up were right: 8,480 records of the warm-up were acked, and
// 7,048 were delivered in its 3 s.
func TestOldWarmup(t *testing.T) {
	wantWarmup := func(name string, w result.Warmup, acked float64, delivered *float64) {
		t.Helper()
		got := w.Delivery.DeliveredPerS
		if math.Abs(w.Load.AckedPerS-acked) > 1e-9 || (got == nil) != (delivered == nil) ||
			got != nil && math.Abs(*got-*delivered) > 1e-9 {
			t.Errorf("%s: %v/s acked, %v/s delivered; want %v and %v", name, w.Load.AckedPerS, got, acked, delivered)
		}
	}
	perS := 7048.0 / 3
	r := read(t, goldenDir)
	wantWarmup("with its intervals", r.Run.Warmup, 8480.0/3, &perS)
	if again := r.Run.Warmup.Delivery.DuplicatesPerS; again == nil || *again != 0 {
		t.Errorf("%v/s were delivered again, want 0", again)
	}
	if ratio := r.Run.Delivery.DeliveredToAcked; ratio != nil {
		t.Errorf("delivered ÷ acked is %v, although method 1 counted duplicates as delivered", *ratio)
	}

	bare := t.TempDir()
	copied, err := os.ReadFile(filepath.Join(goldenDir, result.SummaryFile))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(bare, result.SummaryFile), copied, 0o600); err != nil {
		t.Fatal(err)
	}
	wantWarmup("without intervals", read(t, bare).Run.Warmup, 8480.0/3, nil)
	summary, err := result.ReadSummary(os.DirFS(bare), ".")
	if err != nil {
		t.Fatal(err)
	}
	wantWarmup("only the summary", summary.Warmup, 8480.0/3, nil)
}

func TestOldWarmupWithoutKnownDeliveries(t *testing.T) {
	const second = int64(1e9)
	for _, c := range []struct {
		name   string
		change func(*result.Run, []result.Interval) []result.Interval
		acked  float64
		known  bool
	}{
		{"covered", func(_ *result.Run, all []result.Interval) []result.Interval { return all }, 500, true},
		{"begins late", func(_ *result.Run, all []result.Interval) []result.Interval { return all[1:] }, 500, false},
		{"ends early", func(_ *result.Run, all []result.Interval) []result.Interval { return all[:1] }, 500, false},
		{"a process was late", func(_ *result.Run, all []result.Interval) []result.Interval {
			all[1].Late = []string{"process 1"}
			return all
		}, 500, false},
		{"read 1 % late", func(_ *result.Run, all []result.Interval) []result.Interval {
			all[1].ReadToNs = 2*second/100 + 1
			return all
		}, 500, false},
		{"no consumers", func(r *result.Run, all []result.Interval) []result.Interval {
			r.Consumer.Members = 0
			return all
		}, 500, false},
		{"a fill that is read", func(r *result.Run, all []result.Interval) []result.Interval {
			r.Fill = &result.Fill{Records: 900}
			r.Warmup.Load.Scheduled, r.Warmup.Load.Acked = 1900, 1900
			return all
		}, 500, true},
		{"a fill that is not read", func(r *result.Run, all []result.Interval) []result.Interval {
			r.Fill = &result.Fill{Records: 900}
			return all
		}, 500, true},
		{"no warm-up", func(r *result.Run, _ []result.Interval) []result.Interval {
			r.Run.Phases = nil
			return nil
		}, 0, false},
	} {
		run := result.Run{Run: result.Info{FinishedAt: startedAt}}
		run.Run.MethodVersion, run.Consumer.Members = 2, 1
		run.Load.AckedPerS, run.Delivery.DeliveredPerS = 400, 404
		run.Run.Phases = []result.Phase{{Name: "warm-up", StartNs: -2 * second}, {Name: "measure", EndNs: second}}
		run.Warmup.Load = result.Load{OfferedPerS: 500, Scheduled: 1000, Acked: 1000}
		run.Warmup.Delivery.Delivery.DeliveredPerS = 777 // as older versions stored the window's
		all := c.change(&run, []result.Interval{
			{StartNs: -2 * second, EndNs: -second, Delivered: 300, Duplicates: 100},
			{StartNs: -second, EndNs: 0, Delivered: 400, Duplicates: 0},
		})
		w, err := result.Create(t.TempDir(), "old", startedAt)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range all {
			if err := w.Interval(i); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Finish(run); err != nil {
			t.Fatal(err)
		}
		run = read(t, w.Dir()).Run
		if ratio := run.Delivery.DeliveredToAcked; (ratio != nil) != (run.Consumer.Members > 0) || ratio != nil && *ratio != 1.01 {
			t.Errorf("%s: delivered ÷ acked is %v", c.name, ratio)
		}
		got := run.Warmup
		d := got.Delivery
		if got.Load.AckedPerS != c.acked || (d.DeliveredPerS != nil) != c.known || (d.DuplicatesPerS != nil) != c.known ||
			c.known && (*d.DeliveredPerS != 300 || *d.DuplicatesPerS != 50) {
			t.Errorf("%s: %v/s acked, %+v", c.name, got.Load.AckedPerS, d)
		}
	}
}
