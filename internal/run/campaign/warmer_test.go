package campaign

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/kafka/driver/franz"
	"kafkabench.example/kafka-bench/internal/kafka/probe"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/project/virtual"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/bench"
)

type asKafka struct{ *cluster.Embedded }

func (k *asKafka) Info() cluster.Info {
	info := k.Embedded.Info()
	info.Kind = cluster.KindKafka
	return info
}

// A closed loop needs brokers that take some time for each record.
var brokers = virtual.Options{ProducePerSecond: 20_000}

func moreBrokers(t *testing.T) *cluster.Embedded {
	t.Helper()
	o := brokers
	o.Network = &kfake.VirtualNetwork{}
	e, err := cluster.StartEmbedded(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Stop(context.Background()) })
	return e
}

func coldStart(warmup time.Duration) scenario.Scenario {
	s := scenario.Defaults()
	s.Name, s.Topic.Partitions, s.Load.Record.Payload.Class = "s", 1, "random"
	s.Cluster.Warmup = unit.Duration(warmup)
	s.Phases = scenario.Phases{Measure: unit.Duration(200 * time.Millisecond), Drain: unit.Duration(time.Second)}
	return s
}

func TestWarmer(t *testing.T) {
	out, aside := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", aside)
	virtual.Test(t, brokers, func(t *testing.T, c *virtual.Cluster) {
		var told []string
		e := Engine{
			Bench:  bench.Config{Driver: franz.New(), Probes: probe.Unknown(), Out: out},
			Warmer: &Warmer{Tell: func(what string) { told = append(told, what) }},
		}
		first, second := &asKafka{c.Embedded}, &asKafka{moreBrokers(t)}
		const length = 300 * time.Millisecond
		for i, run := range []struct {
			on     cluster.Cluster
			warmup time.Duration
			told   int
			want   float64
		}{
			{first, length, 1, 0.3}, {first, length, 1, 0.3}, {second, length, 2, 0.3},
			{first, 0, 2, 0}, {first, length, 2, 0},
			{moreBrokers(t), length, 2, 0}, // the embedded broker needs no warm-up
		} {
			e.Source = on{run.on}
			outcome, err := e.Make(t.Context(), coldStart(run.warmup), nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := outcome.Run.Run.Cluster.WarmedUpS; got != run.want || len(told) != run.told {
				t.Errorf("run %d: its brokers were warmed up for %v s, and told was %q", i, got, told)
			}
		}
		if told[0] != "warming up the new brokers for 300 ms" {
			t.Errorf("told was %q", told)
		}
		if left, _ := os.ReadDir(aside); len(left) > 0 {
			t.Errorf("%v are left behind", left)
		}
		if made, _ := filepath.Glob(filepath.Join(out, "*")); len(made) != 6 || slices.ContainsFunc(made, func(dir string) bool { return filepath.Ext(dir) != "" }) {
			t.Errorf("six runs have made %v", made)
		}
	})
}

func TestWarmerOfQueues(t *testing.T) {
	virtual.Test(t, brokers, func(t *testing.T, c *virtual.Cluster) {
		const length = 200 * time.Millisecond
		of := func(engine string, producers int) scenario.Scenario {
			s := coldStart(length)
			s.Consume.Queue = scenario.Queue{Engine: engine}
			s.Load.Producers = producers
			return s.Resolve()
		}
		elsewhere := of("share", 1)
		elsewhere.Cluster.Brokers = 7
		var told []string
		e := Engine{
			Source: on{&asKafka{c.Embedded}},
			Bench:  bench.Config{Driver: franz.New(), Probes: probe.Unknown(), Out: t.TempDir()},
			Warmer: &Warmer{
				Tell:    func(what string) { told = append(told, what) },
				Planned: []scenario.Scenario{of("", 1), of("plain", 1), of("plain", 3), elsewhere},
			},
		}
		for i, run := range []struct {
			engine string
			told   []string
			want   float64
		}{
			{"plain", []string{"warming up the new brokers for 200 ms with the queue's engine plain", "warming up the new brokers for 200 ms"}, 0.4},
			{"", nil, 0.4},
			{"offsetmap", []string{"warming up the new brokers for 200 ms with the queue's engine offsetmap"}, 0.6},
			{"offsetmap", nil, 0.6},
		} {
			told = nil
			outcome, err := e.Make(t.Context(), of(run.engine, 2), nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := outcome.Run.Run.Cluster.WarmedUpS; math.Abs(got-run.want) > 1e-9 || !slices.Equal(told, run.told) {
				t.Errorf("run %d: its brokers were warmed up for %v s, and told was %q", i, got, told)
			}
		}
		other := of("plain", 5)
		other.Driver = "sarama"
		e.Warmer.Planned = append(e.Warmer.Planned, other)
		if all := busiest(of("plain", 2), e.Warmer.Planned); len(all) != 2 || all[0].Load.Producers != 3 {
			t.Errorf("the busiest are %+v", all)
		}
		if takes := warmsUp(of("plain", 2), e.Warmer.Planned); takes != 2*(length+firstGuess) {
			t.Errorf("two kinds are warmed up for in %v", takes)
		}
	})
}

func TestWarmerInterrupted(t *testing.T) {
	virtual.Test(t, brokers, func(t *testing.T, c *virtual.Cluster) {
		interrupt := make(chan struct{})
		e := Engine{
			Source: on{&asKafka{c.Embedded}},
			Bench:  bench.Config{Driver: franz.New(), Probes: probe.Unknown(), Out: t.TempDir(), Interrupt: interrupt},
			Warmer: &Warmer{Tell: func(string) { close(interrupt) }},
		}
		if _, err := e.Make(t.Context(), coldStart(time.Minute), nil); !errors.Is(err, context.Canceled) {
			t.Errorf("an interrupt of the warm-up: %v", err)
		}
	})
}

func TestWarmup(t *testing.T) {
	for _, name := range scenario.Names() {
		suite, err := scenario.ReadSuite(name, scenario.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, cell := range suite.Cells {
			s := cell.Scenario
			if s.Topic.Existing != "" {
				continue
			}
			s.Cluster.Warmup = unit.Duration(8 * time.Second)
			w := warmup(s)
			if err := w.Validate(); err != nil {
				t.Errorf("%s: %v", cell.Name, err)
			}
			if kind(w) != kind(s) || w.Consume.Queue.Drop.Share > 0 {
				t.Errorf("%s is warmed up with the queue %+v", cell.Name, w.Consume.Queue)
			}
			if s.Load.Rate.IsMax() && s.Load.Producers > 0 && w.Load.Producers != s.Load.Producers || !w.Load.Rate.IsMax() {
				t.Errorf("%s is warmed up by %d producers at %v", cell.Name, w.Load.Producers, w.Load.Rate)
			}
			if w.Topic.Partitions < s.Cluster.Brokers || w.Topic.Replication != s.Topic.Replication || len(w.Faults) > 0 {
				t.Errorf("%s is warmed up by %+v", cell.Name, w)
			}
		}
	}
}

func TestWarmupIsForeseen(t *testing.T) {
	takes := func(text string) time.Duration {
		s, err := scenario.Parse("s", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		p := Plan{Cells: []scenario.Cell{{Scenario: s}}, Runs: []PlannedRun{{}, {Round: 1}}}
		return p.Takes(p.Runs)
	}
	if more := takes("cluster: {warmup: 8s}") - takes("cluster: {brokers: 1}"); more != 8*time.Second+firstGuess {
		t.Errorf("a warm-up of 8 s takes %v more in two runs on one cluster", more)
	}
}

func TestBy(t *testing.T) {
	for _, name := range scenario.Names() {
		suite, err := scenario.ReadSuite(name, scenario.Options{})
		if err != nil {
			t.Fatal(err)
		}
		p, err := NewPlan([]scenario.Suite{suite}, PlanOptions{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		c, err := p.Campaign(result.Tool{})
		if err != nil {
			t.Fatal(err)
		}
		if saved, err := Saved(&c); err != nil || saved.By != suite.By || c.Campaign.By != suite.By {
			t.Errorf("%s: by %q, and saved is %q, %v", name, suite.By, saved.By, err)
		}
	}
	for by, want := range map[string]string{"bogus": "scenario s: by: ", "offered": "scenario s: by: "} {
		_, err := NewPlan([]scenario.Suite{{Name: "s", By: by, Repeat: 1, Cells: []scenario.Cell{{Name: "s"}}}}, PlanOptions{})
		if err == nil || err.Error()[:len(want)] != want {
			t.Errorf("by %s: %v", by, err)
		}
	}
}
