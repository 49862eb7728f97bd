package campaign

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/kafka/driver/franz"
	"kafkabench.example/kafka-bench/internal/kafka/probe"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/project/virtual"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/figure"
	"kafkabench.example/kafka-bench/internal/run/bench"
	"kafkabench.example/kafka-bench/internal/run/search"
)

// The batches are small: a slow broker takes some milliseconds for each.
func searched(t *testing.T, overrides ...string) scenario.Scenario {
	t.Helper()
	s, err := scenario.Parse("searched.yaml", []byte(`
topic: {partitions: 2}
load: {record: {size: 100B, payload: random}, linger: 2ms, compression: none, max_buffered: 1000, delivery_timeout: 1s}
phases: {warmup: 400ms, drain: 5s}
`), overrides...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func expect(t *testing.T, texts ...string) (all []figure.Expectation) {
	t.Helper()
	for _, text := range texts {
		e, err := figure.ParseExpectation(text)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}

type on struct{ cluster.Cluster }

func (o on) For(context.Context, scenario.Scenario) (cluster.Cluster, error) { return o.Cluster, nil }

func engineOn(t *testing.T, c cluster.Cluster) Engine {
	t.Helper()
	return Engine{Source: on{c}, Bench: bench.Config{Driver: franz.New(), Out: t.TempDir(), Probes: probe.Unknown()}}
}

func doSearch(t *testing.T, out string, cfg SearchConfig) (found result.Search, saved *result.Campaign, err error) {
	t.Helper()
	if err := cfg.Check(); err != nil {
		t.Fatal(err)
	}
	j, err := Create(out, cfg.Campaign(result.Tool{Version: "test"}))
	if err != nil {
		t.Fatal(err)
	}
	found, err = Search(context.Background(), j, cfg)
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	return found, savedCampaign(t, j.Dir()), err
}

func told(s result.Search) string {
	var b strings.Builder
	fmt.Fprintln(&b, s.Answer)
	for _, p := range s.Probes {
		fmt.Fprintf(&b, "  %-8s %8.1f/s passed %-5v acked %8.1f/s %s %q\n", p.Phase, p.OfferedPerS, p.Passed, p.AckedPerS, p.Limit, p.Failures)
	}
	return b.String()
}

// records/s
const capacity = 2000

// If a rate exceeds the capacity by the ratio x, the record at three quarters of a probe waits for
// 0.75·x of the probe's length. With x = 2 % and two seconds, this is the expected p75, 30 ms.
func TestSearchFindsTheCapacity(t *testing.T) {
	virtual.Test(t, virtual.Options{ProducePerSecond: capacity}, func(t *testing.T, c *virtual.Cluster) {
		engine := engineOn(t, c)
		found, saved, err := doSearch(t, engine.Bench.Out, SearchConfig{
			Maker: engine, Scenario: searched(t), Probe: 2 * time.Second, Confirm: 2 * time.Second,
			Expect: expect(t, "e2e_response_time_p75 <= 30ms", "acked_ratio >= 0.999"),
		})
		if err != nil {
			t.Fatal(err)
		}
		if perS := found.HighestPerS; perS == nil || *perS < 0.97*capacity || *perS > 1.02*capacity || found.Limit != result.LimitKafka {
			t.Errorf("the capacity is %d/s, and not %s", capacity, told(found))
		}
		if n := len(found.Probes); n > 12 || n != len(saved.Runs) {
			t.Errorf("%d probes, %d runs", n, len(saved.Runs))
		}
		if !saved.Finished() || saved.Campaign.Kind != result.KindSearch || saved.Search.Answer != found.Answer {
			t.Errorf("saved %+v", saved.Campaign)
		}
	})
}

// No probe offers more than the most that the cluster is to get, not even the closed loop.
func TestSearchKeepsItsCap(t *testing.T) {
	const most = capacity / 4
	limit := func(perS int64) unit.Rate { return unit.Rate{Records: perS, Per: time.Second} }
	for _, caps := range [][2]unit.Rate{{limit(most), {}}, {{}, limit(most)}, {limit(2 * most), limit(most)}, {limit(most), limit(2 * most)}} {
		searchWithin(t, most, caps[0], caps[1])
	}
}

func searchWithin(t *testing.T, most float64, asked, own unit.Rate) {
	t.Helper()
	virtual.Test(t, virtual.Options{ProducePerSecond: capacity}, func(t *testing.T, c *virtual.Cluster) {
		engine, s := engineOn(t, c), searched(t)
		s.Load.MaxRate = own
		found, _, err := doSearch(t, engine.Bench.Out, SearchConfig{
			Maker: engine, Scenario: s, Probe: time.Second, Confirm: time.Second,
			Options: search.Options{Resolution: 0.1}, MaxRate: asked,
			Expect: expect(t, "e2e_response_time_p50 <= 50ms"),
		})
		if err != nil {
			t.Fatal(err)
		}
		if perS := found.HighestPerS; perS == nil || *perS < most/1.1 || *perS > most {
			t.Errorf("the cap is %v/s, and not %s", most, told(found))
		}
		for _, p := range found.Probes {
			if p.AckedPerS > most*1.05 || p.OfferedPerS > most*1.05 {
				t.Errorf("above the cap of %v/s: %+v", most, p)
			}
		}
		if !slices.ContainsFunc(found.Caveats, func(s string) bool { return strings.Contains(s, "--max-rate") }) {
			t.Errorf("no caveat has the cap: %v", found.Caveats)
		}
	})
}

func TestSearchRecoversFromAStall(t *testing.T) {
	virtual.Test(t, virtual.Options{ProducePerSecond: capacity}, func(t *testing.T, c *virtual.Cluster) {
		engine := engineOn(t, c)
		var refusing atomic.Bool
		c.Fake().ControlKey(int16(kmsg.Produce), func(req kmsg.Request) (kmsg.Response, error, bool) {
			c.Fake().KeepControl()
			return refusal(req.(*kmsg.ProduceRequest)), nil, refusing.Load()
		})
		probes := 0
		found, _, err := doSearch(t, engine.Bench.Out, SearchConfig{
			Maker: engine, Scenario: searched(t), Probe: time.Second, Confirm: time.Second,
			Options: search.Options{Resolution: 0.2},
			Expect:  expect(t, "e2e_response_time_p50 <= 50ms"),
			Began: func(search.Step, scenario.Scenario) {
				probes++
				refusing.Store(probes == 2)
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		stalled, again := found.Probes[1], found.Probes[2]
		if !stalled.Stalled || stalled.Passed || stalled.AckedPerS != 0 {
			t.Errorf("the second probe was to stall: %+v", stalled)
		}
		if again.Phase != string(search.Retry) || again.OfferedPerS != stalled.OfferedPerS {
			t.Errorf("it was to be made again: %+v", again)
		}
		if perS := found.HighestPerS; perS == nil || *perS < capacity/1.25 || *perS > capacity*1.1 {
			t.Errorf("the capacity is %d/s, and not %s", capacity, told(found))
		}
	})
}

func refusal(req *kmsg.ProduceRequest) kmsg.Response {
	resp := req.ResponseKind().(*kmsg.ProduceResponse)
	for _, t := range req.Topics {
		topic := kmsg.NewProduceResponseTopic()
		topic.Topic, topic.TopicID = t.Topic, t.TopicID
		for _, p := range t.Partitions {
			partition := kmsg.NewProduceResponseTopicPartition()
			partition.Partition, partition.ErrorCode = p.Partition, kerr.NotEnoughReplicas.Code
			topic.Partitions = append(topic.Partitions, partition)
		}
		resp.Topics = append(resp.Topics, topic)
	}
	return resp
}

// plant makes up the results of runs without a Kafka. Response times are 5 ms at rates up to
// plant.holds, and 500 ms above it. A closed loop reaches twice plant.holds.
type plant struct {
	maker
	holds float64
	// change changes a run for the test; nil does nothing.
	change func(made int, s scenario.Scenario, r *result.Run)
	count  int
}

func (p *plant) Make(ctx context.Context, s scenario.Scenario, began func(string)) (*bench.Outcome, error) {
	o, err := p.maker.Make(ctx, s, began)
	if err != nil {
		return nil, err
	}
	r, window := &o.Run, time.Duration(s.Phases.Measure).Seconds()
	offered := s.Load.Rate.PerSecond()
	if s.Load.Rate.IsMax() {
		offered, r.Load.ClosedLoop = 2*p.holds, true
	}
	r.Load.OfferedPerS, r.Load.AckedPerS, r.Delivery.DeliveredPerS = offered, offered, offered
	r.Load.Scheduled = int64(offered * window)
	r.Load.Acked, r.Load.Admitted = r.Load.Scheduled, r.Load.Scheduled
	response := 5 * time.Millisecond
	if offered > p.holds {
		response = 500 * time.Millisecond
	}
	r.Time = map[string]result.Time{"e2e_response_time": {Count: r.Load.Acked, P50Ns: int64(response), P99Ns: int64(response), P999Ns: int64(response), MaxNs: int64(response)}}
	r.Run.Cluster.Note, r.Consumer.Members = "made up", s.Consume.Consumers
	if p.change != nil {
		p.change(p.count, s, r)
	}
	p.count++
	return o, nil
}

func madeUp(t *testing.T, p *plant) SearchConfig {
	t.Helper()
	p.out, p.noFiles = t.TempDir(), true
	if p.holds == 0 {
		p.holds = 5000
	}
	return SearchConfig{
		Maker: p, Scenario: searched(t), Probe: 10 * time.Second, Confirm: 30 * time.Second,
		Expect: expect(t, "e2e_response_time_p99 <= 50ms"),
	}
}

func TestSearchAnswers(t *testing.T) {
	busy := 0.99
	for name, c := range map[string]struct {
		plant   plant
		config  func(*SearchConfig)
		answer  string
		limit   string
		caveats []string
	}{
		"found": {
			answer: "4,999/s is the highest rate that holds: a run of 30s met every expectation. 5,141/s did not pass: e2e_response_time_p99 is 500 ms, expected <= 50ms.",
			limit:  result.LimitKafka,
		},
		"the tool": {
			plant: plant{change: func(_ int, _ scenario.Scenario, r *result.Run) {
				if r.Time["e2e_response_time"].P99Ns > 50_000_000 {
					r.Process.HostCPUBusy = &busy
				}
			}},
			answer: "4,999/s is the highest rate that holds: a run of 30s met every expectation. 5,141/s did not pass: e2e_response_time_p99 is 500 ms, expected <= 50ms; the machine's CPUs were 99.00 % busy. There the limit was this tool or its machine, and not Kafka alone.",
			limit:  result.LimitTool,
		},
		"nothing holds": {
			plant: plant{change: func(_ int, _ scenario.Scenario, r *result.Run) {
				r.Verdict = result.Verdict{Status: result.Invalid, Reasons: []string{"3 records were lost"}}
			}},
			answer: "No rate holds, down to 100/s. 100/s did not pass: 3 records were lost.",
			limit:  result.LimitKafka,
		},
		"nothing comes through": {
			plant: plant{change: func(_ int, _ scenario.Scenario, r *result.Run) {
				r.Load.AckedPerS = 0
			}},
			answer: "Nothing came through in 3 runs of the closed loop: there is nothing to search.",
		},
		"it does not keep up": {
			plant: plant{holds: 1000, change: func(_ int, _ scenario.Scenario, r *result.Run) {
				r.Time = nil
				r.Load.AckedPerS = min(r.Load.AckedPerS, 1000)
			}},
			config: func(c *SearchConfig) { c.Expect = nil },
			answer: "995/s is the highest rate that holds: a run of 30s met every expectation. 1,020/s did not pass: it did not keep up: 1,000/s of 1,020/s came through in the measured window.",
			limit:  result.LimitKafka,
		},
		"it does not keep up, and the resolution is coarse": {
			plant: plant{holds: 1000, change: func(_ int, _ scenario.Scenario, r *result.Run) {
				r.Time = nil
				r.Delivery.DeliveredPerS = min(r.Delivery.DeliveredPerS, 1000)
			}},
			config: func(c *SearchConfig) { c.Expect, c.Options.Resolution = expect(t, "failed <= 0"), 0.5 },
			answer: "900/s is the highest rate that holds: a run of 30s met every expectation. 1,100/s did not pass: it did not keep up: 1,000/s of 1,100/s came through in the measured window.",
			limit:  result.LimitKafka,
		},
		"too few probes": {
			config: func(c *SearchConfig) { c.Options.MaxProbes = 5 },
			answer: "3,674/s is the highest rate that holds: a run of 30s met every expectation. 9,000/s did not pass: e2e_response_time_p99 is 500 ms, expected <= 50ms.",
			limit:  result.LimitKafka,
			caveats: []string{
				"the answer is known to 145.0 %, not to 3 %: the probes were used up",
				"9,000/s failed once and was not tried again: no probe was left",
			},
		},
		"too few records for a probe, and enough for a longer one": {
			plant:  plant{holds: 50},
			answer: "50.0/s is the highest rate that holds: a run of 30s met every expectation. 51.4/s did not pass: e2e_response_time_p99 is 500 ms, expected <= 50ms.",
			limit:  result.LimitKafka,
		},
		"too few records": {
			plant:  plant{holds: 10},
			answer: "It is unknown whether 18.0/s holds: e2e_response_time_p99 is not known: 540 records are too few for p99; expected <= 50ms. Give --confirm 1m3s: probes are lengthened up to that.",
		},
		"too few records, below one that failed": {
			plant:  plant{holds: 300},
			config: func(c *SearchConfig) { c.Expect = expect(t, "e2e_response_time_p99_9 <= 50ms") },
			answer: "It is unknown whether 326/s holds: e2e_response_time_p99_9 is not known: 9,789 records are too few for p99.9; expected <= 50ms. Give --confirm 32s: probes are lengthened up to that. 336/s did not pass: e2e_response_time_p99_9 is 500 ms, expected <= 50ms.",
			limit:  result.LimitKafka,
		},
		"no probe left to confirm": {
			plant: plant{change: func(_ int, s scenario.Scenario, r *result.Run) {
				if strings.HasSuffix(s.Name, "-confirm") {
					r.Time["e2e_response_time"] = result.Time{Count: 1e6, P99Ns: 1e9}
				}
			}},
			answer: "No rate is confirmed: runs of 30s failed down to 3,774/s, and the probes were used up; allow more with --max-probes. 3,774/s did not pass: e2e_response_time_p99 is 1.00 s, expected <= 50ms.",
			limit:  result.LimitKafka,
		},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := madeUp(t, &c.plant)
			if c.config != nil {
				c.config(&cfg)
			}
			found, saved, err := doSearch(t, c.plant.out, cfg)
			if err != nil {
				t.Fatal(err)
			}
			if found.Answer != c.answer || found.Limit != c.limit {
				t.Errorf("limit %q, and\n%s, want limit %q, and\n%s", found.Limit, told(found), c.limit, c.answer)
			}
			for _, caveat := range c.caveats {
				if !slices.Contains(found.Caveats, caveat) {
					t.Errorf("%q is not among the caveats %q", caveat, found.Caveats)
				}
			}
			if !saved.Finished() || len(saved.Runs) != len(found.Probes) {
				t.Errorf("saved %+v", saved)
			}
		})
	}
}

func TestSearchCampaign(t *testing.T) {
	p := &plant{}
	found, saved, err := doSearch(t, p.out, madeUp(t, p))
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(p.out)
	names := make(map[string]bool)
	for i, probe := range found.Probes {
		run := saved.Runs[probe.Run]
		if probe.Run != i || run.Status != result.Valid || run.Dir == "" {
			t.Errorf("probe %d is run %d, %+v", i, probe.Run, run)
		}
		names[saved.Cells[run.Cell].Name] = true
	}
	if len(names) != len(saved.Cells) || len(names) != len(found.Probes)-1 || saved.Made() != len(found.Probes) || saved.Campaign.Repeat != 2 {
		t.Errorf("%d cells, %d names of them, %d probes, of which one is a second try", len(saved.Cells), len(names), len(found.Probes))
	}
	if again := slices.IndexFunc(saved.Runs, func(r result.CampaignRun) bool { return r.Round == 1 }); again < 0 || found.Probes[again].Phase != string(search.Retry) {
		t.Errorf("the second try is run %d of %+v", again, saved.Runs)
	}
	for _, want := range []string{"searched-max", "searched-9000-per-s", "searched-4999-per-s-confirm"} {
		if !names[want] {
			t.Errorf("no cell is called %s: %v", want, names)
		}
	}
	if got := *found.CapacityPerS; got != 10_000 || *found.Probes[1].ResponseP99Ns != 500_000_000 || found.Probes[0].ResponseP99Ns != nil {
		t.Errorf("capacity %v, %+v", got, found.Probes[:2])
	}
	if !slices.Contains(found.Caveats, "made up") {
		t.Errorf("the caveats are %q", found.Caveats)
	}
}

func TestSearchInterrupted(t *testing.T) {
	made := 0
	p := &plant{}
	p.next = func() string {
		if made++; made == 4 {
			return result.Interrupted
		}
		return result.Valid
	}
	found, saved, err := doSearch(t, p.out, madeUp(t, p))
	if !errors.Is(err, ErrInterrupted) {
		t.Errorf("err = %v", err)
	}
	if want := "The search ended early: so far 1,500/s has passed a probe of 10s, and is not confirmed. 9,000/s did not pass: e2e_response_time_p99 is 500 ms, expected <= 50ms."; found.Answer != want {
		t.Errorf("got\n%s, want\n%s", found.Answer, want)
	}
	if slices.ContainsFunc(found.Caveats, func(c string) bool { return strings.Contains(c, "no probe was left") }) {
		t.Errorf("eight were left: %q", found.Caveats)
	}
	if saved.Finished() || saved.Search.Answer != found.Answer || len(saved.Search.Probes) != 3 || found.HighestPerS != nil {
		t.Errorf("saved %+v", saved.Search)
	}
}

// A run that lost an agent says nothing about its rate, and ends the search at any step.
func TestSearchLosesAnAgent(t *testing.T) {
	const agent = "an agent was lost: agent 1: " + result.EndedEarly
	for want, c := range map[string]struct {
		at      int
		curve   bool
		curveOf float64
	}{
		"The search ended early (" + agent + "): no rate had passed yet.":                                     {at: 1},
		"The search ended early (" + agent + "): so far 1,500/s has passed a probe of 10s, and is not":        {at: 4},
		"4,999/s is the highest rate that holds: a run of 30s met every expectation. 5,141/s did not pass: e": {at: 12, curve: true},
		"The curve ended early (" + agent + "): every rate that was tried met the expectations, up to 2,000":  {at: 3, curveOf: 10_000},
	} {
		made, places := 0, 0
		p := &plant{}
		p.next = func() string {
			if made++; made == c.at {
				return left
			}
			return result.Valid
		}
		cfg := madeUp(t, p)
		cfg.Curve, cfg.CurveOfPerS = c.curve, c.curveOf
		found, saved, err := doSearch(t, p.out, cfg)
		if !errors.Is(err, ErrAgentLost) || !strings.HasPrefix(found.Answer, want) || !strings.Contains(found.Answer, agent) {
			t.Errorf("%v, and the answer is\n%s, want\n%s", err, found.Answer, want)
		}
		for _, run := range saved.Runs {
			places += strings.Count(run.Error, agent)
		}
		if len(found.Probes) != c.at-1 || places != 1 || saved.Finished() || saved.Search.Answer != found.Answer {
			t.Errorf("saved %+v, %+v", saved.Runs, saved.Search)
		}
	}
}

func TestSearchCannotStart(t *testing.T) {
	p := &plant{}
	p.next = func() string { return result.Failed }
	cfg := madeUp(t, p)
	j, err := Create(p.out, cfg.Campaign(result.Tool{Version: "test"}))
	if err != nil {
		t.Fatal(err)
	}
	found, err := Search(context.Background(), j, cfg)
	if !errors.Is(err, errTopic) || len(found.Probes) != 0 || !j.Empty() {
		t.Errorf("%v, %+v", err, found)
	}
	if err := j.Close(); err != nil {
		t.Error(err)
	}
}

func TestCaveatsOfAFailureNearTheAnswer(t *testing.T) {
	p := &prober{found: &result.Search{HighestPerS: new(100.0), FailedPerS: new(150.0), ResolutionRatio: 0.03,
		Probes: []result.Probe{
			{Phase: string(search.Bisect), OfferedPerS: 100}, {Phase: string(search.Bisect), OfferedPerS: 150},
			{Phase: string(search.Confirm), OfferedPerS: 100, Passed: true},
			{Phase: string(search.Curve), OfferedPerS: 110, Failures: []string{"the p99 is 68 ms"}},
			{Phase: string(search.Curve), OfferedPerS: 105, Doubtful: true},
		}}}
	p.caveats(search.Finding{})
	if want := []string{
		"the answer is known to 10.0 %, not to 3 %: one run on the curve failed there",
		"on the curve 110/s did not pass: the p99 is 68 ms",
	}; !slices.Equal(p.found.Caveats, want) {
		t.Errorf("the caveats are %q, want %q", p.found.Caveats, want)
	}
}

func TestCurve(t *testing.T) {
	stalls := 0
	p := &plant{change: func(_ int, s scenario.Scenario, r *result.Run) {
		switch perS := s.Load.Rate.PerSecond(); {
		case perS == 2000, perS == 999.8 && stalls == 0:
			stalls++
			r.Load.AckedPerS = 0
		case perS == 5499:
			r.Time["e2e_response_time"] = result.Time{Count: r.Load.Acked, P99Ns: 5e6}
		}
	}}
	cfg := madeUp(t, p)
	cfg.Curve = true
	found, _, err := doSearch(t, p.out, cfg)
	if err != nil {
		t.Fatal(err)
	}
	var curve []float64
	for _, probe := range found.Probes {
		if probe.Phase == string(search.Curve) {
			curve = append(curve, probe.OfferedPerS)
		}
	}
	if want := []float64{499.9, 999.8, 999.8, 1500, 2000, 2000, 2500, 2999, 3499, 3999, 4499, 5499}; !slices.Equal(curve, want) {
		t.Errorf("the curve has %v, want %v: one stalled, and 4999/s is confirmed already", curve, want)
	}
	if want := " Below the answer, 2,000/s (nothing came through; it did not keep up: 0/s of 2,000/s came through in the " +
		"measured window) did not pass. 1,000/s (nothing came through; it did not keep up: 0/s of 1,000/s came through " +
		"in the measured window) passed only when tried again."; !strings.HasSuffix(found.Answer, want) {
		t.Errorf("the answer is\n%s, want at its end\n%s", found.Answer, want)
	}
	onCurve := slices.DeleteFunc(slices.Clone(found.Caveats), func(c string) bool { return !strings.HasPrefix(c, "on the curve") })
	if len(onCurve) != 1 || !strings.HasPrefix(onCurve[0], "on the curve 5,499/s passed") {
		t.Errorf("the caveats are %q", found.Caveats)
	}

	p = &plant{}
	cfg = madeUp(t, p)
	cfg.CurveOfPerS = 10_000
	found, saved, err := doSearch(t, p.out, cfg)
	if err != nil {
		t.Fatal(err)
	}
	if len(found.Probes) != 11 || found.Answer != "the expectations are met up to 5,000/s." || found.HighestPerS != nil || !saved.Finished() {
		t.Errorf("%+v", found)
	}
}

// The recorded search of the preset baseline failed stable probes: it tested the growth of each one
// alone. A backlog that grows by a tenth of a percent of the load fails.
func TestGrowthOfAllProbes(t *testing.T) {
	growing := 5000.
	p := &plant{change: func(_ int, s scenario.Scenario, r *result.Run) {
		r.Lag = result.Lag{BacklogGrowthPerS: new(28.6), BacklogGrowthErrorPerS: new(12.2), BacklogReadings: 10, Drained: true}
		if s.Load.Rate.PerSecond() > growing {
			r.Lag.BacklogGrowthPerS = new(56.)
		}
	}}
	cfg := madeUp(t, p)
	cfg.Curve, cfg.Expect = true, append(cfg.Expect, expect(t, "backlog_growth <= 0")...)
	found, _, err := doSearch(t, p.out, cfg)
	if err != nil {
		t.Fatal(err)
	}
	const want = "4,999/s is the highest rate that holds: a run of 30s met every expectation. 5,141/s did not pass: " +
		"e2e_response_time_p99 is 500 ms, expected <= 50ms; backlog_growth is 56.0/s ± 48.0/s, expected <= 0."
	if found.Answer != want || found.GrowthTests != 12+11 {
		t.Errorf("%d tests, and\n%s, want\n%s", found.GrowthTests, told(found), want)
	}
	cfg = madeUp(t, p)
	cfg.CurveOfPerS, cfg.Expect = 5000, expect(t, "backlog_growth <= 0")
	if found, _, err = doSearch(t, p.out, cfg); err != nil || found.GrowthTests != 11 ||
		found.Answer != "the expectations are met up to 5,000/s." {
		t.Errorf("%v, %d tests, and\n%s", err, found.GrowthTests, told(found))
	}
}

func TestCurveAnswer(t *testing.T) {
	passed := func(perS float64) result.Probe { return result.Probe{OfferedPerS: perS, Passed: true} }
	failed := func(perS float64) result.Probe { return result.Probe{OfferedPerS: perS} }
	tooFew := func(perS float64) result.Probe { return result.Probe{OfferedPerS: perS, TooFew: true} }
	for want, probes := range map[string][]result.Probe{
		"no rate was tried.": nil,
		"every rate that was tried met the expectations, up to 300/s.":                                          {tooFew(100), failed(200), passed(200), passed(300)},
		"the expectations are met up to 200/s.":                                                                 {passed(100), failed(200), passed(200), failed(300), passed(400)},
		"not even the lowest rate met the expectations.":                                                        {tooFew(100), failed(200), failed(200), passed(300)},
		"the records are too few to judge any rate; give a longer --confirm: probes are lengthened up to that.": {tooFew(100), tooFew(200)},
	} {
		if got := (SearchConfig{}).curveAnswer(&result.Search{Probes: probes}, nil); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestEnough(t *testing.T) {
	for _, c := range []struct {
		expected string
		perS     float64
		want     time.Duration
	}{
		{"e2e_response_time_p99 <= 50ms", 200, 10 * time.Second},
		{"e2e_response_time_p99 <= 50ms", 100, 12 * time.Second}, // 1,000 ± 126 of 1,200
		{"e2e_response_time_p99_9 <= 50ms", 1000, 11 * time.Second},
		{"e2e_response_time_p99_99 <= 50ms", 1000, 30 * time.Second},
		{"e2e_response_time_max <= 50ms", 1, 10 * time.Second},
		{"backlog_peak <= 5", 1, 10 * time.Second},
	} {
		cfg := madeUp(t, &plant{})
		cfg.Expect = expect(t, c.expected)
		if got := cfg.window(search.Step{Phase: search.Bisect, PerS: c.perS}); got != c.want {
			t.Errorf("%s at %v/s: %v, want %v", c.expected, c.perS, got, c.want)
		}
		if got := cfg.window(search.Step{Phase: search.Confirm, PerS: c.perS}); got != cfg.Confirm {
			t.Errorf("a confirmation is %v long", got)
		}
	}
}

func TestProbeQuotesFigures(t *testing.T) {
	cfg := madeUp(t, &plant{})
	for count, want := range map[int64][2]bool{10: {}, 500: {true, false}, 1000: {true, true}} {
		r := result.Run{Time: map[string]result.Time{"e2e_response_time": {Count: count, P50Ns: 1, P99Ns: 2}}}
		r.Run.FinishedAt = time.Now()
		probe, _ := cfg.judge(search.Step{Phase: search.Bisect, PerS: 100}, &r)
		if got := [2]bool{probe.ResponseP50Ns != nil, probe.ResponseP99Ns != nil}; got != want {
			t.Errorf("%d records: %v, want %v", count, got, want)
		}
	}
}

func TestSearchCheck(t *testing.T) {
	for name, c := range map[string]struct {
		overrides []string
		change    func(*SearchConfig)
		want      string
	}{
		"bursts":        {[]string{"load.arrival={process: burst, peak: 2k/s, length: 1s, period: 10s}"}, nil, "the arrivals of scenario searched are burst, and a search varies one rate; add --set load.arrival=constant"},
		"a gate":        {[]string{"backpressure={controller: hysteresis, max_lag: 100}"}, nil, "scenario searched holds load back, so that Kafka gets less than the offered load; add --set backpressure=off"},
		"a change":      {[]string{"consume.changes=[{at: 20s, work: 1ms}]"}, nil, "as a probe of 10s: "},
		"resolution":    {nil, func(c *SearchConfig) { c.Options.Resolution = 0.9 }, "a resolution of 90 % is out of range; give 0.5% to 50%"},
		"no probes":     {nil, func(c *SearchConfig) { c.Options.MaxProbes = 1 }, "a search of at most 1 probes is out of range; give 4 to 1000"},
		"no window":     {nil, func(c *SearchConfig) { c.Probe = 0 }, "a probe of 0s measures nothing; give 10s, or more"},
		"short confirm": {nil, func(c *SearchConfig) { c.Confirm = time.Second }, "a confirmation of 1s is no longer than a probe of 10s; give more"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := madeUp(t, &plant{})
			cfg.Scenario = searched(t, c.overrides...)
			if c.change != nil {
				c.change(&cfg)
			}
			if err := cfg.Check(); err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("err = %v, want %s", err, c.want)
			}
		})
	}
	for _, s := range []scenario.Scenario{searched(t), searched(t, "load.arrival=poisson"), searched(t, "consume.consumers=0")} {
		cfg := madeUp(t, &plant{})
		cfg.Scenario = s
		if err := cfg.Check(); err != nil {
			t.Error(err)
		}
		for _, text := range DefaultExpectations(s) {
			if _, err := figure.ParseExpectation(text); err != nil {
				t.Error(err)
			}
		}
	}
}
