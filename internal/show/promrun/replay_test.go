package promrun

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/measure/latency"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/resulttest"
	"kafkabench.example/kafka-bench/internal/show/follow"
)

// replay writes a recorded run again, an interval at a time.
type replay struct {
	t         testing.TB
	run       *result.Recorded
	writer    *result.Writer
	log       *latency.LogWriter
	follower  *follow.Follower
	collector *Collector
	written   int
}

// All fields of the intervals are known, even those that no real run has together.
func replayed(t testing.TB) *replay {
	t.Helper()
	plan := resulttest.OverloadTight()
	plan.RatePerS, plan.MaxLag, plan.ResumeLag = 5000, 2000, 500
	plan.Warmup, plan.Measure, plan.Drain = time.Second, 4*time.Second, 2*time.Second
	r := plan.Run()
	for n := range r.Intervals {
		fill(&r.Intervals[n], int64(n))
	}
	w, err := result.Create(t.TempDir(), r.Run.Run.Name, r.Run.Run.StartedAt)
	must(t, err)
	r.Run.Run.ID = w.ID()
	must(t, w.Describe(r.Run.Run, r.Run.Scenario))
	root, err := os.OpenRoot(filepath.Dir(w.Dir()))
	must(t, err)
	f, err := follow.Open(root, filepath.Base(w.Dir()))
	must(t, err)
	t.Cleanup(func() { f.Close(); root.Close() })
	f.Histograms = true
	p := &replay{
		t: t, run: r, writer: w, log: latency.NewLogWriter(w.HistogramLog(), r.Run.Run.StartedAt),
		follower: f, collector: New(),
	}
	p.follow()
	return p
}

func fill(i *result.Interval, n int64) {
	acked, again, dead, oldest, bound, none := i.Acked/2, i.Acked/10, n%3, n*1e9, int64(2000), int64(0)
	i.AckedByQueue, i.Redelivered, i.DeadLettered = &acked, &again, &dead
	i.QueueInFlight, i.QueueOldestUnackedNs = &again, &oldest
	i.BoundRecords, i.UnderReplicated, i.Leaderless = &bound, &n, &none
	cores, rss := 0.5+float64(n)/100, 300_000_000+n
	for id := range int32(2) {
		i.Brokers = append(i.Brokers, result.IntervalBroker{ID: id, CPUCores: &cores, RSSBytes: &rss})
	}
}

func (p *replay) next() bool {
	p.t.Helper()
	if p.written == len(p.run.Intervals) {
		must(p.t, p.writer.Finish(p.run.Run))
		return !p.follow()
	}
	i := p.run.Intervals[p.written]
	p.written++
	n := int64(p.written)
	must(p.t, p.writer.Pulse(result.Pulse{Agents: []result.AgentPulse{
		{HostName: "node-a", Scheduled: 9 * n, Acked: 8 * n, Delivered: 7 * n, Failed: n, DeferredRecords: 2, InFlightRecords: 3},
	}}))
	for m := range latency.Metric(latency.NumMetrics) {
		for _, measured := range []bool{false, true} {
			h := latency.NewHistogram()
			for ns := int64(30_000); ns < 100e9; ns *= 7 {
				h.RecordN(ns*(int64(m)+1), 5)
			}
			must(p.t, p.log.Write(time.Duration(i.StartNs), time.Duration(i.EndNs), latency.Tag(measured, m), h))
		}
	}
	must(p.t, p.writer.Interval(i))
	p.follow()
	return true
}

func (p *replay) follow() (ended bool) {
	p.t.Helper()
	change, err := p.follower.Next(p.t.Context())
	must(p.t, err)
	p.collector.Take(change)
	return change.Ended
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

type query struct {
	panel, expr string
	overTime    bool
}

type panel struct {
	ID          int    `json:"id"`
	Type        string `json:"type"`
	Title       string `json:"title"`
	Description string `json:"description"`
	Datasource  struct {
		UID string `json:"uid"`
	} `json:"datasource"`
	GridPos struct{ H, W, X, Y int } `json:"gridPos"`
	Targets []struct {
		RefID string `json:"refId"`
		Expr  string `json:"expr"`
	} `json:"targets"`
	FieldConfig struct {
		Defaults struct {
			Unit string `json:"unit"`
		} `json:"defaults"`
	} `json:"fieldConfig"`
}

type dashboard struct {
	UID           string  `json:"uid"`
	Title         string  `json:"title"`
	SchemaVersion int     `json:"schemaVersion"`
	Panels        []panel `json:"panels"`
	Templating    struct {
		List []struct {
			Name       string `json:"name"`
			Type       string `json:"type"`
			Definition string `json:"definition"`
		} `json:"list"`
	} `json:"templating"`
}

func deployed(t testing.TB, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("../../../deploy", filepath.FromSlash(name)))
	must(t, err)
	return content
}

func readDashboard(t testing.TB) (d dashboard) {
	t.Helper()
	must(t, json.Unmarshal(deployed(t, "grafana/dashboards/kafka-bench.json"), &d))
	return d
}

func (d dashboard) queries() (all []query) {
	for _, p := range d.Panels {
		for _, target := range p.Targets {
			all = append(all, query{panel: p.Title, expr: target.Expr, overTime: p.Type == "timeseries"})
		}
	}
	return all
}
