package report_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/resulttest"
	"kafkabench.example/kafka-bench/internal/show/report"
	"kafkabench.example/kafka-bench/internal/show/showtest"
)

func TestStanding(t *testing.T) {
	for want, change := range map[string]func(*result.Run){
		"valid":   func(*result.Run) {},
		"invalid": func(r *result.Run) { r.Verdict.Status = result.Invalid },
		"imported": func(r *result.Run) {
			r.Run.Imported, r.Verdict.Status = &result.Imported{}, result.Unchecked
		},
		"invalid, imported":     func(r *result.Run) { r.Run.Imported, r.Verdict.Status = &result.Imported{}, result.Invalid },
		"interrupted, valid":    func(r *result.Run) { r.Run.Interrupted = true },
		"interrupted, invalid":  func(r *result.Run) { r.Run.Interrupted, r.Verdict.Status = true, result.Invalid },
		"invalid, not finished": func(r *result.Run) { r.Run.FinishedAt, r.Verdict.Status = time.Time{}, result.Invalid },
		"interrupted, invalid, imported": func(r *result.Run) {
			r.Run.Interrupted, r.Run.Imported, r.Verdict.Status = true, &result.Imported{}, result.Invalid
		},
	} {
		r := showtest.Simulate(t, resulttest.Baseline())
		change(&r.Run)
		if got := report.Standing(&r.Run); got != want {
			t.Errorf("%s, want %s", got, want)
		}
		first, rest, _ := strings.Cut(want, ",")
		if head := "MEASUREMENT " + strings.ToUpper(first) + strings.TrimSuffix(","+rest, ",") + "  baseline"; !strings.HasPrefix(string(text(t, r, report.Options{})), head) {
			t.Errorf("the report of a run that is %s does not begin with %q", want, head)
		}
	}
}

func TestImportedIsNoVerdict(t *testing.T) {
	for _, c := range []struct {
		run         *result.Recorded
		wanted, not []string
	}{
		{showtest.Imported("other"), []string{"IMPORTED  other  i2mzr4  –\n", "5,000/s acked for 1 s"}, []string{"VALID", "2026", "0 B", " offered", "Process", "Lag\n"}},
		{showtest.TimesAlone("log"), []string{"IMPORTED  log", "rebalance", "5.00 s"}, []string{"VALID", "2026", "0/s", "0 B", "Books", "Process"}},
	} {
		got := string(text(t, c.run, report.Options{}))
		for _, want := range c.wanted {
			if !strings.Contains(got, want) {
				t.Errorf("it does not say %q:\n%s", want, got)
			}
		}
		for _, not := range c.not {
			if strings.Contains(got, not) {
				t.Errorf("it says %q:\n%s", not, got)
			}
		}
	}
}

func TestFootnotes(t *testing.T) {
	runs := []*result.Recorded{showtest.Imported("b-other"), showtest.Simulate(t, resulttest.Baseline()),
		showtest.Imported("a-other"), showtest.TimesAlone("log")}
	showtest.OneFootnote(t, reporting(runs...), "b-other and a-other")
}

func TestImports(t *testing.T) {
	a, b := showtest.Imported("a"), showtest.Imported("b")
	a.Run.Verdict.Warnings = append(a.Run.Verdict.Warnings, "only of a")
	for _, r := range []*result.Recorded{a, b} { // one word for both units
		r.Run.Run.Imported.CannotSay = append(r.Run.Run.Imported.CannotSay, "load.volume_bounded_bytes", "load.volume_bounded_records")
	}
	var all []report.Imported
	for _, r := range []*result.Recorded{a, b, showtest.TimesAlone("log")} {
		all = append(all, report.Imported{Dir: r.Dir, Run: &r.Run})
	}
	got := showtest.Written(t, func(w *bytes.Buffer, o report.Options) error { return report.Imports(w, all, o) }, report.Options{Width: 80})
	showtest.Screens(t, got, 80, 30)
	const want = `a.txt (producer-perf) → runs/a, imported
b.txt (producer-perf) → runs/b, imported
log.hlog (hlog) → runs/log, imported

producer-perf, 2 runs
  warning       imported (producer-perf): not judged
                1 more of single runs; "kafka-bench report RUN" shows them
  cannot say    when it was made
                load (offered per second, scheduled, admitted, bytes, volume
                bounded) · delivery · lag · consumer · process
                send service time (p99.5, out of range)
                (run.imported.cannot_say in run.json names the fields)

hlog
  warning       imported (producer-perf): not judged
  cannot say    load · delivery · lag · consumer · process · when it was made
                (run.imported.cannot_say in run.json names the fields)
`
	if string(got) != want {
		t.Errorf("it says\n%s\nwant\n%s", got, want)
	}
}
