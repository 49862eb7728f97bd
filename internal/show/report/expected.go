package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/figure"
	"kafkabench.example/kafka-bench/internal/show/layout"
)

// Judgement says of runs whether they are valid, and whether they meet what is expected of them.
type Judgement struct {
	Name, Dir string // of a campaign; "" without one
	Runs      []JudgedRun
	// Missing are planned runs without a result, with the reason.
	Missing []string

	invalid bool // a run is recorded as invalid
}

// JudgedRun is one run of a Judgement.
type JudgedRun struct {
	*result.Recorded
	// Label is the run's name, with a number if several runs have this name.
	Label    string
	Expected []figure.Checked
}

// Judge judges these runs.
func Judge(runs []*result.Recorded) (j Judgement) {
	of, seen := map[string]int{}, map[string]int{}
	for _, r := range runs {
		of[r.Run.Run.Name]++
	}
	for _, r := range runs {
		label := r.Run.Run.Name
		if seen[label]++; of[label] > 1 {
			label = fmt.Sprintf("%s (run %d)", label, seen[label])
		}
		j.Runs = append(j.Runs, JudgedRun{r, label, figure.CheckAll(r)})
		j.invalid = j.invalid || !r.Run.Verdict.Usable()
	}
	return j
}

// JudgeCampaign judges the runs of a campaign. A planned run without a result is missing.
func JudgeCampaign(c *result.RecordedCampaign) Judgement {
	var runs []*result.Recorded
	var missing []string
	invalid := false
	for i, planned := range c.Campaign.Runs {
		invalid = invalid || planned.Status == result.Invalid
		switch {
		case c.Runs[i] != nil:
			runs = append(runs, c.Runs[i])
			continue
		case planned.Error != "":
			missing = append(missing, fmt.Sprintf("run %d of %d: %s", i+1, len(c.Runs), planned.Error))
		case planned.Dir != "":
			missing = append(missing, fmt.Sprintf("run %d of %d cannot be read", i+1, len(c.Runs)))
		default:
			missing = append(missing, fmt.Sprintf("run %d of %d was not made", i+1, len(c.Runs)))
		}
	}
	j := Judge(runs)
	j.Name, j.Dir, j.Missing = c.Campaign.Campaign.Name, c.Dir, missing
	j.invalid = j.invalid || invalid
	return j
}

// Invalid reports whether a run is invalid.
func (j Judgement) Invalid() bool { return j.invalid }

// Failed reports whether a run does not meet an expectation.
func (j Judgement) Failed() bool { return j.has(figure.Failed) }

// Undecided reports whether a run does not decide an expectation, was ended early or is missing.
func (j Judgement) Undecided() bool {
	return len(j.Missing) > 0 || j.has(figure.Undecided) || j.interrupted()
}

func (j Judgement) interrupted() bool {
	return slices.ContainsFunc(j.Runs, func(r JudgedRun) bool { return r.Run.Run.Interrupted })
}

func (j Judgement) has(outcome string) bool {
	return slices.ContainsFunc(j.Runs, func(r JudgedRun) bool {
		return slices.ContainsFunc(r.Expected, func(c figure.Checked) bool { return c.Outcome == outcome })
	})
}

// InBrief says how many expectations a run meets, and which it does not.
func (j Judgement) InBrief() string {
	lines := j.expected()
	unmet := slices.DeleteFunc(slices.Clone(lines), func(e expected) bool { return e.outcome == figure.Met })
	parts := []string{fmt.Sprintf("%d of %s met", len(lines)-len(unmet), unit.Things(int64(len(lines)), "expectation"))}
	for _, e := range unmet {
		parts = append(parts, strings.ToUpper(e.outcome)+": "+e.text)
	}
	return strings.Join(parts, " · ")
}

// An expected is a line of a report: one expectation of all runs.
type expected struct {
	outcome, text string
	runs          []string // that do not meet it, each with its text
}

func (j Judgement) expected() (lines []expected) {
	if len(j.Runs) == 1 && j.Name == "" {
		for _, c := range j.Runs[0].Expected {
			lines = append(lines, expected{outcome: c.Outcome, text: c.Text})
		}
		return lines
	}
	var order []string
	all := map[string]map[string]int{}
	unmet := map[string][]string{}
	for _, r := range j.Runs {
		for _, c := range r.Expected {
			if all[c.Expected] == nil {
				order, all[c.Expected] = append(order, c.Expected), map[string]int{}
			}
			all[c.Expected][c.Outcome]++
			if c.Outcome == figure.Failed || c.Outcome == figure.Undecided {
				unmet[c.Expected] = append(unmet[c.Expected], r.Label+": "+c.Text)
			}
		}
	}
	for _, text := range order {
		n := all[text]
		line, total := expected{runs: unmet[text]}, 0
		for _, outcome := range slices.Backward(outcomes) {
			if total += n[outcome]; n[outcome] > 0 {
				line.outcome = outcome
			}
		}
		line.text = fmt.Sprintf("%s, in %d of %s", text, n[line.outcome], unit.Things(int64(total), "run"))
		lines = append(lines, line)
	}
	return lines
}

// outcomes are those of an expectation of several runs: the first one that a run has.
var outcomes = []string{figure.Failed, figure.Undecided, figure.NotJudged, figure.Met}

var expectedStyles = map[string]string{
	figure.Met: layout.Green, figure.Failed: layout.Red, figure.Undecided: layout.Yellow, figure.NotJudged: layout.Yellow,
}

// mostUnmet bounds the runs that are listed below an expectation.
const mostUnmet = 10

func (e expected) print(p *layout.Page) {
	p.Record(layout.Block{Kind: layout.BlockItem, Style: expectedStyles[e.outcome],
		Text: "Expected, " + e.outcome + ": " + e.text})
	printStatus(p, expectedStyles[e.outcome], "EXPECTED "+strings.ToUpper(e.outcome), e.text)
	for i, text := range e.runs {
		if i == mostUnmet {
			p.Item(layout.Plain, fmt.Sprintf("and %d more", len(e.runs)-i))
			break
		}
		p.Item(layout.Plain, text)
	}
}

// PrintExpected writes a line for each expectation, and the runs that do not meet it.
func PrintExpected(p *layout.Page, j Judgement) {
	for _, e := range j.expected() {
		e.print(p)
	}
}

var expectedMarks = map[string]string{figure.Met: "✅", figure.Failed: "❌", figure.Undecided: "⚠️", figure.NotJudged: "⚠️"}

// Mark begins a heading in Markdown if an expectation is failed or undecided, and is "" otherwise.
func (j Judgement) Mark() string {
	for _, outcome := range []string{figure.Failed, figure.Undecided} {
		if j.has(outcome) {
			return expectedMarks[outcome] + " " + strings.ToUpper(outcome) + " "
		}
	}
	return ""
}

// MarkdownExpected is PrintExpected in Markdown, with what failed first.
func MarkdownExpected(m *layout.Markdown, j Judgement) {
	var items []string
	lines := j.expected()
	slices.SortStableFunc(lines, func(a, b expected) int {
		return slices.Index(outcomes, a.outcome) - slices.Index(outcomes, b.outcome)
	})
	for _, e := range lines {
		text := expectedMarks[e.outcome] + " expected, " + e.outcome + ": " + layout.Prose(e.text)
		if len(e.runs) > 0 {
			text += "; " + layout.Prose(strings.Join(e.runs[:min(len(e.runs), mostUnmet)], "; "))
		}
		items = append(items, text)
	}
	m.List(items)
}

// Quiet writes the verdict and what failed, and no other figure.
func (j Judgement) Quiet(w io.Writer, o Options) error {
	p := layout.NewPage(o.Width, o.Colour)
	if len(j.Runs) == 1 && j.Name == "" {
		r := j.Runs[0]
		status := "MEASUREMENT " + heading(&r.Run)
		p.Line(p.Paint(standingStyle(&r.Run), status), "  ", r.Label, "  ", r.Dir)
		printSystem(p, &r.Run)
		for _, reason := range r.Run.Verdict.Reasons {
			p.Styled(layout.Red, "because", reason)
		}
		if again := retried(&r.Run); again != "" {
			p.Styled(layout.Yellow, "tries", again)
		}
	} else {
		j.quietRuns(p)
	}
	lines := j.expected()
	unmet := slices.DeleteFunc(slices.Clone(lines), func(e expected) bool { return e.outcome == figure.Met })
	alike := figure.Met
	if j.invalid {
		alike = figure.NotJudged
	}
	if len(lines) > 0 && !slices.ContainsFunc(lines, func(e expected) bool { return e.outcome != alike }) {
		printStatus(p, expectedStyles[alike], "EXPECTED "+strings.ToUpper(alike), unit.Things(int64(len(lines)), "expectation"))
		return p.Print(w)
	}
	for _, e := range unmet {
		e.print(p)
	}
	return p.Print(w)
}

func (j Judgement) quietRuns(p *layout.Page) {
	var valid, imported int64
	var unproven []string
	for _, r := range j.Runs {
		if r.Run.Verdict.Status == result.Valid {
			valid++
		}
		if r.Run.Verdict.Status == result.Unchecked {
			imported++
		}
		if !proven(&r.Run) {
			why := append([]string{r.Label + " is " + Standing(&r.Run)}, r.Run.Verdict.Reasons...)
			unproven = append(unproven, strings.Join(why, "; "))
		}
	}
	style, status := layout.Green, "MEASUREMENT VALID"
	switch {
	case j.invalid:
		style, status = layout.Red, "MEASUREMENT INVALID"
	case len(j.Missing) > 0 || j.interrupted():
		style, status = layout.Yellow, "MEASUREMENT NOT COMPLETE"
	case imported > 0:
		style, status = layout.Yellow, "MEASUREMENT IMPORTED"
	}
	p.Line(p.Paint(style, status), "  ", layout.List(strings.TrimSpace(j.Name+" "+j.Dir),
		fmt.Sprintf("%d of %s valid", valid, unit.Things(int64(len(j.Runs)+len(j.Missing)), "run"))))
	for _, text := range slices.Concat(unproven, j.Missing) {
		p.Item(style, text)
	}
}

// RunExpected is a run of a document with what was expected of it.
type RunExpected struct {
	Dir      string           `json:"dir"`
	Name     string           `json:"name"`
	Expected []figure.Checked `json:"expected"`
}

// ExpectedOf returns the runs of j of which something was expected.
func ExpectedOf(j Judgement) (all []RunExpected) {
	for _, r := range j.Runs {
		if len(r.Expected) > 0 {
			all = append(all, RunExpected{Dir: r.Dir, Name: r.Run.Run.Name, Expected: r.Expected})
		}
	}
	return all
}
