package showtest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/resulttest"
)

// simulated caches encoded runs, which take long to make.
var simulated = map[resulttest.Plan][]byte{}

// Simulate returns a copy of the plan's run, which the caller may change.
func Simulate(t testing.TB, p resulttest.Plan) *result.Recorded {
	t.Helper()
	encoded, ok := simulated[p]
	if !ok {
		var err error
		if encoded, err = json.Marshal(p.Run()); err != nil {
			t.Fatal(err)
		}
		simulated[p] = encoded
	}
	r := new(result.Recorded)
	if err := json.Unmarshal(encoded, r); err != nil {
		t.Fatal(err)
	}
	return r
}

// Maker makes repeats of a run that differ slightly, the same for the same seed.
type Maker struct {
	t      *testing.T
	Random *rand.Rand
	Made   int
}

func NewMaker(t *testing.T, seed uint64) *Maker {
	return &Maker{t: t, Random: rand.New(rand.NewPCG(seed, 1))}
}

// Run returns a repeat of a baseline whose times are multiplied by slower, with a noise of a few
// per cent. change makes other changes.
func (m *Maker) Run(name string, slower float64, change func(*result.Run)) *result.Recorded {
	r := Simulate(m.t, resulttest.Baseline())
	m.Made++
	id := fmt.Sprintf("r%05d", m.Made)
	started := resulttest.StartedAt.Add(time.Duration(m.Made) * time.Minute)
	r.Dir = fmt.Sprintf("runs/%s-%s-%s", started.Format("20060102T150405Z"), name, id)
	run := &r.Run
	run.Run.Name, run.Run.ID, run.Run.StartedAt, run.Run.FinishedAt = name, id, started, started.Add(21*time.Second)
	resulttest.Set(&run.Scenario, "name", name)
	noise := slower * (1 + 0.02*m.Random.NormFloat64())
	for _, metric := range result.TimeMetrics { // in their order: the same every time
		if _, has := run.Time[metric]; !has {
			continue
		}
		own := noise * (1 + 0.01*m.Random.NormFloat64())
		run.Time[metric] = Scaled(run.Time[metric], own)
	}
	run.Load.AckedPerS += 20 * m.Random.NormFloat64()
	run.Delivery.DeliveredPerS += 20 * m.Random.NormFloat64()
	run.Lag.TimeLagPeakNs = int64(float64(run.Lag.TimeLagPeakNs) * noise)
	*run.Lag.PeakRecords += m.Random.Int64N(400)
	run.Lag.DrainTimeS *= noise
	if change != nil {
		change(run)
	}
	return r
}

func Scaled(t result.Time, by float64) result.Time {
	for _, ns := range []*int64{&t.MinNs, &t.P50Ns, &t.P75Ns, &t.P90Ns, &t.P95Ns, &t.P99Ns, &t.P995Ns, &t.P999Ns, &t.P9999Ns, &t.MaxNs} {
		*ns = int64(float64(*ns) * by)
	}
	t.MeanNs, t.StddevNs = t.MeanNs*by, t.StddevNs*by
	if t.MADNs != nil {
		mad := int64(float64(*t.MADNs) * by)
		t.MADNs = &mad
	}
	return t
}

// Set returns a change of a setting of load in a run's scenario.
func Set(name, value string) func(*result.Run) {
	return func(r *result.Run) { resulttest.Set(&r.Scenario, "load."+name, value) }
}

// Trials returns n, or a tenth with -short, which finds only gross errors.
func Trials(n int) int {
	if testing.Short() {
		return n / 10
	}
	return n
}
