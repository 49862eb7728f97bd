package report_test

import (
	"bytes"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/resulttest"
	"kafkabench.example/kafka-bench/internal/show/analysis"
	"kafkabench.example/kafka-bench/internal/show/layout"
	"kafkabench.example/kafka-bench/internal/show/report"
)

// study makes up the variants of a study of backpressure from overloads.
type study struct {
	*maker
}

// run is a repeat of a variant: an overload, with or without a gate.
func (s study) run(variant string, plan resulttest.Plan, change func(*result.Recorded)) *result.Recorded {
	r := simulate(s.t, plan)
	s.made++
	run := &r.Run
	run.Run.Name, run.Run.ID = "backpressure-short-"+variant, fmt.Sprintf("r%05d", s.made)
	run.Run.StartedAt = resulttest.StartedAt.Add(time.Duration(s.made) * time.Minute)
	run.Run.FinishedAt = run.Run.StartedAt.Add(time.Minute)
	r.Dir = fmt.Sprintf("runs/%s-%s-%s", run.Run.StartedAt.Format("20060102T150405Z"), run.Run.Name, run.Run.ID)
	resulttest.Set(&run.Scenario, "name", run.Run.Name)
	resulttest.Set(&run.Scenario, "consume.commit", "1s")
	resulttest.Set(&run.Scenario, "backpressure", map[string]any{"controller": variant})
	run.Delivery.DeliveredPerS *= 1 + 0.001*s.random.NormFloat64()
	noise := 1 + 0.01*s.random.NormFloat64()
	for _, metric := range result.TimeMetrics {
		run.Time[metric] = scaled(run.Time[metric], noise)
	}
	*run.Lag.PeakRecords += s.random.Int64N(90)
	if change != nil {
		change(r)
	}
	if b := run.Backpressure; b != nil && b.MaxLag > 0 {
		ratio := float64(*run.Lag.PeakRecords) / float64(b.MaxLag)
		b.PeakLagToBound = &ratio
	}
	return r
}

// bounded puts the run under a controller that keeps the lag below a bound.
func (s study) bounded(controller string, bound func(i int) int64, peak int64, perS, busy float64) func(*result.Recorded) {
	return func(r *result.Recorded) {
		run := &r.Run
		b := run.Backpressure
		b.Controller, b.ResumeLag, b.Decisions, b.Signal, b.Per = controller, 0, 0, "committed", "topic"
		b.Shed = &result.ShedCounts{ByGate: run.Load.Shed}
		b.BoundRecords = &result.Bound{Min: math.MaxInt64}
		for i := range r.Intervals {
			at := bound(i)
			r.Intervals[i].BoundRecords = &at
			if lag := r.Intervals[i].LagRecords; lag != nil {
				*lag = min(*lag, at)
			}
			b.BoundRecords.Min, b.BoundRecords.Max, b.BoundRecords.Last = min(b.BoundRecords.Min, at), max(b.BoundRecords.Max, at), at
		}
		*run.Lag.PeakRecords = peak - s.random.Int64N(60)
		run.Delivery.DeliveredPerS = perS + 3*s.random.NormFloat64()
		*run.Consumer.Utilisation = busy
	}
}

// credit keeps 5,000 records and all consumers at work.
func (s study) credit() *result.Recorded {
	return s.run("credit", resulttest.OverloadTight(), s.bounded("credit", func(int) int64 { return 5000 }, 4931, 2640, 0.9975))
}

// latency holds 250 ms, commits ten times as often, and leaves a little unused.
func (s study) latency() *result.Recorded {
	return s.run("latency", resulttest.OverloadTight(), func(r *result.Recorded) {
		s.bounded("latency", func(i int) int64 { return 640 + 30*int64(i%4) }, 720, 2561, 0.9701)(r)
		r.Run.Backpressure.MaxLag, r.Run.Backpressure.TargetNs = 0, 250e6
		resulttest.Set(&r.Run.Scenario, "consume.commit", "100ms")
		for _, metric := range []string{"e2e_service_time", "e2e_response_time", "processed_response_time"} {
			r.Run.Time[metric] = scaled(r.Run.Time[metric], 0.2)
		}
	})
}

// short is a campaign of the four variants, with so many repeats.
func short(t *testing.T, repeat int) *result.RecordedCampaign {
	s := study{newMaker(t, 7)}
	variants := []string{"off", "hysteresis-tight", "credit", "latency"}
	c := &result.RecordedCampaign{Dir: "runs/20261121T195900Z-backpressure-short-s8ort1"}
	c.Campaign = result.Campaign{
		SchemaVersion: 1, Axes: []result.Axis{{Path: "variant", Values: variants}},
		Campaign: result.CampaignInfo{
			ID: "s8ort1", Name: "backpressure-short", Kind: result.KindRuns, Question: "What does backpressure cost in delivered_per_s, and what does it hold?",
			StartedAt: resulttest.StartedAt, FinishedAt: resulttest.StartedAt.Add(time.Hour), Order: "interleaved", Repeat: repeat, Tool: result.Tool{Version: "0.1.0"},
		},
	}
	for _, v := range variants {
		c.Campaign.Cells = append(c.Campaign.Cells, result.Cell{Name: "backpressure-short-" + v, Values: []string{v}})
	}
	for round := range repeat {
		for i, r := range []*result.Recorded{
			s.run("off", resulttest.Overload(), nil), s.run("hysteresis-tight", resulttest.OverloadTight(), nil), s.credit(), s.latency(),
		} {
			c.Runs = append(c.Runs, r)
			c.Campaign.Runs = append(c.Campaign.Runs, result.CampaignRun{Cell: i, Round: round, Dir: "../" + filepath.Base(r.Dir), Status: result.Valid})
		}
	}
	return c
}

// The study as it is read: one run of each as the short form has it, and repeated,
// with a verdict.
func TestCampaignOfBackpressure(t *testing.T) {
	once, repeated := campaign(short(t, 1), ""), campaign(short(t, 5), "")
	for _, width := range []int{80, 120} {
		for name, write := range map[string]func(*bytes.Buffer, report.Options) error{"study-short": once, "study-repeated": repeated} {
			got := written(t, write, report.Options{Width: width})
			screens(t, got, width, 180)
			golden(t, fmt.Sprintf("%s-%d", name, width), got)
		}
	}
	golden(t, "study-repeated.md", written(t, repeated, report.Options{Format: report.AsMarkdown}))
}

// Words about a controller follow its figures, and none is said of invalid runs.
func TestWhatControllersHeld(t *testing.T) {
	s := study{newMaker(t, 3)}
	said := func(runs ...*result.Recorded) string {
		return strings.Join(strings.Fields(string(sideBySide(t, runs...))), " ")
	}
	off := s.run("off", resulttest.Overload(), nil)
	credit := func(peak int64) *result.Recorded {
		r := s.credit()
		*r.Run.Lag.PeakRecords = peak
		*r.Run.Backpressure.PeakLagToBound = float64(peak) / 5000
		return r
	}
	for _, c := range []struct {
		name string
		runs []*result.Recorded
		says []string
		not  []string
	}{
		{
			"kept and used", []*result.Recorded{off, credit(5000)},
			[]string{"credit kept its bound: the lag peaked at 5,000 of 5,000.", "off was not drained", "÷ without backpressure: backpressure-short-credit against backpressure-short-off (2,6", "differs in backpressure alone."},
			[]string{"over its bound", "left capacity unused"},
		},
		{
			"broken once in three", []*result.Recorded{credit(4990), credit(5001), credit(4980)},
			[]string{"credit went over its bound in 1 of 3 runs: the lag peaked at 5,001 of 5,000, 1.00 ×.", "no valid run here offered the same"},
			[]string{"kept its bound"},
		},
		{
			"by partition", []*result.Recorded{s.run("credit", resulttest.OverloadTight(), func(r *result.Recorded) {
				r.Run.Backpressure.Controller, r.Run.Backpressure.Per, *r.Run.Lag.PeakRecords = "credit", "partition", 4000
			})},
			[]string{"kept its bound: the lag of the worst partition peaked at 4,000 of 5,000."}, nil,
		},
		{
			"unused", []*result.Recorded{off, s.latency()},
			[]string{"latency left capacity unused: it delivered 9", "differs in backpressure and consume.commit.", "held its target at p99 to within 1.2 ×: e2e response time p99 is 26"},
			[]string{"All deliver about the same"},
		},
		{
			"invalid", []*result.Recorded{invalidated(s.run("off", resulttest.Overload(), nil)), invalidated(credit(5001)), credit(4000)},
			[]string{"kept its bound: the lag peaked at 4,000 of 5,000.", "of 2 runs, invalid", "no valid run here offered the same"},
			[]string{"over its bound", "against backpressure-short-off"},
		},
		{"none valid", []*result.Recorded{invalidated(credit(4000))}, nil, []string{"kept its bound", "capacity"}},
		{
			"deferring", []*result.Recorded{s.run("credit", resulttest.Baseline(), func(r *result.Recorded) {
				r.Run.Backpressure = &result.Backpressure{Controller: "credit", Excess: "defer", MaxLag: 20_000, DeferredPeakRecords: 4_000}
			})},
			[]string{"held back up to 4,000 records at the source, and they went out later: its response times count from when each was due, and are of all.", "deferred, peak 4,000"}, nil,
		},
		{
			"degrading", []*result.Recorded{s.run("credit", resulttest.OverloadTight(), func(r *result.Recorded) {
				r.Run.Backpressure.Excess, r.Run.Backpressure.DeferredPeakRecords = "degrade", 1723
			})},
			[]string{"held back up to 1,723 records at the source, and they went out later: its response times count from when each was due, and are of the 24.64 % that it admitted."},
			[]string{"and are of all"},
		},
		{
			"too small a bound", []*result.Recorded{s.run("credit", resulttest.OverloadTight(), func(r *result.Recorded) {
				*r.Run.Consumer.Utilisation = 0.6
				r.Run.Verdict.Warnings = append(r.Run.Verdict.Warnings, scenario.SmallBound+"11,550 records; it is 5,000. Less holds back consumers that keep up")
			})},
			[]string{"left its consumers idle for 40.00 % of the window while it turned load away. Its bound is too small for what is under way: give at least 11,550 records; it is 5,000."}, nil,
		},
		{
			"processes, undecided", []*result.Recorded{apart(credit(5100), 4900), apart(credit(4990), 4800)},
			[]string{"It is undecided whether backpressure-short-credit kept its bound in 1 of 2 runs: the lag peaked at 4,900 to 5,100 of 5,000;", "÷ max_lag, at the least"},
			[]string{"over its bound", "backpressure-short-credit kept its bound:"},
		},
		{
			"processes, over", []*result.Recorded{apart(credit(5100), 5050), apart(credit(5080), 4800)},
			[]string{"credit went over its bound in 1 of 2 runs: the lag peaked at 5,050 to 5,100 of 5,000, 1.02 ×."}, []string{"undecided"},
		},
		{
			"processes, kept", []*result.Recorded{apart(credit(4990), 4900)},
			[]string{"credit kept its bound: the lag peaked at 4,990 of 5,000."}, []string{"undecided", "over its bound"},
		},
		{
			"two gates, once each", []*result.Recorded{s.run("hysteresis-tight", resulttest.OverloadTight(), nil), credit(5000)},
			[]string{"backpressure-short-credit's p99 is ", " × that of backpressure-short-hysteresis-tight; one run of each carries no claim."},
			[]string{"as well"},
		},
		{
			"gates with other commits", []*result.Recorded{credit(5000), credit(5000), s.latency(), s.latency()},
			[]string{"latency's p99 is 0.20 × that of backpressure-short-credit; too few runs to show a difference. They differ in consume.commit as well."}, nil,
		},
		{
			"gates under other loads", []*result.Recorded{credit(5000), s.run("latency", resulttest.Baseline(), func(r *result.Recorded) {
				r.Run.Backpressure = &result.Backpressure{Controller: "latency", Excess: "shed", TargetNs: 250e6}
			})},
			nil, []string{"'s p99 is "},
		},
		{
			"a target among methods", []*result.Recorded{late(s.latency()), late(s.latency()), older(late(s.latency()))},
			[]string{"latency went over its target of 100 ms at p99 in all 2 runs: "}, nil,
		},
		{
			"over its time", []*result.Recorded{s.run("latency", resulttest.Baseline(), func(r *result.Recorded) {
				p99 := r.Run.Time["e2e_response_time"].P99Ns
				r.Run.Backpressure = &result.Backpressure{Controller: "latency", Excess: "shed", TargetNs: p99*10/12 - 1e4}
			})},
			[]string{"latency went over its target of ", "1.20 × the target"}, []string{"held its target"},
		},
		{
			"held its time", []*result.Recorded{s.run("latency", resulttest.Baseline(), func(r *result.Recorded) {
				r.Run.Backpressure = &result.Backpressure{Controller: "latency", Excess: "shed", TargetNs: 250e6}
				r.Run.Lag.Changes = []result.Change{{What: "work 1ms"}}
			})},
			[]string{"latency held its target at p99 to within 1.2 ×: e2e response time p99 is ", "had not settled when the next change"}, []string{"÷ max_lag", "kept its bound"},
		},
	} {
		got := said(c.runs...)
		for _, want := range c.says {
			if !strings.Contains(got, want) {
				t.Errorf("%s: it does not say %q:\n%s", c.name, want, got)
			}
		}
		for _, never := range c.not {
			if strings.Contains(got, never) {
				t.Errorf("%s: it says %q:\n%s", c.name, never, got)
			}
		}
	}
}

// late is the run with a target that it did not hold, and older one that method 1 measured.
func late(r *result.Recorded) *result.Recorded {
	r.Run.Backpressure.TargetNs = 100e6
	return r
}

func older(r *result.Recorded) *result.Recorded {
	r.Run.Run.MethodVersion = 1
	return r
}

// apart is the run with producers in several processes, so that its lag peaked at this at
// the least.
func apart(r *result.Recorded, least int64) *result.Recorded {
	ratio := float64(least) / float64(r.Run.Backpressure.MaxLag)
	r.Run.Lag.PeakAtLeastRecords, r.Run.Backpressure.PeakAtLeastToBound = &least, &ratio
	return r
}

// A range of the peak is printed as one, and the bound is undecided only within it.
func TestTextOfApart(t *testing.T) {
	s := study{newMaker(t, 5)}
	for _, c := range []struct {
		least, peak int64
		says        string
	}{
		{4900, 5100, "0.98 to 1.02 ×: the lag peaked at 4,900 to 5,100 of 5,000 records, UNDECIDED: "},
		{4900, 4950, "0.98 to 0.99 ×: the lag peaked at 4,900 to 4,950 of 5,000 records gate"},
		{4950, 4950, "0.99 ×: the lag peaked at 4,950 of 5,000 records gate"},
		{5050, 5100, "1.01 to 1.02 ×: the lag peaked at 5,050 to 5,100 of 5,000 records, OVER the bound"},
	} {
		r := s.credit()
		ratio := float64(c.peak) / 5000
		*r.Run.Lag.PeakRecords, r.Run.Backpressure.PeakLagToBound = c.peak, &ratio
		if got := strings.Join(strings.Fields(string(text(t, apart(r, c.least), report.Options{}))), " "); !strings.Contains(got, c.says) {
			t.Errorf("%d to %d: it does not say %q:\n%s", c.least, c.peak, c.says, got)
		}
	}
}

// A backlog shrinks below what is offered only where not all is admitted, and a
// settling time is told no more exactly than it was looked at.
func TestTextOfChanges(t *testing.T) {
	s := study{newMaker(t, 6)}
	r := s.credit()
	took, settling := 1.5, 0.0
	r.Run.Lag.Changes = []result.Change{{
		AtNs: 5e9, What: "work 1ms", BacklogRecords: 5000, NormalRecords: 500,
		OfferedPerS: 14_923, DeliveredPerS: 11_949, DrainTimeS: &took, SettlingS: &settling,
	}}
	got := strings.Join(strings.Fields(string(text(t, r, report.Options{}))), " ")
	for _, want := range []string{
		"caught up in 1.50 s at 11,949/s while 14,923/s were offered, and only a part of them admitted",
		"settled within 0.1 s: what is delivered each second within 10 % of its level from then on",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("it does not say %q:\n%s", want, got)
		}
	}
}

// Under backpressure no figure is the one that all would rank by, and a question that
// names none is answered by what is shown.
func TestUnrankedUnderBackpressure(t *testing.T) {
	c := short(t, 2)
	c.Campaign.Campaign.Question = "Which gate costs the least?"
	c.Runs[2].Run.Verdict.Warnings = []string{"the machine's CPUs were 97.00 % busy"}
	c.Runs[6].Run.Verdict.Warnings = []string{"the machine's CPUs were 98.50 % busy"}
	d, err := report.AnalyseCampaign(c, "")
	if err != nil || d.Answer.Status != analysis.AnswerNoRanking || d.Answer.Figure != "" || !strings.Contains(d.Answer.Sentence, "What it shows") {
		t.Errorf("%+v, %v", d.Answer, err)
	}
	if d, err := report.AnalyseCampaign(c, "delivered_per_s"); err != nil || d.Answer.Figure != "delivered_per_s" {
		t.Errorf("with a figure: %+v, %v", d.Answer, err)
	}
	got := string(written(t, campaign(c, ""), report.Options{}))
	if n := strings.Count(got, "CPUs were"); n != 1 || !strings.Contains(got, "credit, at worst: the machine's CPUs were 98.50 % busy.") {
		t.Errorf("a warning of two runs is told %d times:\n%s", n, got)
	}
}

// What a run of a gate with faults says on a page it says in a pull request as well.
func TestMarkdownOfBackpressure(t *testing.T) {
	r := study{newMaker(t, 9)}.credit()
	r.Run.Faults = []result.Fault{{Name: "kill", Target: "consumer 1", StartNs: 8e9}}
	r.Events = append(r.Events, result.Event{AtNs: 8e9, Kind: "fault", What: "kill consumer 1"})
	var b bytes.Buffer
	if err := report.Runs(&b, []*result.Recorded{r}, report.Options{Format: report.AsMarkdown}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"- controller: credit: holds a lag of at most 5,000", "- lag ÷ max\\_lag: 0.9", "**Faults, and what followed**", "- ⚠️ 8 s: kill consumer 1"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("it does not say %q:\n%s", want, b.String())
		}
	}
}

// invalidated is the run, and it is not to be relied on.
func invalidated(r *result.Recorded) *result.Recorded {
	r.Run.Verdict = result.Verdict{Status: result.Invalid, Reasons: []string{"the pacer was late"}}
	return r
}

// A run in which everything is told that a gate can tell: parts of what was shed, a
// bound that moved, processes, faults and a change.
func TestTextOfBackpressure(t *testing.T) {
	s := study{newMaker(t, 9)}
	r := s.latency()
	run := &r.Run
	resulttest.Set(&run.Scenario, "load.processes", 3)
	b := run.Backpressure
	b.MaxLag, b.Processes, b.Share, b.BlindS = 5000, 3, "demand", 1.25
	b.Shed = &result.ShedCounts{ByGate: run.Load.Shed - 700, ByDegrade: 700}
	settling := 1.2
	run.Lag.Changes = []result.Change{{AtNs: 5e9, What: "work 1ms", NormalRecords: 500, SettlingS: &settling}, {AtNs: 12e9, What: "work 4ms", NormalRecords: 500}}
	back := int64(16e9)
	run.Faults = []result.Fault{
		{Name: "kill", Target: "consumer 1", StartNs: 8e9, EndNs: &back, Detail: "it had partitions [6 7], and had not committed 53 records that it was handed"},
		{Name: "start", Target: "consumer 1", StartNs: back},
	}
	r.Events = append(r.Events, result.Event{AtNs: -1e9, Kind: "rebalance", What: "before the window"},
		result.Event{AtNs: 8e9, Kind: "fault", What: "kill consumer 1", Reason: run.Faults[0].Detail})
	for i := range 20 {
		r.Events = append(r.Events, result.Event{AtNs: 14e9 + int64(i)*1e8, Kind: "rebalance", What: fmt.Sprintf("consumer 0 was assigned partitions [%d]", i)})
	}
	got := text(t, r, report.Options{})
	screens(t, got, layout.Width, 106)
	golden(t, "backpressure", got)
	for _, width := range []int{80, 120} {
		screens(t, text(t, r, report.Options{Width: width}), width, 116)
	}
}

// A run with two faults is not two kinds of run, and what a scenario asks for is not
// hidden.
func TestFaultsAreAskedFor(t *testing.T) {
	with := func(faults ...any) *result.Recorded {
		r := simulate(t, resulttest.Baseline())
		r.Run.Faults = []result.Fault{{Name: "kill", Target: "consumer 1"}, {Name: "start", Target: "consumer 1"}}
		if faults != nil {
			resulttest.Set(&r.Run.Scenario, "faults", faults)
		}
		return r
	}
	plain := analysis.Set{Label: "plain", Runs: []*result.Recorded{simulate(t, resulttest.Baseline())}}
	for _, c := range []struct {
		name   string
		run    *result.Recorded
		hidden bool
	}{
		{"asked for", with(map[string]any{"at": "8s", "kill": "consumer 1"}, map[string]any{"at": "16s", "start": "consumer 1"}), false},
		{"not asked for", with(), true},
	} {
		again := *c.run
		c.run.Run.Run.ID, again.Run.Run.ID = "k3x7qa", "o7fq2m"
		faulty := analysis.Set{Label: "killed", Runs: []*result.Recorded{c.run, &again}}
		found, err := analysis.Compare([]analysis.Set{plain, faulty}, analysis.CompareOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if text := strings.Join(report.ComparisonOf(found).Warnings, "\n"); strings.Contains(text, "mixes") {
			t.Errorf("%s: %s", c.name, text)
		}
		hidden := false
		for _, d := range found.Against[0].Hidden {
			hidden = hidden || d.Name == "faults" && d.B == "kill consumer 1, then start consumer 1"
		}
		if hidden != c.hidden || hidden == (len(found.Against[0].Configuration) > 0) {
			t.Errorf("%s: hidden %+v, configuration %+v", c.name, found.Against[0].Hidden, found.Against[0].Configuration)
		}
	}
}

// A variant is compared with the one that offered the same without backpressure,
// where there is one, and is told to be better or worse only by enough runs.
func TestVariantsAreCompared(t *testing.T) {
	for repeat, words := range map[int]map[string]string{
		1: {},
		2: {"hysteresis-tight": analysis.WordTooFew, "credit": analysis.WordTooFew, "latency": analysis.WordTooFew},
		5: {"hysteresis-tight": analysis.WordWorse, "credit": analysis.WordNoDifference, "latency": analysis.WordWorse},
	} {
		d, err := report.AnalyseCampaign(short(t, repeat), "")
		if err != nil {
			t.Fatal(err)
		}
		if len(d.Against) != len(words) {
			t.Errorf("%d repeats: %d variants are compared, want %d", repeat, len(d.Against), len(words))
		}
		for _, c := range d.Against {
			others := map[string][]string{"latency": {"consume.commit"}}[c.Variant]
			if !slices.Equal(c.DiffersIn, others) {
				t.Errorf("%s differs from off in %v beside backpressure, want %v", c.Variant, c.DiffersIn, others)
			}
			if c.Base != "off" || len(c.Figures) != 3 || c.Figures[0].Figure != "delivered_per_s" || c.Figures[0].Word != words[c.Variant] {
				t.Errorf("%d repeats: %s against %s: %+v", repeat, c.Variant, c.Base, c.Figures)
			}
		}
	}
}

// The live view shows the bound beside the lag, where there is one.
func TestLiveShowsTheBound(t *testing.T) {
	bound, lag, open := int64(4_321), int64(4_000), true
	for _, c := range []struct {
		bound *int64
		want  bool
	}{{&bound, true}, {nil, false}} {
		var b bytes.Buffer
		l := report.NewLive(&b, report.LiveOptions{Terminal: true, Name: "credit"})
		l.Interval(result.Interval{EndNs: 1e9, Phase: "measure", LagRecords: &lag, GateOpen: &open, BoundRecords: c.bound})
		if got := strings.Contains(b.String(), "bound 4,321"); got != c.want {
			t.Errorf("with a bound of %v: %q", c.bound, b.String())
		}
	}
}
