package report_test

import (
	"bytes"
	"testing"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/resulttest"
	"kafkabench.example/kafka-bench/internal/show/layout"
	"kafkabench.example/kafka-bench/internal/show/report"
	"kafkabench.example/kafka-bench/internal/show/showtest"
)

func sideBySide(t *testing.T, runs ...*result.Recorded) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := report.SideBySide(&b, runs, report.Options{}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestSideBySide(t *testing.T) {
	got := sideBySide(t, showtest.Simulate(t, resulttest.Overload()), showtest.Simulate(t, resulttest.OverloadLoose()), showtest.Simulate(t, resulttest.OverloadTight()))
	showtest.Screens(t, got, layout.Width, 80)
	showtest.Golden(t, "side-by-side", got)
}

func TestSideBySideOfRepeats(t *testing.T) {
	var runs []*result.Recorded
	for seed := range uint64(3) {
		for _, p := range []resulttest.Plan{resulttest.Overload(), resulttest.OverloadLoose(), resulttest.OverloadTight()} {
			p.Seed += 10 * seed
			runs = append(runs, showtest.Simulate(t, p))
		}
	}
	bad := showtest.Simulate(t, resulttest.OverloadTight())
	bad.Run.Verdict = result.Verdict{Status: result.Invalid, Reasons: []string{"pacer lateness p99 is 7.42 ms, and may be 2 ms"}}
	bad.Run.Load.Shed = 1
	worse := killed(t)
	worse.Run.Run.Name = "overload"
	got := sideBySide(t, append(runs, bad, worse)...)
	showtest.Screens(t, got, layout.Width, 94)
	showtest.Golden(t, "side-by-side-repeats", got)
}

func TestSideBySideOfInvalid(t *testing.T) {
	small := produceOnly(t)
	showtest.Golden(t, "side-by-side-invalid", sideBySide(t, broken(t), small, closedLoop(t), killed(t), showtest.Simulate(t, resulttest.Baseline()), harness(t)))
}

func TestSideBySideOfNothing(t *testing.T) {
	if got := sideBySide(t); len(got) == 0 {
		t.Error("nothing was said of nothing")
	}
}

// Throughputs with and without a gate are called the same only if they are about equal.
func TestFindingsFollowTheFigures(t *testing.T) {
	const same = "All deliver about the same"
	off, tight := showtest.Simulate(t, resulttest.Overload()), showtest.Simulate(t, resulttest.OverloadTight())
	tight.Run.Delivery.DeliveredPerS = 0.99 * off.Run.Delivery.DeliveredPerS
	if got := sideBySide(t, off, tight); !bytes.Contains(got, []byte(same)) {
		t.Errorf("no word of equal throughput in\n%s", got)
	}
	tight.Run.Delivery.DeliveredPerS *= 0.7
	if got := sideBySide(t, off, tight); bytes.Contains(got, []byte(same)) {
		t.Errorf("a third less is not the same:\n%s", got)
	}
	idle := "left its consumers idle"
	*tight.Run.Consumer.Utilisation = 1
	if got := sideBySide(t, off, tight); bytes.Contains(got, []byte(idle)) {
		t.Errorf("busy consumers were called idle:\n%s", got)
	}
}

// Runs with another number or placement of agents are not repeats.
func TestSideBySideOfAgents(t *testing.T) {
	var runs []*result.Recorded
	for i, change := range []func(*result.Run){
		func(*result.Run) {}, showtest.MadeBy(2, 0, "any"), showtest.MadeBy(2, 0, "any"), showtest.MadeBy(3, 1, "apart"),
	} {
		p := resulttest.Baseline()
		p.Seed += uint64(i)
		runs = append(runs, showtest.Simulate(t, p))
		change(&runs[i].Run)
	}
	got := sideBySide(t, runs...)
	for _, want := range []string{"baseline, no agents", "baseline, 2 agents (any)", "baseline, 3 agents (apart, 1 sender)", ", all 2"} {
		if !bytes.Contains(got, []byte(want)) {
			t.Errorf("no column %q in\n%s", want, got)
		}
	}
	if got := sideBySide(t, runs[1:3]...); bytes.Contains(got, []byte("agents (")) {
		t.Errorf("repeats of the same agents are named by them:\n%s", got)
	}
}
