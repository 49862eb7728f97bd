package truth

import (
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/kafka/driver/franz"
	"kafkabench.example/kafka-bench/internal/measure/latency"
	"kafkabench.example/kafka-bench/internal/project/virtual"
	"kafkabench.example/kafka-bench/internal/result"
)

// Acks and deliveries come 400 ms late, and each phase still has exactly the records due in it.
func TestBoundary(t *testing.T) {
	t.Parallel()
	const late = 400 * time.Millisecond
	o := virtual.Options{ProduceDelay: late, FetchDelay: 100 * time.Millisecond}
	virtual.Test(t, o, func(t *testing.T, c *virtual.Cluster) {
		s := smallScenario(t, "boundary", "load.rate=1200/s", "load.producers=3", "load.in_flight=1000",
			"consume.work=10us", "consume.consumers=2")
		r := run(t, config(t, c, s))
		wantValid(t, r)
		wantBalance(t, r)
		wantCount(t, "scheduled in 500 ms of warm-up at 1200/s", r.Run.Warmup.Load.Scheduled, 600)
		wantCount(t, "scheduled in 1 s at 1200/s", r.Run.Load.Scheduled, 1200)
		wantCount(t, "warm-up: unique", r.Run.Warmup.Delivery.Unique, 600)
		wantCount(t, "measured: unique", r.Run.Delivery.Unique, 1200)
		wantExactly(t, r, "send_response_time", lingers+late)
		wantHistograms(t, r)
		wantSeries(t, r)
	})
}

// The acks of all warm-up records come after the measured window.
func TestWarmupStaysOut(t *testing.T) {
	t.Parallel()
	const hold = 1700 * time.Millisecond // 500 ms of warm-up, 1 s measured, and a little
	hurt := &tapped{Driver: franz.New()}
	hurt.done = func(d driver.Done, pass func(driver.Done)) {
		stamp, _, _ := stampOf(d.Stamp, d.Value)
		if stamp.Intended >= 0 {
			pass(d)
			return
		}
		time.AfterFunc(hold, func() { pass(d) })
	}
	virtual.Test(t, virtual.Options{}, func(t *testing.T, c *virtual.Cluster) {
		r := run(t, withDriver(config(t, c, smallScenario(t, "held", "load.rate=600/s")), hurt))
		wantValid(t, r)
		wantBalance(t, r)
		wantHistograms(t, r)
		wantCount(t, "warm-up: acked", r.Run.Warmup.Load.Acked, 300)
		wantCount(t, "measured: acked", r.Run.Load.Acked, 600)
		warmup := histograms(t, r)["warmup_send_response_time"].Distribution()
		wantTime(t, "the shortest of the warm-up", warmup.MinNs, lingers+hold)
		wantTime(t, "the longest of the warm-up", warmup.MaxNs, lingers+hold)
		wantExactly(t, r, "send_response_time", lingers)
	})
}

func wantHistograms(t *testing.T, r *result.Recorded) {
	t.Helper()
	totals := histograms(t, r)
	count := func(measured bool, m latency.Metric) int64 {
		if h := totals[latency.Tag(measured, m)]; h != nil {
			return h.Count()
		}
		return 0
	}
	for _, phase := range []struct {
		measured bool
		load     result.Load
		delivery result.Delivery
	}{
		{false, r.Run.Warmup.Load, r.Run.Warmup.Delivery.Delivery},
		{true, r.Run.Load, r.Run.Delivery},
	} {
		unacked := phase.load.Failed + phase.load.Unknown
		for m, want := range map[latency.Metric]int64{
			latency.PacerLateness:       phase.load.Scheduled,
			latency.SendDelay:           phase.load.Acked + unacked,
			latency.SendServiceTime:     phase.load.Acked,
			latency.SendResponseTime:    phase.load.Acked,
			latency.UnackedServiceTime:  unacked,
			latency.UnackedResponseTime: unacked,
			latency.E2EServiceTime:      phase.delivery.Unique,
			latency.E2EResponseTime:     phase.delivery.Unique,
		} {
			wantCount(t, "values of "+latency.Tag(phase.measured, m), count(phase.measured, m), want)
		}
		if processed := count(phase.measured, latency.ProcessedResponseTime); processed != 0 {
			tag := latency.Tag(phase.measured, latency.ProcessedResponseTime)
			wantCount(t, "values of "+tag, processed, phase.delivery.Unique)
		}
	}
	wantCurves(t, r, totals)
	for m := range latency.Metric(latency.NumMetrics) {
		wantCount(t, "run.json's count of "+m.String(), r.Run.Time[m.String()].Count, count(true, m))
	}
}

func wantSeries(t *testing.T, r *result.Recorded) {
	t.Helper()
	wantOpen(t, r)
	var sum result.Interval
	at := r.Run.Run.Phases[0].StartNs
	var acked, handed int64 // by the counts of the partitions
	for _, iv := range r.Intervals {
		acked, handed = acked+total(iv.AckedPartition), handed+total(iv.DeliveredPartition)
		if iv.StartNs != at || iv.EndNs <= iv.StartNs {
			t.Errorf("an interval is from %d to %d, and the one before it ended at %d", iv.StartNs, iv.EndNs, at)
		}
		at = iv.EndNs
		sum.Scheduled += iv.Scheduled
		sum.Admitted += iv.Admitted
		sum.Shed += iv.Shed
		sum.Acked += iv.Acked
		sum.Failed += iv.Failed
		sum.Unknown += iv.Unknown
		sum.Delivered += iv.Delivered
		sum.Duplicates += iv.Duplicates
	}
	warmup, measured := r.Run.Warmup, r.Run
	wantCount(t, "acked in all partitions", acked, sum.Acked)
	unreadable := warmup.Delivery.Corrupt + measured.Delivery.Corrupt + warmup.Delivery.Foreign + measured.Delivery.Foreign
	wantCount(t, "handed over in all partitions", handed, sum.Delivered+unreadable)
	wantCount(t, "scheduled in all intervals", sum.Scheduled, warmup.Load.Scheduled+measured.Load.Scheduled)
	wantCount(t, "admitted in all intervals", sum.Admitted, warmup.Load.Admitted+measured.Load.Admitted)
	wantCount(t, "shed in all intervals", sum.Shed, warmup.Load.Shed+measured.Load.Shed)
	wantCount(t, "acked in all intervals", sum.Acked, warmup.Load.Acked+measured.Load.Acked)
	wantCount(t, "failed in all intervals", sum.Failed, warmup.Load.Failed+measured.Load.Failed)
	wantCount(t, "unknown in all intervals", sum.Unknown, warmup.Load.Unknown+measured.Load.Unknown)
	wantCount(t, "delivered in all intervals", sum.Delivered, warmup.Delivery.Delivered+measured.Delivery.Delivered)
	wantCount(t, "duplicates in all intervals", sum.Duplicates, warmup.Delivery.Duplicates+measured.Delivery.Duplicates)
}

func wantCurves(t *testing.T, r *result.Recorded, totals map[string]*latency.Histogram) {
	t.Helper()
	if r.Curves == nil {
		t.Fatal("there are no curves")
	}
	for m := range latency.Metric(latency.NumMetrics) {
		h, curve := totals[m.String()], r.Curves.Ns[m.String()]
		if h != nil && len(curve) == 0 && h.Count() >= 10*int64(max(1, r.Run.Delivery.Copies)) {
			t.Errorf("%s has %d values and no curve", m, h.Count())
		}
		for i, ns := range curve {
			if want := h.Percentile(r.Curves.Percentiles[i]); ns != want {
				t.Errorf("%s: p%v of the curve is %d, want %d", m, r.Curves.Percentiles[i], ns, want)
				break
			}
		}
	}
}

func total(counts []int64) (sum int64) {
	for _, n := range counts {
		sum += n
	}
	return sum
}
