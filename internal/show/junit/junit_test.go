package junit

import (
	"encoding/xml"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/show/analysis"
	"kafkabench.example/kafka-bench/internal/show/compared"
	"kafkabench.example/kafka-bench/internal/show/report"
)

func judged(changes ...func(*result.Recorded)) report.Judgement {
	var runs []*result.Recorded
	for _, change := range changes {
		started := time.Date(2026, 11, 21, 19, 59, 0, 0, time.UTC)
		r := &result.Recorded{Run: result.Run{
			Run: result.Info{
				ID: "k3x7qa", Name: "baseline", StartedAt: started, FinishedAt: started.Add(time.Minute), MethodVersion: 2,
				Tool:   result.Tool{Version: "0.1.0"},
				Driver: result.Driver{Name: "franz", Version: "v1.22.3"}, Cluster: result.Cluster{Kind: "kafka", Version: "4.3.1"},
				Phases: []result.Phase{{StartNs: -3e9}, {EndNs: 20e9}, {StartNs: 20e9, EndNs: 20.011e9}},
			},
			Verdict: result.Verdict{Status: result.Valid}, Consumer: result.Consumer{Members: 1},
			Delivery: result.Delivery{Checked: true},
		}}
		change(r)
		runs = append(runs, r)
	}
	return report.Judge(runs)
}

func expecting(texts ...string) func(*result.Recorded) {
	return func(r *result.Recorded) { r.Expected = texts }
}

func written(t *testing.T, s *Suites) string {
	t.Helper()
	var b strings.Builder
	if err := s.Write(&b); err != nil {
		t.Fatal(err)
	}
	checkShape(t, b.String())
	return b.String()
}

func TestWrite(t *testing.T) {
	got := written(t, Of("baseline", judged(expecting("lost = 0", "lost > 0", "recovery_time < 1s")), nil))
	const want = `<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="baseline" tests="4" failures="1" errors="1" time="23.011">
  <testsuite name="baseline" tests="4" failures="1" errors="1" skipped="0" time="23.011" timestamp="2026-11-21T19:59:00">
    <properties>
      <property name="run.id" value="k3x7qa"></property>
      <property name="kafka-bench.version" value="0.1.0"></property>
      <property name="method" value="2"></property>
      <property name="cluster.kind" value="kafka"></property>
      <property name="cluster.version" value="4.3.1"></property>
      <property name="driver" value="franz"></property>
      <property name="driver.version" value="v1.22.3"></property>
    </properties>
    <testcase classname="baseline" name="measurement valid" time="23.011"></testcase>
    <testcase classname="baseline" name="lost = 0" time="0.000"></testcase>
    <testcase classname="baseline" name="lost &gt; 0" time="0.000">
      <failure message="lost is 0, expected &gt; 0" type="failed">lost is 0, expected &gt; 0</failure>
    </testcase>
    <testcase classname="baseline" name="recovery_time &lt; 1s" time="0.000">
      <error message="recovery_time is not known: the consumers worked the same throughout; expected &lt; 1s" type="undecided">recovery_time is not known: the consumers worked the same throughout; expected &lt; 1s</error>
    </testcase>
  </testsuite>
</testsuites>
`
	if got != want {
		t.Errorf("it is\n%s, want\n%s", got, want)
	}
}

// Each case has a name of its own, because GitLab shows only the first of a name.
func TestOutcomes(t *testing.T) {
	j := judged(
		expecting("lost = 0"),
		func(r *result.Recorded) {
			r.Expected = []string{"lost = 0", "lost > 0"}
			r.Run.Verdict.Status, r.Run.Verdict.Reasons = result.Invalid, []string{"the pacer was late", "CPU"}
		},
		func(r *result.Recorded) { r.Run.Run.Interrupted = true },
		func(r *result.Recorded) {
			r.Run.Run.Name, r.Run.Run.Imported = "theirs", &result.Imported{Format: "omb", CannotSay: []string{"run.started_at"}}
			r.Run.Verdict.Status = result.Unchecked
		},
	)
	j.Missing = []string{"run 5 of 6 was not made", "run 6 of 6 was not made"}
	s := Of("sweep", j, nil)
	text := written(t, s)
	var got []string
	for _, suite := range s.Suites {
		for _, c := range suite.Cases {
			outcome := "passed"
			for kind, o := range map[string]*Outcome{"failure": c.Failure, "error": c.Error, "skipped": c.Skipped} {
				if o != nil {
					outcome = kind + " " + o.Message
				}
			}
			got = append(got, c.ClassName+": "+c.Name+": "+outcome)
		}
	}
	want := []string{
		"sweep.baseline (run 1): measurement valid: passed",
		"sweep.baseline (run 1): lost = 0: passed",
		"sweep.baseline (run 2): measurement valid: failure the pacer was late",
		"sweep.baseline (run 2): lost = 0: skipped not judged, the run is invalid: lost is 0, expected = 0",
		"sweep.baseline (run 2): lost > 0: skipped not judged, the run is invalid: lost is 0, expected > 0",
		"sweep.baseline (run 3): measurement valid: error the run was ended early",
		"sweep.theirs: measurement valid: skipped another tool made the run, and its validity is not known",
		"sweep: all runs made: error run 5 of 6 was not made",
	}
	if !slices.Equal(got, want) {
		t.Errorf("the cases are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if s.Tests != 8 || s.Failures != 1 || s.Errors != 2 || !strings.Contains(text, "run 5 of 6 was not made&#xA;run 6 of 6 was not made</error>") {
		t.Errorf("%+v\n%s", s, text)
	}
	failed := Of("baseline", report.Judgement{}, errors.New("no broker can be reached; start one"))
	if c := failed.Suites[0].Cases[0]; failed.Errors != 1 || c.Error.Message != "no broker can be reached; start one" {
		t.Errorf("%+v", failed)
	}
	written(t, failed)
	conditions := Compared([]compared.Check{
		{Condition: "lost worse by 10%", Letter: "B", Status: analysis.CheckPassed},
		{Condition: "lost worse by 10%", Letter: "C", Status: analysis.CheckFailed, Text: "lost went from 1 to 2"},
		{Condition: "failed worse by 0%", Letter: "B", Status: analysis.CheckUndecided, Text: "too few runs"},
	})
	written(t, conditions)
	if conditions.Tests != 3 || conditions.Failures != 1 || conditions.Errors != 1 {
		t.Errorf("%+v", conditions)
	}
}

// shape has what Jenkins' schema for JUnit files allows in each element that is written: the
// attributes, those that it requires first, and the elements in it.
var shape = map[string]struct {
	required, optional, children []string
}{
	"testsuites": {nil, []string{"name", "tests", "failures", "errors", "time"}, []string{"testsuite"}},
	"testsuite": {[]string{"name", "tests", "failures", "errors"}, []string{"skipped", "time", "timestamp"},
		[]string{"properties", "testcase"}},
	"properties": {nil, nil, []string{"property"}},
	"property":   {[]string{"name", "value"}, nil, nil},
	"testcase":   {[]string{"classname", "name", "time"}, nil, []string{"failure", "error", "skipped"}},
	"failure":    {[]string{"message"}, []string{"type"}, nil},
	"error":      {[]string{"message"}, []string{"type"}, nil},
	"skipped":    {[]string{"message"}, []string{"type"}, nil},
}

func checkShape(t *testing.T, text string) {
	t.Helper()
	var open []string
	d := xml.NewDecoder(strings.NewReader(text))
	for {
		token, err := d.Token()
		if token == nil {
			if len(open) > 0 || err.Error() != "EOF" {
				t.Errorf("open: %v, %v", open, err)
			}
			return
		}
		switch e := token.(type) {
		case xml.StartElement:
			allowed, known := shape[e.Name.Local]
			if !known || len(open) == 0 && e.Name.Local != "testsuites" ||
				len(open) > 0 && !slices.Contains(shape[open[len(open)-1]].children, e.Name.Local) {
				t.Errorf("%s in %v", e.Name.Local, open)
			}
			var has []string
			for _, a := range e.Attr {
				has = append(has, a.Name.Local)
				if !slices.Contains(slices.Concat(allowed.required, allowed.optional), a.Name.Local) {
					t.Errorf("%s has the attribute %s", e.Name.Local, a.Name.Local)
				}
			}
			for _, name := range allowed.required {
				if !slices.Contains(has, name) {
					t.Errorf("%s lacks %s: %s", e.Name.Local, name, fmt.Sprint(has))
				}
			}
			open = append(open, e.Name.Local)
		case xml.EndElement:
			open = open[:len(open)-1]
		}
	}
}
