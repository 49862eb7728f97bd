package compared_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/figure"
	"kafkabench.example/kafka-bench/internal/result/resulttest"
	"kafkabench.example/kafka-bench/internal/show/analysis"
	"kafkabench.example/kafka-bench/internal/show/compared"
	"kafkabench.example/kafka-bench/internal/show/report"
	"kafkabench.example/kafka-bench/internal/show/showtest"
)

// The second set has a slower codec, and the third another machine. One run is invalid.
func threeSets(t *testing.T) []analysis.Set {
	m := showtest.NewMaker(t, 1)
	sets := []analysis.Set{{Label: "baseline"}, {Label: "baseline-zstd"}, {Label: "baseline-again"}}
	for range 10 {
		sets[0].Runs = append(sets[0].Runs, m.Run("baseline", 1, nil))
		sets[1].Runs = append(sets[1].Runs, m.Run("baseline-zstd", 1.12, showtest.Set("compression", "zstd")))
		sets[2].Runs = append(sets[2].Runs, m.Run("baseline-again", 1, func(r *result.Run) { r.Run.Host.CPUs, r.Run.Tool.Version = 4, "0.2.0" }))
	}
	sets[1].Runs[3].Run.Verdict = result.Verdict{Status: result.Invalid, Reasons: []string{"pacer lateness p99 is 7.42 ms, and may be 2 ms"}}
	return sets
}

func condition(t *testing.T, text string) figure.Regression {
	t.Helper()
	c, err := figure.ParseRegression(text)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func compare(t *testing.T, sets []analysis.Set, o analysis.CompareOptions) *compared.Comparison {
	t.Helper()
	c, err := analysis.Compare(sets, o)
	if err != nil {
		t.Fatal(err)
	}
	return compared.ComparisonOf(c)
}

func writing(c *compared.Comparison) func(*bytes.Buffer, report.Options) error {
	return func(b *bytes.Buffer, o report.Options) error { return c.Write(b, o) }
}

func TestCompare(t *testing.T) {
	conditions := []figure.Regression{
		condition(t, "e2e_response_time_p99 worse by 10%"), condition(t, "e2e_response_time_p99 worse by 20%"), condition(t, "acked_per_s worse by 5%"),
	}
	showtest.AllFormats(t, "compare", writing(compare(t, threeSets(t), analysis.CompareOptions{FailIf: conditions})))
}

func TestCompareOfFew(t *testing.T) {
	sets := threeSets(t)
	for i := range sets {
		sets[i].Runs = sets[i].Runs[:3]
	}
	c := compare(t, sets[:2], analysis.CompareOptions{FailIf: []figure.Regression{condition(t, "e2e_response_time_p99 worse by 10%")}})
	if !c.Undecided() || c.Failed() {
		t.Errorf("three runs of each decided: %+v", c.Checks)
	}
	showtest.Golden(t, "compare-few", showtest.Written(t, writing(c), report.Options{}))
}

// A difference within the errors of clocks is never shown.
func TestDifferenceOfClocks(t *testing.T) {
	for errorNs, want := range map[int64]string{0: analysis.WordWorse, 10_000: analysis.WordWorse,
		50_000_000: analysis.WordNoDifference} {
		sets := threeSets(t)[:2]
		for _, set := range sets {
			for _, r := range set.Runs {
				d := r.Run.Time["e2e_response_time"]
				d.ErrorNs = errorNs
				r.Run.Time["e2e_response_time"] = d
			}
		}
		c := compare(t, sets, analysis.CompareOptions{})
		csv := string(showtest.Written(t, writing(c), report.Options{Format: report.AsCSV}))
		if column := strings.Contains(csv, ",a_clock_error,b_clock_error\n"); column != (errorNs > 0) {
			t.Errorf("with an error of %d ns the table has it: %t", errorNs, column)
		}
		for _, f := range c.Against[0].Figures {
			if f.Figure == analysis.PrimaryName && (f.Word != want || f.A.ClockError != float64(errorNs)) {
				t.Errorf("with an error of %d ns it is %q with an error of %g", errorNs, f.Word, f.A.ClockError)
			}
		}
	}
}

func TestCompareOfOne(t *testing.T) {
	sets := threeSets(t)
	for i := range sets {
		sets[i].Runs = sets[i].Runs[:1]
	}
	showtest.Golden(t, "compare-one", showtest.Written(t, writing(compare(t, sets[:2], analysis.CompareOptions{})), report.Options{}))
}

func TestFailIf(t *testing.T) {
	sets := threeSets(t)
	sets[1].Runs = slices.Delete(sets[1].Runs, 3, 4) // with the invalid run, conditions would be undecided
	for _, c := range []struct {
		a, b      int
		condition string
		want      string
	}{
		{0, 1, "e2e_response_time_p99 worse by 10%", analysis.CheckFailed},
		{0, 1, "e2e_response_time_p99 worse by 0%", analysis.CheckFailed},
		{0, 1, "e2e_response_time_p99 worse by 20%", analysis.CheckPassed}, // the difference is shown, and less than 20 %
		{1, 0, "e2e_response_time_p99 worse by 0%", analysis.CheckPassed},  // better
		{0, 2, "e2e_response_time_p99 worse by 0%", analysis.CheckPassed},  // not shown
		{0, 1, "lost worse by 0%", analysis.CheckPassed},                   // no set lost a record
		{0, 1, "recovery_time worse by 5%", analysis.CheckUndecided},       // not measured
	} {
		t.Run(fmt.Sprintf("%d against %d, %s", c.b, c.a, c.condition), func(t *testing.T) {
			got := compare(t, []analysis.Set{sets[c.a], sets[c.b]}, analysis.CompareOptions{FailIf: []figure.Regression{condition(t, c.condition)}})
			if got.Checks[0].Status != c.want || got.Failed() != (c.want == analysis.CheckFailed) || got.Undecided() != (c.want == analysis.CheckUndecided) {
				t.Errorf("%+v, want it %s", got.Checks[0], c.want)
			}
		})
	}
}

func TestFailIfFromZero(t *testing.T) {
	sets := threeSets(t)[:2]
	for i, r := range sets[1].Runs {
		r.Run.Delivery.Lost = int64(5 + i)
	}
	c := compare(t, sets, analysis.CompareOptions{FailIf: []figure.Regression{condition(t, "lost worse by 500%")}})
	if !c.Failed() {
		t.Errorf("ten lost records where none were: %+v", c.Checks)
	}
}

func TestCompareOfInvalid(t *testing.T) {
	sets := threeSets(t)[:2]
	for _, r := range sets[1].Runs {
		r.Run.Verdict.Status = result.Invalid
	}
	c := compare(t, sets, analysis.CompareOptions{FailIf: []figure.Regression{condition(t, "e2e_response_time_p99 worse by 10%")}})
	if !c.Undecided() || c.Failed() || !slices.ContainsFunc(c.Warnings, func(w string) bool { return strings.Contains(w, "NONE VALID") }) {
		t.Errorf("warnings %q, checks %+v", c.Warnings, c.Checks)
	}
	killed := showtest.Simulate(t, resulttest.Baseline())
	killed.Run.Run.FinishedAt, killed.Run.Verdict.Status = time.Time{}, result.Invalid
	unfinished := analysis.Set{Label: "killed", Runs: []*result.Recorded{killed}}
	if _, err := analysis.Compare([]analysis.Set{sets[0], unfinished}, analysis.CompareOptions{}); err == nil {
		t.Error("a set with nothing in it was compared")
	}
}

// quick makes a run without a simulation, which takes less time. The figures share some noise, as
// the figures of a real run do.
func quick(random *rand.Rand, i int) *result.Recorded {
	shared := 0.03 * random.NormFloat64()
	noisy := func(v float64) float64 { return v * (1 + shared + 0.02*random.NormFloat64()) }
	ns := func(v float64) int64 { return int64(noisy(v)) }
	distribution := func(scale float64) result.Time {
		return result.Time{
			Count: 200_000, MinNs: ns(scale), MeanNs: noisy(3 * scale), StddevNs: noisy(scale), P50Ns: ns(3 * scale), P75Ns: ns(4 * scale),
			P90Ns: ns(5 * scale), P95Ns: ns(6 * scale), P99Ns: ns(9 * scale), P995Ns: ns(11 * scale), P999Ns: ns(20 * scale), P9999Ns: ns(40 * scale), MaxNs: ns(80 * scale),
		}
	}
	started := time.Date(2026, 11, 21, 12, i, 0, 0, time.UTC)
	peak, ratio := ns(5000), noisy(1)
	r := &result.Recorded{Dir: fmt.Sprintf("runs/%d", i)}
	r.Run = result.Run{
		SchemaVersion: 1, Verdict: result.Verdict{Status: result.Valid},
		Run:      result.Info{ID: fmt.Sprint(i), Name: "same", StartedAt: started, FinishedAt: started.Add(time.Minute)},
		Load:     result.Load{OfferedPerS: 10_000, Scheduled: 200_000, Admitted: 200_000, Acked: 200_000, AckedPerS: noisy(9990)},
		Delivery: result.Delivery{Checked: true, Delivered: 200_000, Unique: 200_000, Ratio: 1, DeliveredPerS: noisy(9980), DeliveredToAcked: &ratio},
		Consumer: result.Consumer{Members: 4},
		Lag:      result.Lag{PeakRecords: &peak, BacklogPeakRecords: ns(300), TimeLagPeakNs: ns(9e6), Drained: true, DrainTimeS: noisy(0.5), DrainPerS: noisy(5000)},
		Time:     map[string]result.Time{},
	}
	for k, metric := range result.TimeMetrics {
		r.Run.Time[metric] = distribution(float64(k+1) * 1e5)
	}
	return r
}

func TestPrimaryIsMeasured(t *testing.T) {
	m := showtest.NewMaker(t, 22)
	flood := func(name string, slower float64) (set analysis.Set) {
		set.Label = name
		for range 5 {
			r := m.Run(name, slower, nil)
			r.Run.Load.ClosedLoop = true
			set.Runs = append(set.Runs, r)
		}
		return set
	}
	sets := []analysis.Set{flood("a", 1), flood("b", 1.5)}
	for _, c := range []struct {
		name    string
		o       analysis.CompareOptions
		primary string
		tested  string // at the whole level; "" if there is none
		says    string
	}{
		{"a closed loop", analysis.CompareOptions{}, "acked_per_s", "acked_per_s", "The primary figure, acked, is tested at 5 %. The other tested figures share another 5 %"},
		{
			"figures of a reader", analysis.CompareOptions{Figures: []figure.Figure{named(t, "offered_per_s"), named(t, "drain_time"), named(t, "acked_per_s"), named(t, "delivered_per_s")}},
			"drain_time", "drain_time", "The primary figure, drain time, is tested at 5 %.",
		},
		{
			"one that is not measured", analysis.CompareOptions{Primary: named(t, "e2e_response_time_p99")}, "e2e_response_time_p99", "",
			"The primary figure, e2e response time p99, was not tested: it is not in both, or the same in every run. The other tested figures share another 5 %",
		},
		{
			"a figure that is not measured, of a reader", analysis.CompareOptions{Figures: []figure.Figure{named(t, "e2e_response_time_p99"), named(t, "acked_per_s")}},
			"acked_per_s", "acked_per_s", "The primary figure, acked, is tested at 5 %.",
		},
		{"none with a good side", analysis.CompareOptions{Figures: []figure.Figure{named(t, "scheduled"), named(t, "offered_per_s")}}, "", "", ""},
	} {
		got := compare(t, sets, c.o)
		if got.Primary != c.primary {
			t.Errorf("%s: the primary figure is %q, want %q", c.name, got.Primary, c.primary)
		}
		for _, f := range got.Against[0].Figures {
			constant := f.A.Min != nil && f.B.Min != nil && *f.A.Min == *f.A.Max && *f.B.Min == *f.B.Max
			if f.Word == analysis.WordExploratory {
				continue
			}
			if whole := f.Level == analysis.DefaultAlpha; c.says != "" && !constant && whole != (f.Figure == c.tested) {
				t.Errorf("%s: %s is tested at %v", c.name, f.Figure, f.Level)
			}
		}
		if text := strings.Join(strings.Fields(string(showtest.Written(t, writing(got), report.Options{}))), " "); !strings.Contains(text, c.says) {
			t.Errorf("%s: it does not say %q:\n%s", c.name, c.says, text)
		}
	}
}

// TestAA compares a configuration with itself, ten runs of each, thousands of times. The share of
// comparisons that call the primary figure different is at most the level, and so is the share that
// call any other figure different.
func TestAA(t *testing.T) {
	const pairs, alpha = 10, 0.05
	comparisons := showtest.Trials(2000)
	random := rand.New(rand.NewPCG(20261121, 7))
	condition := []figure.Regression{condition(t, "e2e_response_time_p99 worse by 0%")}
	primary, others, failed := 0, 0, 0
	for range comparisons {
		a, b := analysis.Set{Label: "a"}, analysis.Set{Label: "b"}
		for i := range pairs {
			a.Runs, b.Runs = append(a.Runs, quick(random, 2*i)), append(b.Runs, quick(random, 2*i+1))
		}
		c := compare(t, []analysis.Set{a, b}, analysis.CompareOptions{Alpha: alpha, FailIf: condition})
		if c.FiguresTested != 4 {
			t.Fatalf("only %d figures were tested", c.FiguresTested)
		}
		figures := slices.DeleteFunc(c.Against[0].Figures, func(f analysis.ComparedFigure) bool { return !shown(f) })
		isPrimary := func(f analysis.ComparedFigure) bool { return f.Figure == c.Primary }
		if slices.ContainsFunc(figures, isPrimary) {
			primary++
		}
		if len(slices.DeleteFunc(figures, isPrimary)) > 0 {
			others++
		}
		if c.Failed() {
			failed++
		}
	}
	percent := func(n int) float64 { return 100 * float64(n) / float64(comparisons) }
	t.Logf("of %d comparisons of the same: false alarms of the primary figure in %.2f %%, of others in %.2f %%; --fail-if failed in %.2f %%",
		comparisons, percent(primary), percent(others), percent(failed))
	// The seed is fixed, so the result is too. A condition fails only if the figure is worse, not
	// if it is better.
	if most := mostOf(comparisons, alpha); primary > most || others > most || failed > mostOf(comparisons, alpha/2) {
		t.Errorf("%d false alarms of the primary figure, %d of others and %d failures of a condition, in %d comparisons at %v",
			primary, others, failed, comparisons, alpha)
	}
	if primary == 0 || others == 0 {
		t.Error("no false alarm at all: the test has no power to see one")
	}
}

// mostOf is the number of events in n trials that is exceeded by chance once in a thousand times.
func mostOf(n int, chance float64) int {
	mean := float64(n) * chance
	return int(mean + 3.1*math.Sqrt(mean*(1-chance)))
}

func shown(f analysis.ComparedFigure) bool {
	return !slices.Contains([]string{analysis.WordNoDifference, analysis.WordTooFew, analysis.WordExploratory}, f.Word)
}

// The difference is three standard deviations.
func TestABIsSeen(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 7))
	seen := 0
	for range 100 {
		a, b := analysis.Set{Label: "a"}, analysis.Set{Label: "b"}
		for i := range 10 {
			slow := quick(random, 2*i+1)
			for metric, time := range slow.Run.Time {
				slow.Run.Time[metric] = showtest.Scaled(time, 1.11)
			}
			a.Runs, b.Runs = append(a.Runs, quick(random, 2*i)), append(b.Runs, slow)
		}
		c := compare(t, []analysis.Set{a, b}, analysis.CompareOptions{})
		if slices.ContainsFunc(c.Against[0].Figures, func(f analysis.ComparedFigure) bool {
			return f.Figure == "e2e_response_time_p99" && f.Word == analysis.WordWorse
		}) {
			seen++
		}
	}
	if seen < 90 {
		t.Errorf("a slower p99 was called worse in %d of 100 comparisons", seen)
	}
}

// The second set has six invalid runs of ten, one of which could not be started.
func survivors(t *testing.T) []analysis.Set {
	sets := threeSets(t)[:2]
	m := showtest.NewMaker(t, 4)
	m.Made = 30
	sets[1].Runs = nil
	for range 9 {
		sets[1].Runs = append(sets[1].Runs, m.Run("baseline", 1, nil))
	}
	for _, r := range sets[1].Runs[:5] {
		r.Run.Verdict = result.Verdict{Status: result.Invalid, Reasons: []string{"312 acked records are lost"}}
	}
	sets[1].Missing = 1
	return sets
}

// If runs are left out, a condition cannot pass, but a shown worsening still fails it.
func TestFailIfOfSurvivors(t *testing.T) {
	sets := survivors(t)
	c := compare(t, sets, analysis.CompareOptions{FailIf: []figure.Regression{condition(t, "e2e_response_time_p99 worse by 10%")}})
	if !c.Undecided() || c.Failed() || !strings.Contains(c.Checks[0].Text, "B: 6 of 10 runs are invalid or missing (1) and left out") {
		t.Errorf("four survivors of ten decided: %+v", c.Checks)
	}
	for format, want := range map[report.Format]string{
		report.AsText: "6 of 10 runs are invalid", report.AsMarkdown: "6 of 10 runs are invalid", report.AsJSON: "6 of 10 runs are invalid", report.AsCSV: ",0,6\n",
	} {
		if got := string(showtest.Written(t, writing(c), report.Options{Format: format})); !strings.Contains(got, want) {
			t.Errorf("%v does not say %q:\n%s", format, want, got)
		}
	}
	sets[0], sets[1] = sets[1], sets[0]
	if c := compare(t, sets, analysis.CompareOptions{FailIf: []figure.Regression{condition(t, "e2e_response_time_p99 worse by 10%")}}); !c.Undecided() {
		t.Errorf("the survivors as a base decided: %+v", c.Checks)
	}
	sets = threeSets(t)[:2] // 12 % slower, one run left out
	if c := compare(t, sets, analysis.CompareOptions{FailIf: []figure.Regression{condition(t, "e2e_response_time_p99 worse by 10%")}}); !c.Failed() {
		t.Errorf("what is shown to be worse did not fail: %+v", c.Checks)
	}
}

func newer(settings map[string]any) func(*result.Run) {
	return func(r *result.Run) {
		resulttest.Set(&r.Scenario, "consume.groups", 1)
		resulttest.Set(&r.Scenario, "consume.assignment", "group")
		for name, value := range settings {
			resulttest.Set(&r.Scenario, "consume."+name, value)
		}
	}
}

// A setting that an old run does not have counts as its default.
func TestCompareAcrossVersions(t *testing.T) {
	m := showtest.NewMaker(t, 8)
	var older, same, fan, part analysis.Set
	for i := range 5 {
		older.Runs = append(older.Runs, m.Run("older", 1, nil))
		same.Runs = append(same.Runs, m.Run("same", 1, newer(nil)))
		fan.Runs = append(fan.Runs, m.Run("fan", 1, newer(map[string]any{"groups": 3, "hold": "drain"})))
		change := newer(nil)
		if i > 2 {
			change = newer(map[string]any{"hold": "drain"})
		}
		part.Runs = append(part.Runs, m.Run("part", 1, change))
	}
	c := compare(t, []analysis.Set{older, same, fan, part}, analysis.CompareOptions{})
	want := [][]analysis.Difference{
		{}, {{Name: "consume.groups", A: "1", B: "3"}, {Name: "consume.hold", B: "drain"}}, {{Name: "consume.hold", B: "drain, not set"}},
	}
	for i, against := range c.Against {
		if !slices.Equal(against.Configuration, want[i]) {
			t.Errorf("%s differs in %+v, want %+v", against.Letter, against.Configuration, want[i])
		}
	}
	if !slices.ContainsFunc(c.Warnings, func(w string) bool {
		return strings.HasPrefix(w, "D") && strings.Contains(w, "consume.hold (drain, not set)")
	}) {
		t.Errorf("the warnings %q do not say that D mixes runs", c.Warnings)
	}
}

func TestMoreToShow(t *testing.T) {
	m := showtest.NewMaker(t, 21)
	sets := []analysis.Set{{Label: "a"}, {Label: "b"}}
	for range 8 {
		sets[0].Runs, sets[1].Runs = append(sets[0].Runs, m.Run("a", 1, nil)), append(sets[1].Runs, m.Run("b", 1.01, nil))
	}
	c := compare(t, sets, analysis.CompareOptions{Figures: []figure.Figure{named(t, "e2e_response_time_p99")}})
	f := c.Against[0].Figures[0]
	if f.Word != analysis.WordNoDifference || f.MoreToShow < 1 {
		t.Fatalf("%s, %d runs more to show; the test wants a small difference that is not shown", f.Word, f.MoreToShow)
	}
	more := fmt.Sprint(f.MoreToShow)
	for format, want := range map[report.Format]string{
		report.AsText: "e2e response time p99 " + more, report.AsMarkdown: "(" + more + " more of each would", report.AsJSON: `"more_runs_to_show": ` + more,
	} {
		if got := strings.Join(strings.Fields(string(showtest.Written(t, writing(c), report.Options{Format: format}))), " "); !strings.Contains(got, want) {
			t.Errorf("%v does not say %q:\n%s", format, want, got)
		}
	}
}

func named(t *testing.T, name string) figure.Figure {
	t.Helper()
	f, err := figure.Named(name)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Two faults of one run are not a mixed setting.
func TestFaultsAreAskedFor(t *testing.T) {
	with := func(faults ...any) *result.Recorded {
		r := showtest.Simulate(t, resulttest.Baseline())
		r.Run.Faults = []result.Fault{{Name: "kill", Target: "consumer 1"}, {Name: "start", Target: "consumer 1"}}
		if faults != nil {
			resulttest.Set(&r.Run.Scenario, "faults", faults)
		}
		return r
	}
	plain := analysis.Set{Label: "plain", Runs: []*result.Recorded{showtest.Simulate(t, resulttest.Baseline())}}
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
		if text := strings.Join(compared.ComparisonOf(found).Warnings, "\n"); strings.Contains(text, "mixes") {
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

func TestComparisonOfImported(t *testing.T) {
	c := compare(t, []analysis.Set{
		{Label: "ours", Runs: []*result.Recorded{showtest.Simulate(t, resulttest.Baseline())}},
		{Label: "other", Runs: []*result.Recorded{showtest.Imported("b-other")}},
	}, analysis.CompareOptions{})
	showtest.OneFootnote(t, writing(c), "b-other")
}

// Five runs of each set decide the figures that are tested by default. The others have no word.
func TestTestedByDefault(t *testing.T) {
	m := showtest.NewMaker(t, 5)
	set := func(label string, slower float64, change func(*result.Run)) (s analysis.Set) {
		s.Label = label
		for range 5 {
			r := m.Run(label, slower, nil)
			change(&r.Run)
			s.Runs = append(s.Runs, r)
		}
		return s
	}
	unchanged := func(*result.Run) {}
	noConsumers := func(r *result.Run) {
		r.Consumer = result.Consumer{}
		r.Delivery, r.Lag.PeakRecords = result.Delivery{}, nil
		for metric := range r.Time {
			if strings.HasPrefix(metric, "e2e_") || strings.HasPrefix(metric, "processed_") {
				delete(r.Time, metric)
			}
		}
	}
	closedLoop := func(r *result.Run) { r.Load.ClosedLoop = true }
	byDefault := []string{"delivered_per_s", "delivered_to_acked_ratio", "e2e_response_time_p99", "lag_peak"}
	for _, c := range []struct {
		name   string
		change func(*result.Run)
		o      analysis.CompareOptions
		tested []string
	}{
		{"open loop", unchanged, analysis.CompareOptions{}, byDefault},
		{"all figures", unchanged, analysis.CompareOptions{Figures: figure.All(), Explore: true}, byDefault},
		{"another primary figure", unchanged, analysis.CompareOptions{Primary: named(t, "drain_time")},
			slices.Sorted(slices.Values(append([]string{"drain_time"}, byDefault...)))},
		{"closed loop", closedLoop, analysis.CompareOptions{}, []string{"acked_per_s", "delivered_per_s", "delivered_to_acked_ratio", "lag_peak"}},
		{"without consumers", noConsumers, analysis.CompareOptions{}, []string{"acked_per_s", "send_response_time_p99"}},
		{"named", unchanged, analysis.CompareOptions{Figures: []figure.Figure{named(t, "acked_per_s"), named(t, "time_lag_peak")}},
			[]string{"acked_per_s", "time_lag_peak"}},
	} {
		got := compare(t, []analysis.Set{set("a", 1, c.change), set("b", 1.5, c.change)}, c.o)
		var tested []string
		for _, f := range got.Against[0].Figures {
			switch {
			case f.Word != analysis.WordExploratory:
				tested = append(tested, f.Figure)
			case f.PHolm != nil || f.More > 0 || f.MoreToShow > 0:
				t.Errorf("%s: %s is exploratory, and %+v", c.name, f.Figure, f)
			}
			if f.Word == analysis.WordTooFew {
				t.Errorf("%s: five runs are too few for %s", c.name, f.Figure)
			}
		}
		slices.Sort(tested)
		if !slices.Equal(tested, c.tested) {
			t.Errorf("%s: %v are tested, want %v", c.name, tested, c.tested)
		}
	}
}

func TestFigureOfNeitherSet(t *testing.T) {
	sets := threeSets(t)[:2]
	for _, s := range sets {
		for _, r := range s.Runs {
			r.Run.Warmup.Delivery.DeliveredPerS = nil
		}
	}
	c := compare(t, sets, analysis.CompareOptions{Figures: []figure.Figure{named(t, "warmup_delivered_per_s")}})
	const want = "Not in both, and not compared: warmup_delivered_per_s (it was not recorded)"
	for _, format := range []report.Format{report.AsText, report.AsMarkdown} {
		if got := string(showtest.Written(t, writing(c), report.Options{Format: format})); !strings.Contains(strings.ReplaceAll(got, `\_`, "_"), want) {
			t.Errorf("%v does not say %q:\n%s", format, want, got)
		}
	}
}
