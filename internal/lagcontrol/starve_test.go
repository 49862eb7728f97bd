package lagcontrol_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/lagcontrol"
	"kafkabench.example/kafka-bench/internal/load/controller"
)

var selfTuning = []struct {
	name string
	make func() (lagcontrol.Controller, error)
}{
	{"latency", func() (lagcontrol.Controller, error) {
		return lagcontrol.NewLatency(lagcontrol.LatencyConfig{Target: 250 * time.Millisecond})
	}},
	{"aimd", func() (lagcontrol.Controller, error) {
		return controller.NewAIMD(controller.AIMDConfig{Target: 250 * time.Millisecond})
	}},
	{"gradient", func() (lagcontrol.Controller, error) {
		return controller.NewGradient(controller.GradientConfig{})
	}},
}

type pressed struct {
	now                  time.Duration
	clock                atomic.Int64 // equals now; gates read it also from their own goroutines
	gates                []*lagcontrol.Gate
	commit               time.Duration
	end, done, committed int64
	work                 float64
}

func newPressed(t *testing.T, gates int, commit time.Duration, make func() (lagcontrol.Controller, error)) *pressed {
	t.Helper()
	p := &pressed{commit: commit}
	for range gates {
		c, err := make()
		if err != nil {
			t.Fatal(err)
		}
		cfg := lagcontrol.Config{Controller: c, Now: func() time.Duration { return time.Duration(p.clock.Load()) }}
		if gates > 1 {
			cfg.Share, cfg.Inherit = lagcontrol.Fixed(1/float64(gates)), lagcontrol.NoInherit
		}
		p.gates = append(p.gates, newGate(t, cfg))
	}
	p.read()
	return p
}

func (p *pressed) read() {
	for _, g := range p.gates {
		report(g, lagcontrol.Reading{Partitions: []lagcontrol.Partition{{Topic: "t", Committed: p.committed, End: p.end}}})
	}
}

func (p *pressed) run(rate float64, d time.Duration) (admitted, peak int64) {
	const step = 10 * time.Millisecond
	for end := p.now + d; p.now < end; {
		p.now += step
		p.clock.Store(int64(p.now))
		for _, g := range p.gates {
			g.Advance()
			n := g.Admit(100)
			admitted += n
			for range n {
				g.Acked("t", 0, p.end)
				p.end++
				g.Done(1)
			}
		}
		peak = max(peak, p.end-p.committed)
		p.work = min(p.work+rate*step.Seconds(), float64(p.end-p.done))
		p.done += int64(p.work)
		p.work -= float64(int64(p.work))
		if p.now%p.commit == 0 {
			p.committed = p.done
		}
		if p.now%everyReading == 0 {
			p.read()
		}
	}
	return admitted, peak
}

// Consumers are busy again within 10 s with commits each 100 ms, within 30 s with commits each
// second.
func TestNoControllerStaysClosedAfterABadSpell(t *testing.T) {
	within := map[time.Duration]time.Duration{everyReading: 10 * time.Second, time.Second: 30 * time.Second}
	manyGates, rates := []int{1, 3, 10}, []float64{0, 0.05, 1, 5, 50}
	if testing.Short() {
		manyGates, rates = []int{1, 3}, []float64{0, 5}
	}
	for _, c := range selfTuning {
		for _, gates := range manyGates {
			for _, commit := range []time.Duration{everyReading, time.Second} {
				for _, slow := range rates {
					name := fmt.Sprintf("%s, %d gates, commits each %v, %.2f/s", c.name, gates, commit, slow)
					p := newPressed(t, gates, commit, c.make)
					p.run(1000, 20*time.Second)
					p.run(slow, 5*time.Minute)
					p.run(1000, within[commit])
					if admitted, _ := p.run(1000, 20*time.Second); admitted < 18_000 {
						t.Errorf("%s for 5 min: then %d records in 20 s of a capacity of 1000/s", name, admitted)
					}
				}
			}
		}
	}
}

// Consumers that become very slow get at most the bound and one and a half intervals of records.
func TestLatencyDoesNotRunAwayFromConsumersThatCrawl(t *testing.T) {
	for _, commit := range []time.Duration{everyReading, time.Second} {
		for _, slow := range []float64{0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 3, 5} {
			p := newPressed(t, 1, commit, selfTuning[0].make)
			p.run(1000, 20*time.Second)
			before := float64(p.gates[0].Stats().Bound)
			most := int64(1.1 * (before + 1.5*1000*max(commit, everyReading).Seconds()))
			if _, peak := p.run(slow, 10*time.Minute); peak > most {
				t.Errorf("commits each %v, %.2f/s: a lag of %d with a bound of %.0f before, want at most %d", commit, slow, peak, before, most)
			}
		}
	}
}

func TestABatchAboveTheBoundGoesThroughWhenNothingElseDoes(t *testing.T) {
	for _, c := range selfTuning {
		p := newPressed(t, 1, everyReading, c.make)
		for n := 0; !p.gates[0].TryAcquire(5000); n++ {
			if n > 10 {
				t.Errorf("%s: not after %d readings of an empty log: %+v", c.name, n, p.gates[0].Stats())
				break
			}
			p.now += everyReading
			p.read()
		}
	}
}
