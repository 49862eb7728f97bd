package truth

import (
	"math"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/kafka/driver/franz"
	"kafkabench.example/kafka-bench/internal/project/virtual"
	"kafkabench.example/kafka-bench/internal/result"
)

func TestDuplicatesAreNotGoodput(t *testing.T) {
	t.Parallel()
	once, _ := vandalised(t, func(*vandal, *tapped) {})
	twice, v := vandalised(t, func(v *vandal, d *tapped) { v.nth, d.poll = 2, v.each(duplicate) })
	const lingering = 2 * 20 // records that come just before or after an end of the window
	if got, want := twice.Run.Delivery.DeliveredPerS, once.Run.Delivery.DeliveredPerS; math.Abs(got-want) > lingering {
		t.Errorf("%v/s were delivered, want %v/s", got, want)
	}
	if got := twice.Run.Delivery.DuplicatesPerS; got == nil || *got != float64(len(v.touched)) { // the window is a second long
		t.Errorf("%s/s came again, want %d/s", orUnknown(got, "%v"), len(v.touched))
	}
}

func TestDrainCountsFirstDeliveries(t *testing.T) {
	t.Parallel()
	for _, drain := range []time.Duration{10 * time.Second, 300 * time.Millisecond} {
		v, came := newVandal(), make(handOvers)
		twice := v.each(duplicate)
		d := &tapped{Driver: franz.New()}
		d.poll = func(chunks []driver.Chunk) []driver.Chunk { return came.singly(twice(chunks)) }
		virtual.Test(t, virtual.Options{}, func(t *testing.T, c *virtual.Cluster) {
			s := smallScenario(t, "late", "load.linger=20ms", "phases.warmup=100ms",
				"phases.drain="+drain.String(), "consume.work=1970us")
			r := run(t, withDriver(config(t, c, s), d))
			wantValid(t, r)
			wantBalance(t, r)
			wantLateDeliveries(t, r, came, drain)
			if drained := r.Run.Lag.Drained; drained != (drain == 10*time.Second) {
				t.Errorf("in %s it drained: %t", drain, drained)
			}
		})
	}
}

// handOvers are the times at which the only worker of a run first received each record.
type handOvers map[identity]time.Time

// singly puts an empty chunk before each record. The worker frees that chunk when it takes the
// record.
func (h handOvers) singly(chunks []driver.Chunk) (single []driver.Chunk) {
	for _, c := range chunks {
		for i, r := range c.Records {
			_, id, _ := stampOf(r.Stamp, r.Value)
			single = append(single, driver.Chunk{Free: func() {
				if _, before := h[id]; !before {
					h[id] = time.Now()
				}
			}}, driver.Chunk{Partition: c.Partition, HighWatermark: c.HighWatermark, Records: c.Records[i : i+1]})
		}
		c.Records = nil
		single = append(single, c)
	}
	return single
}

func wantLateDeliveries(t *testing.T, r *result.Recorded, came handOvers, drain time.Duration) {
	t.Helper()
	late, last, lag := 0, time.Duration(0), r.Run.Lag
	for _, at := range came {
		if after := at.Sub(r.Run.Run.StartedAt) - time.Second; after >= 0 && after < drain {
			late, last = late+1, max(last, after)
		}
	}
	if !lag.Drained {
		last = drain
	}
	if want := float64(late) / last.Seconds(); late == 0 || lag.DrainPerS != want || lag.DrainTimeS != last.Seconds() {
		t.Errorf("the drain is of %v/s for %v s, want %v/s for %v: %d came for the first time",
			lag.DrainPerS, lag.DrainTimeS, want, last, late)
	}
	wantCount(t, "where the drain begins", lag.DrainFromNs, int64(time.Second))
}
