package arrival

import (
	"math/rand/v2"
	"time"

	"kafkabench.example/kafka-bench/internal/plan/unit"
)

type poisson struct {
	rate     unit.Rate
	seed     uint64
	warmupNs int64
}

// Poisson returns a process with independent, exponentially distributed times between records, like many independent
// users.
//
// The superposition of n Poisson processes of rate r/n is a Poisson process of rate r, so each worker has its own
// stream. The arrivals are the same in every run, but differ between numbers of workers. A worker's k-th record has
// index worker + k × workers.
func Poisson(rate unit.Rate, seed uint64) (Process, error) {
	if err := checkRate(rate); err != nil {
		return nil, wrap("poisson", err)
	}
	if rate.Records == 0 {
		return nil, wrap("poisson", errNothingDue)
	}
	return &poisson{rate: rate, seed: seed}, nil
}

func (p *poisson) Initial() unit.Rate { return p.rate }

func (p *poisson) Expected(d time.Duration) float64 {
	return max(0, d.Seconds()) * p.rate.PerSecond()
}

func (p *poisson) withWarmup(d time.Duration) Process {
	warm := *p
	warm.warmupNs = min(int64(d), horizonNs/2)
	return &warm
}

type poissonStream struct {
	dueNs    int64
	fraction float64 // of a ns, so that rounding does not add up
	meanNs   float64
	gaps     gaps
	index    int64
	workers  int64
	// warming: after the warm-up, measured replaces gaps, so that the measured part does not depend
	// on the warm-up.
	warming  bool
	measured rand.PCG
}

// Stripe implements Process.
func (p *poisson) Stripe(worker, workers int) Stream {
	s := &poissonStream{index: int64(worker), workers: int64(workers)}
	if worker < 0 || worker >= workers || workers > MaxWorkers {
		s.dueNs = Never
		return s
	}
	s.meanNs = float64(workers) * float64(p.rate.Per) / float64(p.rate.Records)
	s.measured = *rand.NewPCG(p.seed, uint64(worker))
	s.warming = p.warmupNs > 0
	if !s.warming {
		s.begin()
		return s
	}
	s.gaps = newGaps(*rand.NewPCG(^p.seed, uint64(worker)))
	s.dueNs = -p.warmupNs
	s.draw()
	return s
}

func (s *poissonStream) begin() {
	s.warming = false
	s.gaps = newGaps(s.measured)
	s.dueNs, s.fraction = 0, 0
	s.draw()
}

func (s *poissonStream) draw() {
	if s.dueNs >= horizonNs {
		s.dueNs = Never
		return
	}
	gap := min(s.meanNs*s.gaps.random.ExpFloat64()+s.fraction, horizonNs)
	whole := int64(gap)
	s.dueNs += whole
	s.fraction = gap - float64(whole)
	if s.warming && s.dueNs >= 0 {
		s.begin()
	}
}

func (s *poissonStream) Index() int64 { return s.index }

func (s *poissonStream) Due() int64 { return s.dueNs }

func (s *poissonStream) Advance() {
	s.index += s.workers
	s.draw()
}

func (s *poissonStream) Clone() Stream {
	clone := *s
	if s.gaps.source != nil {
		clone.gaps = newGaps(*s.gaps.source)
	}
	return &clone
}

type gaps struct {
	source *rand.PCG
	random *rand.Rand
}

func newGaps(source rand.PCG) gaps {
	return gaps{&source, rand.New(&source)}
}
