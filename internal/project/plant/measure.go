package plant

import (
	"slices"
	"time"

	"kafkabench.example/kafka-bench/backpressure"
)

// Result is what became of one case. All but the lag speaks of records that were
// due in the measured window.
type Result struct {
	// PeakLag is the highest lag at any event of the run, in records, and
	// Overshoot that over the bound of the case; 0 where it has none.
	PeakLag   int64
	Overshoot float64
	// Offered is admitted + shed + what still waits to be admitted.
	Offered, Admitted, Shed int64
	// Delivered counts the records that were handed over in the measured window,
	// each once.
	Delivered int64
	// E2EP50 and E2EP99 are of the time from due to handed over.
	E2EP50, E2EP99 time.Duration
	// Settling is, for each step of the work, how long it took until times and
	// deliveries were right for good; negative where they never were.
	Settling []time.Duration
	// Fairness is Jain's index over what the producers had admitted: 1 if all had
	// the same, 1/n if one had all.
	Fairness float64
	// BoundMin and BoundMax are of the bounds in force in the measured window;
	// Unlimited where there was none.
	BoundMin, BoundMax int64
}

// delivery is one record's hand-over.
type delivery struct{ at, due time.Duration }

// measure is what the plant sees of itself.
type measure struct {
	p          *plant
	peak       int64
	deliveries []delivery // in order of time, those of the warm-up included
	low, high  int64      // bounds
}

func newMeasure(p *plant) measure {
	return measure{p: p, low: backpressure.Unlimited}
}

func (p *plant) measured(at time.Duration) bool { return at >= p.cfg.Warmup }

func (m *measure) sawLag() { m.peak = max(m.peak, m.p.lag) }

func (m *measure) sawBound(g *gate) {
	if m.p.measured(m.p.now) {
		bound := g.Stats().Bound
		m.low, m.high = min(m.low, bound), max(m.high, bound)
	}
}

func (m *measure) deliver(due time.Duration) {
	m.deliveries = append(m.deliveries, delivery{m.p.now, due})
}

func (m *measure) result() Result {
	r := Result{PeakLag: m.peak, BoundMin: m.low, BoundMax: m.high}
	if m.p.cfg.Bound > 0 {
		r.Overshoot = float64(m.peak) / float64(m.p.cfg.Bound)
	}
	for _, pr := range m.p.producers {
		r.Offered += pr.offered
		r.Admitted += pr.admitted
		r.Shed += pr.shed
	}
	r.Fairness = m.fairness()
	var times []time.Duration
	for _, d := range m.deliveries {
		if m.p.measured(d.at) {
			r.Delivered++
		}
		if m.p.measured(d.due) {
			times = append(times, d.at-d.due)
		}
	}
	slices.Sort(times)
	r.E2EP50, r.E2EP99 = quantile(times, 0.5), quantile(times, 0.99)
	for i := range m.p.cfg.Steps {
		r.Settling = append(r.Settling, m.settling(i))
	}
	return r
}

// fairness is (Σx)² / (n Σx²) over the producers (Jain, Chiu and Hawe 1984).
func (m *measure) fairness() float64 {
	var sum, squares float64
	for _, pr := range m.p.producers {
		x := float64(pr.admitted)
		sum += x
		squares += x * x
	}
	if squares == 0 {
		return 1
	}
	return sum * sum / (float64(len(m.p.producers)) * squares)
}

// quantile is of sorted times; 0 if there are none.
func quantile(sorted []time.Duration, q float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
}
