package report_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/resulttest"
	"kafkabench.example/kafka-bench/internal/show/layout"
	"kafkabench.example/kafka-bench/internal/show/report"
	"kafkabench.example/kafka-bench/internal/show/showtest"
)

func TestWhatControllersHeld(t *testing.T) {
	s := showtest.NewStudy(t, 3)
	said := func(runs ...*result.Recorded) string {
		return strings.Join(strings.Fields(string(sideBySide(t, runs...))), " ")
	}
	off := s.Variant("off", resulttest.Overload(), nil)
	credit := func(peak int64) *result.Recorded {
		r := s.Credit()
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
			"faults", []*result.Recorded{off, s.Variant("credit", resulttest.OverloadTight(), func(r *result.Recorded) {
				r.Run.Faults = []result.Fault{{Name: "kill", Target: "consumer 1"}}
			})},
			[]string{"No acked record was lost."}, nil,
		},
		{
			"broken once in three", []*result.Recorded{credit(4990), credit(5001), credit(4980)},
			[]string{"credit went over its bound in 1 of 3 runs: the lag peaked at 5,001 of 5,000, 1.00 ×.", "no valid run here offered the same"},
			[]string{"kept its bound"},
		},
		{
			"by partition", []*result.Recorded{s.Variant("credit", resulttest.OverloadTight(), func(r *result.Recorded) {
				r.Run.Backpressure.Controller, r.Run.Backpressure.Per, *r.Run.Lag.PeakRecords = "credit", "partition", 4000
			})},
			[]string{"kept its bound: the lag of the worst partition peaked at 4,000 of 5,000."}, nil,
		},
		{
			"unused", []*result.Recorded{off, s.Latency()},
			[]string{"latency left capacity unused: it delivered 9", "differs in backpressure and consume.commit.", "held its target at p99 to within 1.2 ×: e2e response time p99 is 26"},
			[]string{"All deliver about the same"},
		},
		{
			"invalid", []*result.Recorded{invalidated(s.Variant("off", resulttest.Overload(), nil)), invalidated(credit(5001)), credit(4000)},
			[]string{"kept its bound: the lag peaked at 4,000 of 5,000.", "of 2 runs, invalid", "no valid run here offered the same"},
			[]string{"over its bound", "against backpressure-short-off"},
		},
		{"none valid", []*result.Recorded{invalidated(credit(4000))}, nil, []string{"kept its bound", "capacity"}},
		{
			"deferring", []*result.Recorded{s.Variant("credit", resulttest.Baseline(), func(r *result.Recorded) {
				r.Run.Backpressure = &result.Backpressure{Controller: "credit", Excess: "defer", MaxLag: 20_000, DeferredPeakRecords: 4_000}
			})},
			[]string{"held back up to 4,000 records at the source, and they went out later: its response times count from when each was due, and are of all.", "deferred, peak 4,000"}, nil,
		},
		{
			"degrading", []*result.Recorded{s.Variant("credit", resulttest.OverloadTight(), func(r *result.Recorded) {
				r.Run.Backpressure.Excess, r.Run.Backpressure.DeferredPeakRecords = "degrade", 1723
			})},
			[]string{"held back up to 1,723 records at the source, and they went out later: its response times count from when each was due, and are of the 24.64 % that it admitted."},
			[]string{"and are of all"},
		},
		{
			"too small a bound", []*result.Recorded{s.Variant("credit", resulttest.OverloadTight(), func(r *result.Recorded) {
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
			"two gates, once each", []*result.Recorded{s.Variant("hysteresis-tight", resulttest.OverloadTight(), nil), credit(5000)},
			[]string{"backpressure-short-credit's p99 is ", " × that of backpressure-short-hysteresis-tight; one run of each carries no claim."},
			[]string{"as well"},
		},
		{
			"gates with other commits", []*result.Recorded{credit(5000), credit(5000), s.Latency(), s.Latency()},
			[]string{"latency's p99 is 0.20 × that of backpressure-short-credit; too few runs to show a difference. They differ in consume.commit as well."}, nil,
		},
		{
			"gates under other loads", []*result.Recorded{credit(5000), s.Variant("latency", resulttest.Baseline(), func(r *result.Recorded) {
				r.Run.Backpressure = &result.Backpressure{Controller: "latency", Excess: "shed", TargetNs: 250e6}
			})},
			nil, []string{"'s p99 is "},
		},
		{
			"a target among methods", []*result.Recorded{late(s.Latency()), late(s.Latency()), older(late(s.Latency()))},
			[]string{"latency went over 1.2 × its target of 100 ms at p99 in both runs: "}, nil,
		},
		{
			"over its time", []*result.Recorded{s.Variant("latency", resulttest.Baseline(), func(r *result.Recorded) {
				p99 := r.Run.Time["e2e_response_time"].P99Ns
				r.Run.Backpressure = &result.Backpressure{Controller: "latency", Excess: "shed", TargetNs: p99*10/12 - 1e4}
			})},
			[]string{"latency went over 1.2 × its target of ", "1.20 × the target"}, []string{"held its target"},
		},
		{
			"over its time, the median of two", []*result.Recorded{inTime(s.Latency(), 300e6), inTime(s.Latency(), 500e6)},
			[]string{"latency went over 1.2 × its target of 100 ms at p99 in both runs: e2e response time p99 is 400 ms, 4.00 × the target."}, nil,
		},
		{
			"over its time in one of three", []*result.Recorded{inTime(s.Latency(), 90e6), inTime(s.Latency(), 500e6), inTime(s.Latency(), 110e6)},
			[]string{"in 1 of 3 runs: e2e response time p99 is 110 ms in the median and 500 ms at most, 5.00 × the target."}, nil,
		},
		{
			"held its time", []*result.Recorded{s.Variant("latency", resulttest.Baseline(), func(r *result.Recorded) {
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

func late(r *result.Recorded) *result.Recorded {
	r.Run.Backpressure.TargetNs = 100e6
	return r
}

func inTime(r *result.Recorded, p99Ns int64) *result.Recorded {
	took := r.Run.Time["e2e_response_time"]
	took.P99Ns = p99Ns
	r.Run.Time["e2e_response_time"] = took
	return late(r)
}

func older(r *result.Recorded) *result.Recorded {
	r.Run.Run.MethodVersion = 1
	return r
}

// apart returns a run whose producers are in several processes. least is the lowest possible peak
// of its lag.
func apart(r *result.Recorded, least int64) *result.Recorded {
	ratio := float64(least) / float64(r.Run.Backpressure.MaxLag)
	r.Run.Lag.PeakAtLeastRecords, r.Run.Backpressure.PeakAtLeastToBound = &least, &ratio
	return r
}

// Whether the bound was kept is undecided only if the bound is within the range of the peak.
func TestTextOfApart(t *testing.T) {
	s := showtest.NewStudy(t, 5)
	for _, c := range []struct {
		least, peak int64
		says        string
	}{
		{4900, 5100, "0.98 to 1.02 ×: the lag peaked at 4,900 to 5,100 of 5,000 records, UNDECIDED: "},
		{4900, 4950, "0.98 to 0.99 ×: the lag peaked at 4,900 to 4,950 of 5,000 records gate"},
		{4950, 4950, "0.99 ×: the lag peaked at 4,950 of 5,000 records gate"},
		{5050, 5100, "1.01 to 1.02 ×: the lag peaked at 5,050 to 5,100 of 5,000 records, OVER the bound"},
	} {
		r := s.Credit()
		ratio := float64(c.peak) / 5000
		*r.Run.Lag.PeakRecords, r.Run.Backpressure.PeakLagToBound = c.peak, &ratio
		if got := strings.Join(strings.Fields(string(text(t, apart(r, c.least), report.Options{}))), " "); !strings.Contains(got, c.says) {
			t.Errorf("%d to %d: it does not say %q:\n%s", c.least, c.peak, c.says, got)
		}
	}
}

// If more is offered than delivered, the report says that only a part was admitted. A settling time
// is not printed more precisely than it was measured.
func TestTextOfChanges(t *testing.T) {
	s := showtest.NewStudy(t, 6)
	r := s.Credit()
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

func TestMarkdownOfBackpressure(t *testing.T) {
	r := showtest.NewStudy(t, 9).Credit()
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

func invalidated(r *result.Recorded) *result.Recorded {
	r.Run.Verdict = result.Verdict{Status: result.Invalid, Reasons: []string{"the pacer was late"}}
	return r
}

func TestTextOfBackpressure(t *testing.T) {
	s := showtest.NewStudy(t, 9)
	r := s.Latency()
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
	showtest.Screens(t, got, layout.Width, 113)
	showtest.Golden(t, "backpressure", got)
	for _, width := range []int{80, 120} {
		showtest.Screens(t, text(t, r, report.Options{Width: width}), width, 126)
	}
}

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
