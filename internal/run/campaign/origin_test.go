package campaign

import (
	"errors"
	"testing"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/bench"
)

func TestResumedBySameMachines(t *testing.T) {
	host := result.Host{OS: "linux", Arch: "amd64", Kernel: "6.12.8", CPUModel: "EPYC", CPUs: 2, MemoryBytes: 8 << 30}
	begunBy := func(agents int, placement string) Origin {
		var of result.RecordedCampaign
		run := result.Run{Run: result.Info{Host: host, Placement: placement}, Agents: make([]result.Agent, agents)}
		run.Run.Cluster.Kind = "kafka"
		of.Runs = []*result.Recorded{nil, {Run: run}}
		return OriginOf(&of)
	}
	begunApart := func(agents, senders int) Origin {
		of := begunBy(agents, bench.Apart)
		of.fleet.Senders = senders
		return of
	}
	with := func(change func(*result.Host)) Makers {
		h := host
		change(&h)
		return Makers{Host: h}
	}
	agents := func(n int, placement string) Makers {
		return Makers{Fleet: result.Fleet{Agents: n, Placement: placement}}
	}
	apart := func(n, senders int) Makers {
		return Makers{Fleet: result.Fleet{Agents: n, Placement: bench.Apart, Senders: senders}}
	}
	for name, c := range map[string]struct {
		begun Origin
		now   Makers
		want  string
	}{
		"nothing was begun": {Origin{}, Makers{}, ""},
		"the same":          {begunBy(0, ""), Makers{Host: host}, ""},
		"less memory":       {begunBy(0, ""), with(func(h *result.Host) { h.MemoryBytes = 1 << 30 }), ""},
		"more CPUs": {begunBy(0, ""), with(func(h *result.Host) { h.CPUs = 4 }),
			"the campaign was begun on 2 × EPYC with linux 6.12.8, and would go on with 4 × EPYC with linux 6.12.8: its runs would not compare; begin a new campaign"},
		"another model": {begunBy(0, ""), with(func(h *result.Host) { h.CPUModel = "Xeon" }),
			"the campaign was begun on 2 × EPYC with linux 6.12.8, and would go on with 2 × Xeon with linux 6.12.8: its runs would not compare; begin a new campaign"},
		"another kernel": {begunBy(0, ""), with(func(h *result.Host) { h.Kernel = "6.13.0" }),
			"the campaign was begun on 2 × EPYC with linux 6.12.8, and would go on with 2 × EPYC with linux 6.13.0: its runs would not compare; begin a new campaign"},
		"the same agents":  {begunBy(3, bench.Own), agents(3, bench.Own), ""},
		"a queue's agents": {Origin{run: &result.Info{}, fleet: agents(3, bench.Any).Fleet, queue: true}, agents(3, bench.Own), ""},
		"own after any": {begunBy(3, bench.Any), agents(3, bench.Own),
			"the campaign was begun with 3 agents (any), and would go on with 3 agents (own): its runs would not compare; give the same agents, or begin a new campaign"},
		"agents on machines not yet seen": {begunBy(3, bench.Own), Makers{Host: result.Host{CPUs: 64}, Fleet: agents(3, bench.Own).Fleet}, ""},
		"no agents": {begunBy(3, bench.Own), Makers{Host: host},
			"the campaign was begun with 3 agents (own), and would go on with no agents: its runs would not compare; give the same agents, or begin a new campaign"},
		"agents": {begunBy(0, ""), agents(2, bench.Own),
			"the campaign was begun with no agents, and would go on with 2 agents (own): its runs would not compare; give the same agents, or begin a new campaign"},
		"another placement": {begunBy(3, bench.Own), apart(3, 1),
			"the campaign was begun with 3 agents (own), and would go on with 3 agents (apart, 1 sender): its runs would not compare; give the same agents, or begin a new campaign"},
		"the same senders":                 {begunApart(3, 2), apart(3, 2), ""},
		"a run whose agents are not known": {begunBy(0, bench.Own), agents(3, bench.Own), ""},
		"other senders": {begunApart(3, 2), apart(3, 1),
			"the campaign was begun with 3 agents (apart, 2 senders), and would go on with 3 agents (apart, 1 sender): its runs would not compare; give the same agents, or begin a new campaign"},
	} {
		err := c.begun.CheckMakers(c.now)
		if c.want == "" && err != nil || c.want != "" && (err == nil || err.Error() != c.want || !errors.Is(err, ErrOtherOrigin)) {
			t.Errorf("%s: %v\nwant %s", name, err, c.want)
		}
	}
}
