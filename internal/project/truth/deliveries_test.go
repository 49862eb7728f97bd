package truth

import (
	"math"
	"testing"

	"kafkabench.example/kafka-bench/internal/kafka/driver/franz"
	"kafkabench.example/kafka-bench/internal/project/virtual"
	"kafkabench.example/kafka-bench/internal/result"
)

// TestDuplicatesAreNotGoodput hands every second record of 400 ms over twice, and wants the rate of
// deliveries to be that of a run in which nothing came twice.
func TestDuplicatesAreNotGoodput(t *testing.T) {
	t.Parallel()
	once, _ := vandalised(t, func(*vandal, *tapped) {})
	twice, v := vandalised(t, func(v *vandal, d *tapped) { v.nth, d.poll = 2, v.each(duplicate) })
	const lingering = 2 * 20 // records that come just before or just behind an end of the window
	if got, want := twice.Run.Delivery.DeliveredPerS, once.Run.Delivery.DeliveredPerS; math.Abs(got-want) > lingering {
		t.Errorf("%v/s were delivered, want %v/s", got, want)
	}
	if got := twice.Run.Delivery.DuplicatesPerS; got == nil || *got != float64(len(v.touched)) { // of a window of a second
		t.Errorf("%s/s came again, want %d/s", orUnknown(got, "%v"), len(v.touched))
	}
}

// TestDrainCountsFirstDeliveries has consumers that take half of the load, some of it
// twice, and wants the drain's figures to be of what came for the first time from the
// window's end on. Nothing is handed over in the moment in which the window ends.
func TestDrainCountsFirstDeliveries(t *testing.T) {
	t.Parallel()
	for _, drain := range []string{"10s", "300ms"} { // it drains, and it does not
		v, d := newVandal(), &tapped{Driver: franz.New()}
		d.poll = v.each(duplicate)
		virtual.Test(t, virtual.Options{}, func(t *testing.T, c *virtual.Cluster) {
			s := smallScenario(t, "late", "load.linger=20ms", "phases.warmup=0s", "phases.drain="+drain, "consume.work=7310us")
			r := run(t, withDriver(config(t, c, s), d))
			wantValid(t, r)
			wantBalance(t, r)
			wantLateDeliveries(t, r)
			if drained := r.Run.Lag.Drained; drained != (drain == "10s") {
				t.Errorf("in %s it drained: %t", drain, drained)
			}
		})
	}
}

// wantLateDeliveries holds the drain's figures against the intervals from the window's
// end to the drain's.
func wantLateDeliveries(t *testing.T, r *result.Recorded) {
	t.Helper()
	lag, drain := r.Run.Lag, r.Run.Run.Phases[2]
	var late int64
	for _, iv := range r.Intervals {
		if iv.StartNs >= drain.StartNs && iv.StartNs < drain.EndNs {
			late += iv.Delivered - iv.Duplicates
		}
	}
	if got := lag.DrainPerS * lag.DrainTimeS; late == 0 || math.Abs(got-float64(late)) > 1.5 { // one may come in the moment in which the drain is given up
		t.Errorf("%v/s for %v s are %.1f records; %d came for the first time", lag.DrainPerS, lag.DrainTimeS, got, late)
	}
	wantCount(t, "where the drain begins", lag.DrainFromNs, drain.StartNs)
}
