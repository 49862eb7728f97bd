// Package compared writes what sets of runs show against each other (ComparisonOf), and one
// configuration over time (HistoryOf). Package analysis makes the tests; this package has the words
// and tables.
//
// A difference is called better or worse only if a rank test shows it. Otherwise the page says that
// no difference is shown, or how many more runs would be enough.
//
// Files to know: comparison.go (text), markdown.go, sheets.go (CSV), history.go.
package compared

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/figure"
	"kafkabench.example/kafka-bench/internal/show/analysis"
	"kafkabench.example/kafka-bench/internal/show/layout"
	"kafkabench.example/kafka-bench/internal/show/report"
)

func untold(a *analysis.Against) string {
	all := slices.Concat(a.Configuration, a.Clients, a.Hidden)
	var ofA, ofB int
	for _, d := range all {
		switch shown := len(a.Told([]analysis.Difference{d})) > 0; {
		case shown:
		case d.B == "":
			ofA++
		default:
			ofB++
		}
	}
	var parts []string
	for _, side := range []struct {
		letter string
		n      int
	}{{"A", ofA}, {a.Letter, ofB}} {
		if side.n > 0 {
			parts = append(parts, unit.Count(int64(side.n))+" of "+side.letter+" only")
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return fmt.Sprintf("Not compared, because only one side tells these settings: %s; --format json lists them.", layout.Enumerate(parts))
}

// Comparison is what sets of runs show, each against the first. It is the JSON document of a
// comparison.
type Comparison struct {
	report.Head
	analysis.Comparison
	Warnings []string `json:"warnings"`
	Checks   []Check  `json:"checks"` // of FailIf
}

// Check is the result of one condition of CompareOptions.FailIf for one set.
type Check struct {
	Condition string `json:"condition"`
	Letter    string `json:"letter"`
	// Status is failed if the figure is shown to be worse by at least the named amount, and passed
	// if it is not. It is undecided if the runs are too few or none is valid. It is also undecided
	// if the condition would pass but some runs are left out.
	Status string `json:"status" jsonschema:"enum=passed,enum=failed,enum=undecided"`
	Text   string `json:"text"`
}

// ComparisonOf puts a comparison into words.
func ComparisonOf(compared *analysis.Comparison) *Comparison {
	c := &Comparison{Head: report.NewHead(report.KindComparison, compared.Figures), Comparison: *compared, Warnings: []string{},
		Checks: []Check{}}
	c.Head.NamedTwice = compared.NamedTwice
	c.warn()
	for _, d := range c.Decided {
		check := Check{Condition: d.Condition.String(), Letter: analysis.Letter(d.Set), Status: d.Status,
			Text: because(&d)}
		if d.LeftOut {
			check.Text += "; but " + c.leftOut(0, d.Set) + ", and what is left cannot pass for all"
		}
		c.Checks = append(c.Checks, check)
	}
	return c
}

// Write writes the comparison in the format of o.
func (c *Comparison) Write(w io.Writer, o report.Options) error {
	return report.Forms{Head: c.Head, Text: c.text, Markdown: c.markdown, Sheets: c.sheets(), Sheet: "comparison",
		Document: c}.Write(w, o)
}

var wordOrder = []string{analysis.WordWorse, analysis.WordBetter, analysis.WordHigher, analysis.WordLower,
	analysis.WordNoDifference, analysis.WordTooFew}

func againstSummary(a *analysis.Against) string {
	if len(a.Figures) == 0 {
		return a.Letter + " and A have no figure in common."
	}
	counts := map[string]int{}
	tested := 0
	what := "figure"
	for _, f := range a.Figures {
		switch {
		case f.Word == analysis.WordExploratory:
			what = "tested figure"
		case !f.Constant():
			counts[f.Word]++
			tested++
		}
	}
	if tested == 0 {
		return fmt.Sprintf("%s and A have every %s the same in all runs: there was nothing to test.", a.Letter, what)
	}
	var parts []string
	for _, word := range wordOrder[:4] {
		if n := counts[word]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s in %d", word, n))
		}
	}
	of := fmt.Sprintf(" of %s", unit.Things(int64(tested), what))
	switch {
	case len(parts) > 0:
		return a.Letter + " is shown to be " + strings.Join(parts, " and ") + of + "."
	case counts[analysis.WordTooFew] > 0:
		most := neediest(a)
		return fmt.Sprintf("Nothing can be shown of %s against A: %s.", a.Letter, wordOf(&most))
	}
	return fmt.Sprintf("No difference between %s and A is shown in any%s. That is no proof that there is none.",
		a.Letter, of)
}

func neediest(a *analysis.Against) analysis.ComparedFigure {
	return slices.MaxFunc(a.Figures, func(f, g analysis.ComparedFigure) int { return needs(&f) - needs(&g) })
}

func needs(f *analysis.ComparedFigure) int {
	if f.Word != analysis.WordTooFew || f.Constant() {
		return -1
	}
	return f.More
}

func (c *Comparison) text(w io.Writer, o report.Options) error {
	p := layout.NewPage(o.Width, o.Colour)
	c.print(p)
	return p.Print(w)
}

// Sections returns the sections of the text.
func (c *Comparison) Sections() []layout.Section {
	p := layout.NewPage(0, false)
	c.print(p)
	return p.Sections()
}

func (c *Comparison) print(p *layout.Page) {
	for _, a := range c.Against {
		p.Painted(layout.Bold, 0, againstSummary(&a))
	}
	c.subjects(p)
	for i := range c.Against {
		c.settings(p, &c.Against[i])
		c.figureTable(p, &c.Against[i])
	}
	p.Line()
	for _, sentence := range c.legend() {
		p.Text(0, sentence)
	}
	c.checks(p)
}

func (c *Comparison) subjects(p *layout.Page) {
	p.Line()
	p.Section("Sets")
	for i, s := range c.Samples {
		p.Record(layout.Block{Kind: layout.BlockLabelled, Label: analysis.Letter(i) + ": " + s.Label,
			Text: layout.List(described(s), when(s))})
		for k, line := range layout.Wrap(s.Label, p.Width-5) {
			p.Line([]string{"  " + analysis.Letter(i) + "  ", "     "}[min(k, 1)], p.Paint(layout.Bold, line))
		}
		for _, line := range layout.Wrap(layout.List(described(s), when(s)), p.Width-5) {
			p.Line("     ", line)
		}
	}
	for _, warning := range c.Warnings {
		p.Item(layout.Yellow, warning)
	}
}

func when(s analysis.Sample) string {
	first, last := s.Span()
	if first.IsZero() {
		return ""
	}
	return between(first, last, "2006-01-02 15:04") + " UTC"
}

func between(first, last time.Time, format string) string {
	from, to := layout.Moment(first, format), layout.Moment(last, format)
	if from == to {
		return from
	}
	return from + " to " + to
}

func (c *Comparison) settings(p *layout.Page, a *analysis.Against) {
	if shown := a.Told(a.Configuration); len(shown) > 0 {
		p.Heading("Configuration", ", where "+a.Letter+" differs from A")
		printDifferences(p, layout.Plain, shown)
	} else if len(a.Configuration) == 0 {
		p.Heading("Configuration", ": "+a.Letter+" was asked for the same as A")
	}
	if shown := a.Told(a.Clients); len(shown) > 0 {
		p.Heading("Client settings", ", where the effective ones of "+a.Letter+" differ from A")
		printDifferences(p, layout.Plain, shown)
	}
	if shown := a.Told(a.Hidden); len(shown) > 0 {
		p.Heading("Different as well", ", though no scenario asks for it")
		printDifferences(p, layout.Yellow, shown)
	}
	if text := untold(a); text != "" {
		p.Line()
		p.Text(0, text)
	}
}

func printDifferences(p *layout.Page, style string, all []analysis.Difference) {
	width := 0
	for _, d := range all {
		width = max(width, layout.Columns(d.Name))
	}
	for _, d := range all {
		p.Record(layout.Block{Kind: layout.BlockLabelled, Style: style, Label: d.Name, Text: settingChange(d)})
		lines := layout.Wrap(settingChange(d), max(p.Width-width-4, 20))
		for i, line := range lines {
			name := ""
			if i == 0 {
				name = d.Name
			}
			p.Line("  ", layout.Pad(name, width), "  ", p.Paint(style, line))
		}
	}
}

func settingChange(d analysis.Difference) string {
	a, b := d.A, d.B
	if a == "" {
		a = analysis.NotSet
	}
	if b == "" {
		b = analysis.NotSet
	}
	return a + " → " + b
}

func (c *Comparison) figureTable(p *layout.Page, a *analysis.Against) {
	if len(a.Figures) == 0 {
		printMissing(p, a)
		return
	}
	p.Line()
	p.Section(a.Letter + " against A")
	t := layout.Table{Gap: 2,
		Rows: [][]string{{a.Letter + " against A, medians", "A", a.Letter, "difference", "bounds", "p"}}}
	var groups []string
	var shown []*analysis.ComparedFigure
	for _, word := range slices.Concat(wordOrder, []string{sameInAll, exploratory}) {
		for i, f := range a.Figures {
			if groupOf(&f) == word {
				shown = append(shown, &a.Figures[i])
				groups = append(groups, wordOf(&f))
				t.Add("  "+title(f.Of, p.Width), f.A.MedianText(f.Of), f.B.MedianText(f.Of), change(&f), boundsOf(&f),
					pOf(&f))
			}
		}
	}
	p.Record(figuresShown(a.Letter, shown, t, groups))
	t.Squeeze(p.Width)
	lines := t.Text()
	p.Line(p.Paint(layout.Bold, lines[0]))
	for i, line := range lines[1:] {
		if i == 0 || groups[i] != groups[i-1] {
			p.Line(p.Paint(styleOf(groups[i]), capital(groups[i])))
		}
		p.Line(line)
	}
	if plan := plan(a); plan != "" {
		p.Text(0, plan)
	}
	printMissing(p, a)
}

func printMissing(p *layout.Page, a *analysis.Against) {
	if len(a.Missing) > 0 {
		p.Text(0, "Not in both, and not compared: "+strings.Join(a.Lacked(), ", "))
	}
}

func groupOf(f *analysis.ComparedFigure) string {
	switch {
	case f.Word == analysis.WordExploratory:
		return exploratory
	case f.Constant():
		return sameInAll
	}
	return f.Word
}

func figuresShown(letter string, figures []*analysis.ComparedFigure, t layout.Table, words []string) layout.Block {
	b := layout.Block{Kind: layout.BlockTable, Heads: 1, Data: map[[2]int]layout.Datum{}}
	last := len(t.Rows[0])
	b.Table.Left = map[int]bool{last: true}
	b.Table.Add(append(slices.Clone(t.Rows[0]), "what is shown")...)
	for i, f := range figures {
		row := len(b.Table.Rows)
		b.Table.Add(append(slices.Clone(t.Rows[row]), words[i])...)
		for column, stat := range map[int]struct {
			name  string
			value *float64
		}{
			1: {"a.median", f.A.Median}, 2: {"b.median", f.B.Median}, 3: {"difference_ratio", f.Difference},
			5: {"p_holm", f.PHolm},
		} {
			if stat.value != nil {
				b.Data[[2]int{row, column}] = layout.Datum{Figure: f.Figure, Stat: stat.name, Of: letter,
					Value: *stat.value}
			}
		}
	}
	return b
}

// plan prints how many more runs would show the difference; "" if no figure needs more.
func plan(a *analysis.Against) string {
	var each []string
	beyond := 0
	for _, f := range a.Figures {
		switch {
		case f.Word != analysis.WordNoDifference || f.Constant():
		case f.MoreToShow > 0:
			each = append(each, f.Of.Title+" "+unit.Count(int64(f.MoreToShow)))
		default:
			beyond++
		}
	}
	if beyond > 0 {
		rest := map[bool]string{true: "the others ", false: ""}[len(each) > 0]
		each = append(each, rest+"over 1,000")
	}
	if len(each) == 0 {
		return ""
	}
	return "If no difference is shown, this many more runs of each would show one of the seen size in four of five comparisons: " + layout.Enumerate(each) + "."
}

func styleOf(word string) string {
	switch word {
	case analysis.WordWorse:
		return layout.Red
	case analysis.WordBetter:
		return layout.Green
	case analysis.WordNoDifference, sameInAll, exploratory:
		return layout.Plain
	}
	return layout.Bold
}

func title(f figure.Figure, width int) string {
	if width >= layout.Width {
		return f.Title
	}
	return strings.NewReplacer("response time", "response", "service time", "service", ", in the window",
		"").Replace(f.Title)
}

func capital(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// Shown returns what a test shows of a figure, as tables print it.
func Shown(f *analysis.ComparedFigure) (difference, bounds, p, word string) {
	return change(f), boundsOf(f), pOf(f), groupOf(f)
}

func change(f *analysis.ComparedFigure) string {
	if math.IsInf(f.Test.Difference, 0) {
		sign := "+"
		if f.Test.Shift < 0 {
			sign = "-"
		}
		return sign + f.Of.Format(math.Abs(f.Test.Shift))
	}
	return Difference(f.Test.Difference)
}

func boundsOf(f *analysis.ComparedFigure) string {
	if f.Low == nil || f.High == nil || f.Constant() {
		return ""
	}
	return "[" + strings.TrimSuffix(Difference(*f.Low), " %") + ", " + Difference(*f.High) + "]"
}

// Difference prints a relative difference with its sign, such as +11.7 %.
func Difference(ratio float64) string {
	switch {
	case math.IsNaN(ratio):
		return unit.Absent
	case math.IsInf(ratio, 0):
		return "from 0"
	}
	percent := ratio * 100
	if math.Abs(percent) >= 100 {
		return fmt.Sprintf("%s%s %%", map[bool]string{true: "+"}[percent > 0], unit.Count(int64(math.Round(percent))))
	}
	text := fmt.Sprintf("%+.1f %%", percent)
	if text == "-0.0 %" || text == "+0.0 %" {
		return "0.0 %"
	}
	return text
}

// pOf prints the adjusted p-value, or none if no outcome of so few runs could show a difference.
func pOf(f *analysis.ComparedFigure) string {
	if f.Word == analysis.WordTooFew {
		return unit.Absent
	}
	return pText(f.PHolm)
}

func pText(p *float64) string {
	switch {
	case p == nil:
		return unit.Absent
	case *p < 0.001:
		return "< 0.001"
	}
	return unit.Decimals(*p, 3)
}

func (c *Comparison) legend() []string {
	if c.FiguresTested == 0 {
		return []string{"Every tested figure is the same in all runs: there was nothing to test."}
	}
	tests, level := c.tests(), unit.ShortPercent(c.Alpha)
	sentences := []string{
		fmt.Sprintf("%s, by ranks (Mann-Whitney). %s p is compared with %s.", tests, c.levels(), level),
		"Differences are relative to A's median, their bounds at the level that each was decided at.",
	}
	if c.explores() {
		sentences = append(sentences, fmt.Sprintf("The bounds of exploratory figures are at %s each, not corrected for "+
			"their number. To test such a figure, name it with --figures before the runs are made.", level))
	}
	return sentences
}

func (c *Comparison) explores() bool {
	return slices.ContainsFunc(c.Against, func(a analysis.Against) bool {
		return slices.ContainsFunc(a.Figures,
			func(f analysis.ComparedFigure) bool { return f.Word == analysis.WordExploratory })
	})
}

func (c *Comparison) levels() string {
	level := unit.ShortPercent(c.Alpha)
	primary := "The primary figure, " + analysis.FigureCalled(c.Primary).Title + ", "
	promise := "if nothing differs, at most that share of comparisons calls any of them better or worse (Holm)."
	switch n := c.FiguresTested - c.Others; {
	case c.Primary == "":
		return fmt.Sprintf("They share %s: %s", level, promise)
	case n == 0:
		primary += "was not tested: it is not in both, or the same in every run."
	case n == 1:
		primary += "is tested at " + level + "."
	default:
		primary += fmt.Sprintf("is tested at %s, which its %d tests share (Holm).", level, n)
	}
	if c.Others == 0 {
		return primary
	}
	return fmt.Sprintf("%s The other tested figures share another %s: %s", primary, level, promise)
}

func (c *Comparison) tests() string {
	n := unit.Count(int64(c.FiguresTested))
	switch {
	case len(c.Against) > 1:
		return n + " tests were made, one for each figure of each set"
	case c.FiguresTested == 1:
		return "1 figure was tested"
	}
	return n + " figures were tested"
}

func (c *Comparison) checks(p *layout.Page) {
	if len(c.Checks) == 0 {
		return
	}
	p.Heading("Fails if", "")
	for _, check := range c.Checks {
		word := map[string]string{analysis.CheckPassed: p.Paint(layout.Green, "passed   "),
			analysis.CheckFailed: p.Paint(layout.Red, "FAILED   "), analysis.CheckUndecided: p.Paint(layout.Yellow,
				"UNDECIDED")}[check.Status]
		p.Line("  ", word, "  ", check.Letter, ": ", check.Condition)
		for _, line := range layout.Wrap(check.Text, p.Width-13) {
			p.Line(strings.Repeat(" ", 13), line)
		}
		p.Record(layout.Block{Kind: layout.BlockLabelled, Style: styleOfCheck[check.Status],
			Label: check.Status + ", " + check.Letter + ": " + check.Condition, Text: check.Text})
	}
}

var styleOfCheck = map[string]string{analysis.CheckPassed: layout.Green, analysis.CheckFailed: layout.Red,
	analysis.CheckUndecided: layout.Yellow}

func (c *Comparison) warn() {
	var all []*result.Recorded
	for i, s := range c.Samples {
		all = append(all, s.Taken...)
		name := analysis.Letter(i) + " (" + s.Label + ")"
		switch left := leftOut(s); {
		case s.Valid == 0:
			c.Warnings = append(c.Warnings, name+": "+state(s)+".")
		case left != "":
			c.Warnings = append(c.Warnings,
				name+": "+left+". Ask why before you believe the others: a fault that makes runs invalid shows in none of these figures.")
		}
		for _, mixed := range [][]string{analysis.ScenarioSettings(s.Taken).Mixed(),
			analysis.Surroundings(s.Taken).Mixed()} {
			if len(mixed) > 0 {
				c.Warnings = append(c.Warnings, name+" mixes runs that differ in "+strings.Join(mixed, "; ")+".")
			}
		}
	}
	for i, b := range c.Samples[1:] {
		if text := drifted(c.Samples[0], b, analysis.Letter(i+1)); text != "" {
			c.Warnings = append(c.Warnings, text)
		}
	}
	c.Warnings = append(c.Warnings, report.Footnotes(all)...)
}

// drifted warns of sets that were made one after the other.
func drifted(a, b analysis.Sample, letter string) string {
	if len(a.Taken) < 2 || len(b.Taken) < 2 {
		return ""
	}
	firstA, lastA := a.Span()
	firstB, lastB := b.Span()
	first, then := "A", letter
	switch {
	case firstA.IsZero() || firstB.IsZero():
		return "" // imported, at an unknown time
	case lastB.Before(firstA):
		first, then = letter, "A"
	case !lastA.Before(firstB):
		return ""
	}
	return fmt.Sprintf("%s's runs all came before %s's: the difference includes any drift of the machine. Run A %[3]s A %[3]s, or make both in one matrix (order: interleaved).", first, then, letter)
}

func (c *Comparison) leftOut(sets ...int) string {
	var parts []string
	for _, i := range sets {
		if left := leftOut(c.Samples[i]); left != "" {
			parts = append(parts, analysis.Letter(i)+": "+left)
		}
	}
	return strings.Join(parts, "; ")
}

func because(d *analysis.Decided) string {
	f := d.Pair
	switch {
	case d.NoneValid:
		return "there are no valid runs"
	case f.A.N == 0 || f.B.N == 0:
		return f.Of.Title + " was not measured in both" + f.Why
	}
	from := fmt.Sprintf("%s went from %s to %s", f.Of.Title, f.A.MedianText(f.Of), f.B.MedianText(f.Of))
	switch {
	case f.Word != analysis.WordWorse:
		return from + "; " + wordOf(&f)
	case math.IsNaN(f.Test.Difference) && d.Status == analysis.CheckFailed:
		return fmt.Sprintf("%s, %s at the least, and that it is worse is shown (p %s)", from,
			Difference(f.LeastDifference()), pText(f.PHolm))
	case math.IsNaN(f.Test.Difference):
		return fmt.Sprintf("%s: shown to be worse (p %s), by an unknown amount", from, pText(f.PHolm))
	case d.Status == analysis.CheckFailed:
		return fmt.Sprintf("%s, %s, and that is shown (p %s)", from, Difference(f.Test.Difference), pText(f.PHolm))
	}
	return fmt.Sprintf("%s, %s: shown to be worse (p %s), by less than the condition names", from,
		Difference(f.Test.Difference), pText(f.PHolm))
}

func wordOf(f *analysis.ComparedFigure) string {
	if group := groupOf(f); group != analysis.WordTooFew {
		return group
	}
	return tooFew(f.More, f.Together)
}

const (
	sameInAll   = "the same in every run"
	exploratory = "exploratory: not tested, neither better nor worse"
)

// tooFew prints how many additional runs would be enough. Tests that share one chance of a false
// alarm need more runs.
func tooFew(more, together int) string {
	if more == 0 {
		return analysis.WordTooFew
	}
	what := "this test by itself"
	if together > 1 {
		what = fmt.Sprintf("these %s tests together", unit.Count(int64(together)))
	}
	return fmt.Sprintf("%s: %s more of each would do for %s", analysis.WordTooFew, unit.Count(int64(more)), what)
}

// leftOut is "" if figures are taken from all tried runs.
func leftOut(s analysis.Sample) string {
	if !s.Survivors() {
		return ""
	}
	tried := len(s.Runs) + s.Missing
	verb := "are"
	if tried-s.Valid == 1 {
		verb = "is"
	}
	text := fmt.Sprintf("%d of %s %s invalid", tried-s.Valid, unit.Things(int64(tried), "run"), verb)
	if s.Missing > 0 {
		text += fmt.Sprintf(" or missing (%d)", s.Missing)
	}
	return text + " and left out"
}

func described(s analysis.Sample) string {
	var names []string
	for _, r := range s.Runs {
		if name := r.Run.Run.Name; name != s.Label && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return layout.List(strings.Join(names, ", "), state(s))
}

func state(s analysis.Sample) string {
	all := unit.Things(int64(len(s.Runs)), "run")
	switch left := len(s.Runs) - s.Valid; {
	case s.Imported == s.Valid && s.Valid > 0 && left == 0:
		return all + ", imported, not checked"
	case s.Imported > 0:
		text := fmt.Sprintf("%s, %d valid, %d imported, not checked", all, s.Valid-s.Imported, s.Imported)
		if left > 0 {
			text += ", the others left out"
		}
		return text
	case s.Valid == len(s.Runs) && s.Valid == 1:
		return "1 run, valid"
	case s.Valid == len(s.Runs):
		return all + ", all valid"
	case s.Valid == 0 && len(s.Taken) > 0:
		return all + ", NONE VALID: their figures are shown, and are not to be relied on"
	case s.Valid == 0:
		return all + ", NONE VALID and none finished"
	}
	return fmt.Sprintf("%s, %d valid, the others left out", all, s.Valid)
}
