package report_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/resulttest"
	"kafkabench.example/kafka-bench/internal/show/report"
)

// maker makes up repeats of a run that differ a little from each other, the same
// for the same seed.
type maker struct {
	t      *testing.T
	random *rand.Rand
	made   int
}

func newMaker(t *testing.T, seed uint64) *maker {
	return &maker{t: t, random: rand.New(rand.NewPCG(seed, 1))}
}

// run is a repeat of a baseline in which times are so many times as long, give or
// take some per cent; what else is different is the caller's to say.
func (m *maker) run(name string, slower float64, change func(*result.Run)) *result.Recorded {
	r := simulate(m.t, resulttest.Baseline())
	m.made++
	id := fmt.Sprintf("r%05d", m.made)
	started := resulttest.StartedAt.Add(time.Duration(m.made) * time.Minute)
	r.Dir = fmt.Sprintf("runs/%s-%s-%s", started.Format("20060102T150405Z"), name, id)
	run := &r.Run
	run.Run.Name, run.Run.ID, run.Run.StartedAt, run.Run.FinishedAt = name, id, started, started.Add(21*time.Second)
	resulttest.Set(&run.Scenario, "name", name)
	noise := slower * (1 + 0.02*m.random.NormFloat64())
	for _, metric := range result.TimeMetrics { // in their order: the same every time
		if _, has := run.Time[metric]; !has {
			continue
		}
		own := noise * (1 + 0.01*m.random.NormFloat64())
		run.Time[metric] = scaled(run.Time[metric], own)
	}
	run.Load.AckedPerS += 20 * m.random.NormFloat64()
	run.Delivery.DeliveredPerS += 20 * m.random.NormFloat64()
	run.Lag.TimeLagPeakNs = int64(float64(run.Lag.TimeLagPeakNs) * noise)
	*run.Lag.PeakRecords += m.random.Int64N(400)
	run.Lag.DrainTimeS *= noise
	if change != nil {
		change(run)
	}
	return r
}

func scaled(t result.Time, by float64) result.Time {
	for _, ns := range []*int64{&t.MinNs, &t.P50Ns, &t.P75Ns, &t.P90Ns, &t.P95Ns, &t.P99Ns, &t.P995Ns, &t.P999Ns, &t.P9999Ns, &t.MaxNs} {
		*ns = int64(float64(*ns) * by)
	}
	t.MeanNs, t.StddevNs = t.MeanNs*by, t.StddevNs*by
	return t
}

// set changes a setting of load in a run's scenario.
func set(name, value string) func(*result.Run) {
	return func(r *result.Run) { resulttest.Set(&r.Scenario, "load."+name, value) }
}

// written is what a report writes in a format.
func written(t *testing.T, write func(*bytes.Buffer, report.Options) error, o report.Options) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b, o); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// allFormats holds a report in every format against its golden file, and its text
// at 80 and 120 columns against its bounds.
func allFormats(t *testing.T, name string, write func(*bytes.Buffer, report.Options) error) {
	t.Helper()
	for _, width := range []int{80, 100, 120} {
		got := written(t, write, report.Options{Width: width})
		screens(t, got, width, 200)
		golden(t, fmt.Sprintf("%s-%d", name, width), got)
	}
	golden(t, name+".md", written(t, write, report.Options{Format: report.AsMarkdown}))
	golden(t, name+".csv", written(t, write, report.Options{Format: report.AsCSV}))
	golden(t, name+".json", written(t, write, report.Options{Format: report.AsJSON}))
}
