// Package junit writes what was expected of runs as a JUnit XML file, which CI servers show as test
// results. A run is a suite, with a case for its validity and one for each expectation. A condition
// of a comparison is a case too.
//
// The file has only what Jenkins' schema allows, and what GitLab and GitHub's actions read. Names are
// the same in each build, so that a server can follow a case.
//
// Files to know: junit.go.
package junit

import (
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/figure"
	"kafkabench.example/kafka-bench/internal/show/analysis"
	"kafkabench.example/kafka-bench/internal/show/compared"
	"kafkabench.example/kafka-bench/internal/show/report"
)

// Suites is the root element.
type Suites struct {
	XMLName  xml.Name `xml:"testsuites"`
	Name     string   `xml:"name,attr"`
	Tests    int      `xml:"tests,attr"`
	Failures int      `xml:"failures,attr"`
	Errors   int      `xml:"errors,attr"`
	Time     Seconds  `xml:"time,attr"`
	Suites   []Suite  `xml:"testsuite"`
}

// Suite is one run.
type Suite struct {
	Name       string      `xml:"name,attr"`
	Tests      int         `xml:"tests,attr"`
	Failures   int         `xml:"failures,attr"`
	Errors     int         `xml:"errors,attr"`
	Skipped    int         `xml:"skipped,attr"`
	Time       Seconds     `xml:"time,attr"`
	Timestamp  string      `xml:"timestamp,attr,omitempty"` // UTC
	Properties *Properties `xml:"properties"`
	Cases      []Case      `xml:"testcase"`
}

// Properties say what made a run.
type Properties struct {
	All []Property `xml:"property"`
}

// Property is a name with its value.
type Property struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

// Case passed if it has none of the three outcomes.
type Case struct {
	ClassName string   `xml:"classname,attr"`
	Name      string   `xml:"name,attr"`
	Time      Seconds  `xml:"time,attr"`
	Failure   *Outcome `xml:"failure"`
	Error     *Outcome `xml:"error"` // undecided: a check that cannot fail must not pass
	Skipped   *Outcome `xml:"skipped"`
}

// Outcome is why a case did not pass. Some servers show the message, others the text.
type Outcome struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",chardata"`
}

// Seconds is a time.
type Seconds float64

// MarshalXMLAttr implements xml.MarshalerAttr.
func (s Seconds) MarshalXMLAttr(name xml.Name) (xml.Attr, error) {
	return xml.Attr{Name: name, Value: fmt.Sprintf("%.3f", s)}, nil
}

// Names of cases.
const (
	validity = "measurement valid"
	complete = "all runs made"
)

// Of returns the suites of a judgement. failed is why a command made no run, or not all; nil if it
// made all.
func Of(name string, j report.Judgement, failed error) *Suites {
	all := &Suites{Name: name}
	for _, r := range j.Runs {
		all.add(suiteOf(name, r))
	}
	var why []string
	why = append(why, j.Missing...)
	if failed != nil {
		why = append(why, failed.Error())
	}
	if len(why) > 0 {
		all.add(Suite{Name: name, Cases: []Case{
			{ClassName: name, Name: complete, Error: outcome("incomplete", strings.Join(why, "\n"))},
		}})
	}
	return all
}

func outcome(kind, text string) *Outcome {
	message, _, _ := strings.Cut(text, "\n")
	return &Outcome{Message: message, Type: kind, Text: text}
}

func suiteOf(name string, r report.JudgedRun) Suite {
	s := Suite{Name: r.Label, Properties: propertiesOf(&r.Run)}
	class := r.Label
	if name != r.Label {
		class = name + "." + r.Label
	}
	if r.Run.Says("run.started_at") && !r.Run.Run.StartedAt.IsZero() {
		s.Timestamp = r.Run.Run.StartedAt.UTC().Format("2006-01-02T15:04:05")
	}
	valid := Case{ClassName: class, Name: validity, Time: lasted(&r.Run)}
	run := &r.Run
	switch reasons := strings.Join(run.Verdict.Reasons, "\n"); {
	case !run.Verdict.Usable():
		valid.Failure = outcome(result.Invalid, reasons)
	case run.Run.Interrupted:
		valid.Error = outcome(result.Interrupted, "the run was ended early")
	case run.Verdict.Status == result.Unchecked:
		valid.Skipped = outcome("", "another tool made the run, and its validity is not known")
	}
	s.Cases = []Case{valid}
	for _, c := range r.Expected {
		s.Cases = append(s.Cases, caseOf(class, c))
	}
	return s
}

func caseOf(class string, c figure.Checked) Case {
	one := Case{ClassName: class, Name: c.Expected}
	switch c.Outcome {
	case figure.Failed:
		one.Failure = outcome(c.Outcome, c.Text)
	case figure.Undecided:
		one.Error = outcome(c.Outcome, c.Text)
	case figure.NotJudged:
		one.Skipped = outcome("", "not judged, the run is invalid: "+c.Text)
	}
	return one
}

// Compared returns a case for each condition of a comparison.
func Compared(checks []compared.Check) *Suites {
	s := Suite{Name: "compare"}
	for _, c := range checks {
		one := Case{ClassName: s.Name, Name: c.Letter + ": " + c.Condition}
		switch c.Status {
		case analysis.CheckFailed:
			one.Failure = outcome(c.Status, c.Text)
		case analysis.CheckUndecided:
			one.Error = outcome(c.Status, c.Text)
		}
		s.Cases = append(s.Cases, one)
	}
	all := &Suites{Name: s.Name}
	all.add(s)
	return all
}

// lasted is the time with warm-up and drain.
func lasted(r *result.Run) (s Seconds) {
	for _, p := range r.Run.Phases {
		s += Seconds(time.Duration(p.EndNs - p.StartNs).Seconds())
	}
	return s
}

func propertiesOf(r *result.Run) *Properties {
	all := &Properties{}
	add := func(name, value string) {
		if value != "" {
			all.All = append(all.All, Property{name, value})
		}
	}
	add("run.id", r.Run.ID)
	add("kafka-bench.version", r.Run.Tool.Version)
	add("kafka-bench.revision", r.Run.Tool.Revision)
	if m := r.Method(); m > 0 {
		add("method", fmt.Sprint(m))
	}
	add("cluster.kind", r.Run.Cluster.Kind)
	add("cluster.id", r.Run.Cluster.ID)
	add("cluster.version", r.Run.Cluster.Version)
	add("driver", r.Run.Driver.Name)
	add("driver.version", r.Run.Driver.Version)
	if n := len(r.Run.RetryOf); n > 0 {
		add("tries", fmt.Sprint(n+1)) // those before this one were invalid
	}
	for _, key := range slices.Sorted(maps.Keys(r.Run.Labels)) {
		add("label."+key, r.Run.Labels[key])
	}
	if len(all.All) == 0 {
		return nil
	}
	return all
}

func (s *Suites) add(one Suite) {
	for _, c := range one.Cases {
		one.Tests++
		one.Time += c.Time
		switch {
		case c.Failure != nil:
			one.Failures++
		case c.Error != nil:
			one.Errors++
		case c.Skipped != nil:
			one.Skipped++
		}
	}
	s.Suites = append(s.Suites, one)
	s.Tests, s.Failures, s.Errors = s.Tests+one.Tests, s.Failures+one.Failures, s.Errors+one.Errors
	s.Time += one.Time
}

// Write writes the file.
func (s *Suites) Write(w io.Writer) error {
	text, err := xml.MarshalIndent(s, "", "  ")
	if err != nil {
		return fmt.Errorf("the JUnit file could not be encoded: %w", err)
	}
	_, err = fmt.Fprintf(w, "%s%s\n", xml.Header, text)
	return err
}
