package plant

import (
	"slices"
	"time"

	"kafkabench.example/kafka-bench/internal/lagcontrol"
)

// Result is the outcome of one case. All but the lag refers to records that were due in the
// measured window.
type Result struct {
	// PeakLag is the highest lag at any event of the run, in records. Overshoot is PeakLag ÷ the
	// bound of the case; 0 without a bound.
	PeakLag   int64
	Overshoot float64
	// Offered is admitted + shed + what still waits to be admitted.
	Offered, Admitted, Shed int64
	// Delivered counts the records delivered in the measured window, each once.
	Delivered int64
	// E2EP50 and E2EP99 are percentiles of the time from due to delivered.
	E2EP50, E2EP99 time.Duration
	// Settling is, for each step of the work, the time until times and deliveries stayed right (see
	// settling); negative if they never did.
	Settling []time.Duration
	// Fairness is Jain's index over the producers' admitted records: 1 if all had the same, 1/n if
	// one had all.
	Fairness float64
	// BoundMin and BoundMax are the lowest and the highest bound in the measured window; Unlimited
	// if there was no bound.
	BoundMin, BoundMax int64
}

type delivery struct{ at, due time.Duration }

type measure struct {
	p          *plant
	peak       int64
	deliveries []delivery // in order of time, including the warm-up
	low, high  int64
}

func newMeasure(p *plant) measure {
	return measure{p: p, low: lagcontrol.Unlimited}
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

// quantile is 0 without times.
func quantile(sorted []time.Duration, q float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
}
