package plant

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"kafkabench.example/kafka-bench/internal/lagcontrol"
)

// tick is how often a producer checks the clock, and pace how often a gate gets the time, as in
// package bench.
const (
	tick = time.Millisecond
	pace = 10 * time.Millisecond
)

type plant struct {
	agenda
	cfg  Config
	rand *rand.Rand
	work Work

	partitions []*partition
	members    []member
	rebalances int // in progress
	gates      []*gate
	producers  []*producer

	lag     int64 // high watermarks − committed offsets, at this moment
	measure measure
}

type gate struct {
	*lagcontrol.Gate
	shared bool
	asking bool
}

// Run runs one case to its end.
func Run(cfg Config) (Result, error) {
	p, err := newPlant(cfg)
	if err != nil {
		return Result{}, err
	}
	p.planGroup()
	p.planGates()
	p.every(0, tick, p.round)
	p.run(cfg.Warmup + cfg.For)
	return p.measure.result(), nil
}

func newPlant(cfg Config) (*plant, error) {
	if cfg.Partitions < 1 || cfg.Commit <= 0 || cfg.Poll <= 0 || cfg.For <= 0 || len(cfg.Producers) == 0 {
		return nil, errors.New("plant: a case needs a length, producers, partitions, a commit interval and a poll interval")
	}
	cfg.Gates, cfg.Members = max(cfg.Gates, 1), max(cfg.Members, 1)
	p := &plant{cfg: cfg, rand: rand.New(rand.NewPCG(cfg.Seed, 0)), work: cfg.Work}
	p.measure = newMeasure(p)
	for range cfg.Members {
		p.members = append(p.members, member{alive: true})
	}
	for i := range cfg.Partitions {
		p.partitions = append(p.partitions, &partition{p: p, rand: rand.New(rand.NewPCG(cfg.Seed, uint64(i)+1))})
	}
	p.assign()
	for range cfg.Gates {
		g, err := p.newGate()
		if err != nil {
			return nil, err
		}
		p.gates = append(p.gates, g)
	}
	for i, c := range cfg.Producers {
		if c.Gate < 0 || c.Gate >= cfg.Gates {
			return nil, fmt.Errorf("plant: producer %d belongs to gate %d of %d", i, c.Gate, cfg.Gates)
		}
		p.producers = append(p.producers, &producer{p: p, cfg: c, gate: p.gates[c.Gate], next: i})
	}
	return p, nil
}

func (p *plant) newGate() (*gate, error) {
	controller, err := p.cfg.NewController()
	if err != nil {
		return nil, fmt.Errorf("plant: %w", err)
	}
	cfg := lagcontrol.Config{Controller: controller, Now: func() time.Duration { return time.Duration(p.clock.Load()) }}
	_, bounded := controller.(lagcontrol.Limiter)
	shared := p.cfg.Gates > 1 && bounded
	if shared {
		cfg.Share, cfg.Inherit = lagcontrol.Fixed(1/float64(p.cfg.Gates)), lagcontrol.NoInherit
	}
	g, err := lagcontrol.New(cfg)
	if err != nil {
		return nil, fmt.Errorf("plant: %w", err)
	}
	return &gate{Gate: g, shared: shared}, nil
}

// The order is random, so that any producer may be the first at a gate.
func (p *plant) round() {
	p.rand.Shuffle(len(p.producers), func(i, j int) { p.producers[i], p.producers[j] = p.producers[j], p.producers[i] })
	for _, pr := range p.producers {
		pr.round()
	}
}

func (p *plant) drawTime(low, high time.Duration) time.Duration {
	if high <= low {
		return low
	}
	return low + time.Duration(p.rand.Int64N(int64(high-low)))
}

// around draws uniformly from half to one and a half of d.
func (p *plant) around(d time.Duration) time.Duration { return p.drawTime(d/2, d+d/2) }
