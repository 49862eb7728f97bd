package web

import (
	"fmt"
	"path/filepath"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/resulttest"
	"kafkabench.example/kafka-bench/internal/show/chart"
	"kafkabench.example/kafka-bench/internal/show/follow"
	"kafkabench.example/kafka-bench/internal/show/pages"
)

func TestSlimIntervalsAreEnough(t *testing.T) {
	drawn := map[string]bool{}
	all := []*result.Recorded{baseline(), resulttest.OverloadTight().Run()}
	for _, name := range []string{"overload-tight", "kmq-heavy-tail-partition-offsetmap"} {
		dirs, err := filepath.Glob("../../../results/*-" + name + "-*/" + result.IntervalsFile)
		if err != nil || len(dirs) == 0 {
			t.Fatalf("results/ has no %s with a series (%v)", name, err)
		}
		r, err := result.Read(filepath.Dir(dirs[0]))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	for _, r := range all {
		slimmed := *r
		slimmed.Intervals = nil
		for _, i := range r.Intervals {
			kept := slim(i)
			slimmed.Intervals = append(slimmed.Intervals, kept)
			if got, want := valuesOf(&r.Run, kept), valuesOf(&r.Run, i); !reflect.DeepEqual(got, want) {
				t.Errorf("%s: the values are %v, want %v", r.Run.Run.Name, got, want)
			}
			if kept.Processes != nil || kept.Groups != nil || kept.LagPartitions != nil {
				t.Errorf("%s: what nobody draws is kept: %+v", r.Run.Run.Name, kept)
			}
		}
		for _, c := range liveCharts() {
			wide, _, err := pages.Drawing(c.Name, chart.Input{Runs: []*result.Recorded{&slimmed}})
			want, _, wantErr := pages.Drawing(c.Name, chart.Input{Runs: []*result.Recorded{r}})
			if wide != want || (err == nil) != (wantErr == nil) {
				t.Errorf("%s: chart %s is another, %v and %v", r.Run.Run.Name, c.Name, err, wantErr)
			}
			drawn[c.Name] = drawn[c.Name] || wantErr == nil
		}
	}
	if len(drawn) != 5 {
		t.Errorf("charts %v", drawn)
	}
	for name, some := range drawn {
		if !some {
			t.Errorf("no run has the chart %s", name)
		}
	}
}

func TestEventsAreBounded(t *testing.T) {
	var s seen
	for n := range 20 * mostEvents {
		kind := "warning"
		if n%mostEvents == 0 {
			kind = "fault"
		}
		s.take(follow.Change{Events: []result.Event{{AtNs: int64(n), Kind: kind, What: fmt.Sprint(n)}}})
	}
	begin := seen{run: result.Recorded{Events: s.run.Events[:1]}}
	var shown state
	if begin.fill(&shown); shown.Events[0].At != "0 s" {
		t.Errorf("the begin is at %s", shown.Events[0].At)
	}
	if n := len(s.run.Events); n != 19+mostEvents {
		t.Errorf("%d events are kept", n)
	}
	for n, e := range s.run.Events {
		want := n * mostEvents
		if n >= 19 {
			want = 19*mostEvents + n - 19
		}
		if e.AtNs != int64(want) {
			t.Errorf("event %d is of %d, want %d", n, e.AtNs, want)
		}
	}
}

func TestChartsRest(t *testing.T) {
	made := resulttest.OverloadTight().Run()
	synctest.Test(t, func(t *testing.T) {
		s := seen{}
		s.take(follow.Change{Run: &made.Run, Intervals: made.Intervals[:1]})
		s.draw()
		if s.due() != nil {
			t.Error("charts that have all are due")
		}
		began := time.Now()
		for n := range 5 {
			s.take(follow.Change{Intervals: made.Intervals[n+1 : n+2]})
			s.draw()
		}
		if s.drawn != 1 {
			t.Errorf("charts of %d intervals were drawn in the rest", s.drawn)
		}
		<-s.due()
		s.draw()
		if took := time.Since(began); s.drawn != 6 || took != leastRest {
			t.Errorf("%d intervals were drawn after %v", s.drawn, took)
		}
	})
}

// The rates of agents add up, even if their pulses come at different times.
func TestAllAgentsRates(t *testing.T) {
	var pulses result.Pulses
	a, b := result.AgentPulse{Index: 0}, result.AgentPulse{Index: 1}
	for n := range int64(4) {
		for _, news := range []func(){
			func() { a.AtNs, a.Acked = 5e9*n, 5000*n },
			func() { b.AtNs, b.Acked = 5e9*n+4e9, 5000*n+4000 },
			func() {},
		} {
			news()
			pulses.Take(result.Pulse{Agents: []result.AgentPulse{a, b}})
			if all := pulses.All(); n > 1 && (all.Acked != 10_000 || all.Seconds() != 5) {
				t.Errorf("pulse %d: %d records in %v s", n, all.Acked, all.Seconds())
			}
		}
	}
}

func TestSilentAgentHasNoRate(t *testing.T) {
	var pulses result.Pulses
	for n := range int64(6) {
		a, b := result.AgentPulse{AtNs: 5e9 * n, Acked: 5000 * n}, result.AgentPulse{Index: 1, AtNs: 5e9 * min(n, 1), Acked: 5000 * min(n, 1)}
		pulses.Take(result.Pulse{Agents: []result.AgentPulse{a, b}})
	}
	if all := pulses.All(); all.Acked != 5000 || all.Seconds() != 5 {
		t.Errorf("%d records in %v s", all.Acked, all.Seconds())
	}
}

// The table of agents has each agent's rates since its own previous pulse, and the number of
// records that wait there now.
func TestAgentRows(t *testing.T) {
	pulse := func(agents ...result.AgentPulse) result.Pulse { return result.Pulse{Agents: agents} }
	quiet := result.AgentPulse{Index: 0, HostName: "node-a", Phase: "warm-up"}
	first := result.AgentPulse{Index: 1, HostName: "node-b", AtNs: 5e9, Acked: 1000}
	second := result.AgentPulse{Index: 1, HostName: "node-b", AtNs: 10e9, Phase: "measure", Scheduled: 6000, Acked: 6000, Failed: 3, DeferredRecords: 4, InFlightRecords: 5}
	var pulses result.Pulses
	for _, p := range []result.Pulse{pulse(first), pulse(quiet, second), pulse(quiet, second)} { // the last has no news
		pulses.Take(p)
	}
	want := [][]string{
		{"0 (node-a)", "warm-up", "–", "–", "–", "0", "0", "0"},
		{"1 (node-b)", "measure", "1,200/s", "1,000/s", "0/s", "3", "4", "5"},
	}
	if got := agentRows(&pulses); !reflect.DeepEqual(got, want) {
		t.Errorf("the rows are\n%q\nwant\n%q", got, want)
	}
}
