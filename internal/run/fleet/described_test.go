package fleet_test

import (
	"os"
	"strings"
	"sync"
	"testing"

	"kafkabench.example/kafka-bench/internal/kafka/driver/franz"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/bench"
)

// described keeps run.json as it was at the first step or pulse.
type described struct {
	t    *testing.T
	dir  string
	once sync.Once
	run  *result.Run
}

func (d *described) Began(dir string)         { d.dir = dir }
func (d *described) Interval(result.Interval) {}
func (d *described) Event(result.Event)       { d.look() }
func (d *described) Pulse(result.Pulse)       { d.look() }

func (d *described) look() {
	d.once.Do(func() {
		run, err := result.ReadSummary(os.DirFS(d.dir), ".")
		if err != nil {
			d.t.Error(err)
		}
		d.run = run
	})
}

// A run that is killed before its end has a run.json that describes it.
func TestDescribedFromTheStart(t *testing.T) {
	filled := strings.Replace(small, "partitions: 8", "partitions: 8, fill_records: 400", 1)
	for name, of := range map[string]int{"without agents": 0, "with agents": 2} {
		t.Run(name, func(t *testing.T) {
			within(t, of, func(w *world) {
				seen := &described{t: t}
				cfg := w.base()
				cfg.Scenario, cfg.Driver, cfg.Watch = w.scenario(filled), franz.New(), seen
				session := ""
				if of > 0 {
					w.agents(of)
					lead := w.coordinator()
					cfg.Fleet, session = lead, "test"
					defer func() { _ = lead.Close(w.t.Context()) }()
				}
				if _, err := bench.Run(w.t.Context(), cfg); err != nil {
					t.Fatal(err)
				}
				r := seen.run
				if r == nil || r.Finished() || r.Verdict.Status != result.Invalid {
					t.Fatalf("run.json before the end is %+v", r)
				}
				i, driver := r.Run, franz.New()
				if i.Name != "small" || i.Tool.Version != "1" || i.MethodVersion != result.Method || i.Host.OS == "" ||
					i.Cluster.ID != w.cluster.Info().ID || i.Driver.Name != driver.Name() || i.Driver.Version != driver.Version() ||
					i.Session != session || (i.Placement == bench.Own) != (of > 0) || i.StartedAt.Year() < 2000 || len(i.Phases) > 0 {
					t.Errorf("run.json before the end has %+v", i)
				}
				if got := r.Scenario.Get("load.rate"); got != "2000/s" && got != "2k/s" {
					t.Errorf("run.json before the end has the load.rate %q", got)
				}
			})
		})
	}
}
