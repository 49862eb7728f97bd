package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result/figure"
	"kafkabench.example/kafka-bench/internal/show/layout"
)

// Write writes the comparison in the format of o.
func (c *Comparison) Write(w io.Writer, o Options) error {
	switch o.Format {
	case AsMarkdown:
		return c.forPeople(w, c.markdown(w))
	case AsCSV:
		if o.Table == "" {
			o.Table = "comparison"
		}
		return c.sheets().write(w, o.Table)
	case AsJSON:
		return writeJSON(w, c)
	default:
		return c.forPeople(w, c.text(w, o))
	}
}

// words in the order in which a reader wants to know of them.
var wordOrder = []string{WordWorse, WordBetter, WordHigher, WordLower, WordNoDifference, WordTooFew}

// summary is the comparison of one set in a sentence.
func (a *Against) summary() string {
	if len(a.Figures) == 0 {
		return a.Letter + " and A have no figure in common."
	}
	counts := map[string]int{}
	tested := 0
	for _, f := range a.Figures {
		if !f.constant() {
			counts[f.Word]++
			tested++
		}
	}
	if tested == 0 {
		return fmt.Sprintf("%s and A have every figure the same in all runs: there was nothing to test.", a.Letter)
	}
	var parts []string
	for _, word := range wordOrder[:4] {
		if n := counts[word]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s in %d", word, n))
		}
	}
	of := fmt.Sprintf(" of %s", count(int64(tested), "figure"))
	switch {
	case len(parts) > 0:
		return a.Letter + " is shown to be " + strings.Join(parts, " and ") + of + "."
	case counts[WordTooFew] > 0:
		most := a.most()
		return fmt.Sprintf("Nothing can be shown of %s against A: %s.", a.Letter, most.text())
	}
	return fmt.Sprintf("No difference between %s and A is shown in any%s. That is no proof that there is none.", a.Letter, of)
}

// most is the figure that needs most further runs.
func (a *Against) most() ComparedFigure {
	return slices.MaxFunc(a.Figures, func(f, g ComparedFigure) int { return f.needs() - g.needs() })
}

// needs is the higher the more runs are needed.
func (f *ComparedFigure) needs() int {
	if f.Word != WordTooFew || f.constant() {
		return -1
	}
	return f.More
}

func (c *Comparison) text(w io.Writer, o Options) error {
	p := layout.NewPage(o.Width, o.Colour)
	for _, a := range c.Against {
		for _, line := range layout.Wrap(a.summary(), p.Width) {
			p.Line(p.Paint(layout.Bold, line))
		}
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
	return p.Print(w)
}

// subjects says what is compared, and what speaks against it.
func (c *Comparison) subjects(p *layout.Page) {
	p.Line()
	for i, s := range c.samples {
		for k, line := range layout.Wrap(s.Label, p.Width-5) {
			p.Line([]string{"  " + letter(i) + "  ", "     "}[min(k, 1)], p.Paint(layout.Bold, line))
		}
		p.Text(5, layout.List(s.described(), s.when()))
	}
	for _, warning := range c.Warnings {
		p.Item(layout.Yellow, warning)
	}
}

// when is the time between the first and the last run.
func (s sample) when() string {
	first, last := s.span()
	if first.IsZero() {
		return ""
	}
	return between(first, last, "2006-01-02 15:04") + " UTC"
}

// between prints the time from the first to the last, which may be one.
func between(first, last time.Time, layout string) string {
	from, to := moment(first, layout), moment(last, layout)
	if from == to {
		return from
	}
	return from + " to " + to
}

// settings lists what differs, and nothing else.
func (c *Comparison) settings(p *layout.Page, a *Against) {
	if shown := a.told(a.Configuration); len(shown) > 0 {
		p.Heading("Configuration", ", where "+a.Letter+" differs from A")
		printDifferences(p, layout.Plain, shown)
	} else if len(a.Configuration) == 0 {
		p.Heading("Configuration", ": "+a.Letter+" was asked for the same as A")
	}
	if shown := a.told(a.Clients); len(shown) > 0 {
		p.Heading("Client settings", ", where the clients of "+a.Letter+" were in effect set differently")
		printDifferences(p, layout.Plain, shown)
	}
	if shown := a.told(a.Hidden); len(shown) > 0 {
		p.Heading("Different as well", ", though no scenario asks for it")
		printDifferences(p, layout.Yellow, shown)
	}
	if text := a.untold(); text != "" {
		p.Line()
		p.Text(0, text)
	}
}

func printDifferences(p *layout.Page, style string, all []Difference) {
	width := 0
	for _, d := range all {
		width = max(width, layout.Columns(d.Name))
	}
	for _, d := range all {
		lines := layout.Wrap(d.text(), max(p.Width-width-4, 20))
		for i, line := range lines {
			name := ""
			if i == 0 {
				name = d.Name
			}
			p.Line("  ", layout.Pad(name, width), "  ", p.Paint(style, line))
		}
	}
}

// text is the change of a setting: none → zstd.
func (d Difference) text() string {
	a, b := d.A, d.B
	if a == "" {
		a = notSet
	}
	if b == "" {
		b = notSet
	}
	return a + " → " + b
}

// figureTable prints the figures by what is shown of them, the bad news first.
func (c *Comparison) figureTable(p *layout.Page, a *Against) {
	if len(a.Figures) == 0 {
		return
	}
	p.Line()
	t := layout.Table{Gap: 2, Rows: [][]string{{a.Letter + " against A, medians", "A", a.Letter, "difference", "bounds", "p"}}}
	var groups []string
	for _, word := range append(slices.Clone(wordOrder), sameInAll) {
		for _, f := range a.Figures {
			if f.Word == word && !f.constant() || word == sameInAll && f.constant() {
				groups = append(groups, f.text())
				t.Add("  "+title(f.figure, p.Width), f.A.median(f.figure), f.B.median(f.figure), f.change(), f.bounds(), f.p())
			}
		}
	}
	t.Squeeze(p.Width)
	lines := t.Text()
	p.Line(p.Paint(layout.Bold, lines[0]))
	for i, line := range lines[1:] {
		if i == 0 || groups[i] != groups[i-1] {
			p.Line(p.Paint(styleOf(groups[i]), capital(groups[i])))
		}
		p.Line(line)
	}
	if plan := a.plan(); plan != "" {
		p.Text(0, plan)
	}
	if len(a.Missing) > 0 {
		p.Line("Not in both, and not compared: ", strings.Join(a.Missing, ", "))
	}
}

// plan says of each figure in which no difference is shown how many runs would show
// it; "" where there is none.
func (a *Against) plan() string {
	var each []string
	beyond := 0
	for _, f := range a.Figures {
		switch {
		case f.Word != WordNoDifference || f.constant():
		case f.MoreToShow > 0:
			each = append(each, f.figure.Title+" "+unit.Count(int64(f.MoreToShow)))
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
	return "Where none is shown, so many runs more of each would show a difference like the one seen four times in five, if it is real: " + layout.Enumerate(each) + "."
}

func styleOf(word string) string {
	switch word {
	case WordWorse:
		return layout.Red
	case WordBetter:
		return layout.Green
	case WordNoDifference, sameInAll:
		return layout.Plain
	}
	return layout.Bold
}

// title is a figure's, shortened for narrow pages: that a response is a time goes
// without saying.
func title(f figure.Figure, width int) string {
	if width >= layout.Width {
		return f.Title
	}
	return strings.NewReplacer("response time", "response", "service time", "service", " in the end,", ",").Replace(f.Title)
}

func capital(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// change is the difference in percent, or in the figure's unit where A is 0.
func (f *ComparedFigure) change() string {
	if math.IsInf(f.test.Difference, 0) {
		sign := "+"
		if f.test.Shift < 0 {
			sign = "-"
		}
		return sign + f.figure.Format(math.Abs(f.test.Shift))
	}
	return difference(f.test.Difference)
}

// bounds are those of the difference.
func (f *ComparedFigure) bounds() string {
	if f.Low == nil || f.High == nil || f.constant() {
		return ""
	}
	return "[" + strings.TrimSuffix(difference(*f.Low), " %") + ", " + difference(*f.High) + "]"
}

// difference prints a relative difference with its sign: +11.7 %.
func difference(ratio float64) string {
	switch {
	case math.IsNaN(ratio):
		return absent
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

// p is the p-value that may be held against the level of the whole. Where no outcome
// could have shown a difference it is only what few runs come to.
func (f *ComparedFigure) p() string {
	if f.Word == WordTooFew {
		return absent
	}
	return pText(f.PHolm)
}

// pText prints a p-value with three decimals.
func pText(p *float64) string {
	switch {
	case p == nil:
		return absent
	case *p < 0.001:
		return "< 0.001"
	}
	return decimals(*p, 3)
}

// legend says how far the words can be trusted.
func (c *Comparison) legend() []string {
	if c.FiguresTested == 0 {
		return []string{"Every figure is the same in all runs: there was nothing to test."}
	}
	tests, level := c.tests(), percent(c.Alpha)
	return []string{
		fmt.Sprintf("%s, by ranks (Mann-Whitney). %s p is what may be held against %s.", tests, c.levels(), level),
		"Differences are relative to A's median, their bounds at the level that each was decided at.",
	}
}

// levels says which tests share which level.
func (c *Comparison) levels() string {
	level := percent(c.Alpha)
	primary := "The primary figure, " + figureCalled(c.Primary).Title + ", "
	promise := "of comparisons in which nothing differs, at most so many call any of them better or worse (Holm)."
	switch n := c.FiguresTested - c.others; {
	case c.Primary == "":
		return fmt.Sprintf("They share %s: %s", level, promise)
	case n == 0:
		primary += "was not tested: it is not in both, or the same in every run."
	case n == 1:
		primary += "is tested at " + level + "."
	default:
		primary += fmt.Sprintf("is tested at %s, which its %d tests share (Holm).", level, n)
	}
	if c.others == 0 {
		return primary
	}
	return fmt.Sprintf("%s The others share another %s: %s", primary, level, promise)
}

// tests says how many tests there were: as many as the sentences above count.
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

// percent prints a level: 5 %, 0.5 %.
func percent(ratio float64) string {
	return strings.TrimRight(strings.TrimRight(decimals(ratio*100, 3), "0"), ".") + " %"
}

// checks prints the conditions under which the comparison fails.
func (c *Comparison) checks(p *layout.Page) {
	if len(c.Checks) == 0 {
		return
	}
	p.Heading("Fails if", "")
	for _, check := range c.Checks {
		word := map[string]string{CheckPassed: p.Paint(layout.Green, "passed   "), CheckFailed: p.Paint(layout.Red, "FAILED   "), CheckUndecided: p.Paint(layout.Yellow, "UNDECIDED")}[check.Status]
		p.Line("  ", word, "  ", check.Letter, ": ", check.Condition)
		p.Text(13, check.Text)
	}
}
