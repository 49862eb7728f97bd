package figure_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/figure"
)

// growing returns a run whose backlog is read once a second: a line, and noise of which each value
// keeps a part of the one before.
func growing(random *rand.Rand, readings int, perS, memory float64, noise func(*rand.Rand) float64) *result.Run {
	var x, y, xx, xy, yy, off float64
	for i := range readings {
		off = memory*off + math.Sqrt(1-memory*memory)*noise(random)
		at, backlog := float64(i), 1000+perS*float64(i)+off
		x, y, xx, xy, yy = x+at, y+backlog, xx+at*at, xy+at*backlog, yy+backlog*backlog
	}
	n := float64(readings)
	xx, xy, yy = xx-x*x/n, xy-x*y/n, yy-y*y/n
	slope := xy / xx
	deviation := math.Sqrt((yy - slope*xy) / (n - 2) / xx)
	r := new(result.Run)
	r.Run.FinishedAt = time.Unix(1, 0) // it ended
	r.Lag = result.Lag{BacklogGrowthPerS: &slope, BacklogGrowthErrorPerS: &deviation, BacklogReadings: readings}
	return r
}

const (
	searches = 1000
	judged   = 13 - 1 + 11 // probes of a search by default, without its closed loop and with its curve
	probe    = 10          // readings
	confirm  = 30
)

var noises = map[string]func(*rand.Rand) float64{
	"normal": (*rand.Rand).NormFloat64,
	"skewed": func(r *rand.Rand) float64 { return r.ExpFloat64() - 1 },
}

func noGrowth(t *testing.T) figure.Expectation {
	t.Helper()
	e, err := figure.ParseExpectation("backlog_growth <= 0")
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// One of twenty searches with stable backlogs may call any of its probes growing. In recorded runs
// neighbouring readings correlate at 0.08.
func TestGrowthHasALevelForAllProbes(t *testing.T) {
	alone := noGrowth(t)
	for name, noise := range noises {
		for memory, most := range map[float64]float64{0: 0.055, 0.1: 0.1} {
			random := rand.New(rand.NewPCG(1, 2))
			var byAlone, byAll float64 // of searches
			for range searches {
				metAlone, metAll := true, true
				for i := range judged {
					readings := probe
					if i < 2 {
						readings = confirm
					}
					r := growing(random, readings, 0, memory, noise)
					a := alone.Check(r, nil).Outcome == figure.Met
					b := alone.Among(judged).Check(r, nil).Outcome == figure.Met
					metAlone, metAll = metAlone && a, metAll && b
				}
				if !metAlone {
					byAlone += 1. / searches
				}
				if !metAll {
					byAll += 1. / searches
				}
			}
			t.Logf("%s, memory %.1f: %.1f %% of searches call a stable probe growing; each tested alone, %.1f %%", name,
				memory, byAll*100, byAlone*100)
			if byAll > most || byAlone < 0.5 {
				t.Errorf("%s, memory %.1f: %.3f of searches, want at most %.3f", name, memory, byAll, most)
			}
		}
	}
}

// Over the window, the backlog grows by some standard deviations of its noise.
func TestGrowthIsFound(t *testing.T) {
	all := noGrowth(t).Among(judged)
	for name, noise := range noises {
		for readings, deviations := range map[int]float64{probe: 8, confirm: 4} {
			random, found := rand.New(rand.NewPCG(3, 4)), 0.
			for range searches {
				if all.Check(growing(random, readings, deviations/float64(readings), 0, noise), nil).Outcome != figure.Met {
					found += 1. / searches
				}
			}
			t.Logf("%s, %d readings: a growth by %v deviations is found in %.1f %%", name, readings, deviations, found*100)
			if found < 0.9 {
				t.Errorf("%s, %d readings: a growth by %v deviations is found in only %.3f", name, readings, deviations, found)
			}
		}
	}
}
