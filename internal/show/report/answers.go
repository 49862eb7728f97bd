package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"kafkabench.example/kafka-bench/internal/measure/stats"
	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/show/analysis"
	"kafkabench.example/kafka-bench/internal/show/layout"
)

// A suite may name the answer that its question wants: a table with the columns that
// its reader needs, and one sentence below it that says what the table shows. Which of
// them are more than the luck of single runs is in the sentence's form: of one run of
// each it says so before it says anything else, of several it gives medians with what
// bounds them.

// AnswerTable is the table of a named answer.
type AnswerTable struct {
	Head []string   `json:"head"`
	Rows [][]string `json:"rows"` // one for each cell, in their order; of a decision, one for each kind of work
	// Notes say what a reader can't know of the columns.
	Notes []string `json:"notes,omitempty"`
}

// namedAnswers make the table and the sentence of an answer, by its name in a suite.
var namedAnswers = map[string]func(*analysis.Study) (AnswerTable, string){
	"most":     most,
	"scaling":  scaling,
	"knee":     knee,
	"slope":    slope,
	"times":    timesBeside,
	"failover": failover,

	"engines":       engines,
	"engine-times":  engineTimes,
	"redelivery":    redelivery,
	"engine-faults": engineFaults,
	"decision":      decision,
}

// tell puts the named answer in the place of the ranking, unless a reader has asked
// for that.
func (d *CampaignDocument) tell() {
	s := d.study
	tell, named := namedAnswers[s.Campaign.Answer]
	if !named || s.ByFrom == analysis.FromReader || s.Search != nil {
		return
	}
	table, sentence := tell(s)
	table.Notes = append(table.Notes, notReadOut(s)...)
	if slices.ContainsFunc(s.Cells, func(c analysis.Cell) bool { return len(c.Sample.Taken) > 0 }) {
		d.Table = &table
	}
	d.Answer = Answer{Name: s.Campaign.Answer, Status: analysis.AnswerNoRanking, Sentence: "No run is valid: there is no answer."}
	if len(s.ValidCells()) > 0 {
		d.Answer.Status, d.Answer.Sentence = analysis.AnswerTold, carefully(s, sentence)
	}
}

// carefully says before a sentence what it can't claim: what rests on one run of each,
// and what scenarios it does not speak of.
func carefully(d *analysis.Study, sentence string) string {
	most := 0
	var without []string
	for _, cell := range d.Cells {
		most = max(most, cell.Valid)
		if cell.Valid == 0 {
			without = append(without, d.Said(cell.Label))
		}
	}
	switch named := slices.ContainsFunc(d.Cells, func(c analysis.Cell) bool { return strings.HasPrefix(sentence, d.Said(c.Label)) }); {
	case most == 1:
		sentence = "In one run of each, which carries no claim: " + sentence
	case !named: // a scenario keeps its name
		sentence = strings.ToUpper(sentence[:1]) + sentence[1:]
	}
	if len(without) > 0 {
		sentence += fmt.Sprintf(" There is no valid run of %s.", layout.Enumerate(without))
	}
	return sentence
}

// An answerColumn is what a table says of each cell.
type answerColumn struct {
	head string
	text func(*analysis.Cell) string
}

// valued is a column of a figure's medians, with what bounds them.
func valued(head, name string) answerColumn {
	f := analysis.FigureCalled(name)
	return answerColumn{head, func(c *analysis.Cell) string {
		r := c.Of(name)
		if r.N == 0 {
			return unit.Absent
		}
		return cellMark(c, r, r.Bounded(f))
	}}
}

// summed is a column of counts, over all runs of a cell.
func summed(head, name string) answerColumn {
	f := analysis.FigureCalled(name)
	return answerColumn{head, func(c *analysis.Cell) string {
		sum, known := c.Sum(name)
		if !known {
			return unit.Absent
		}
		return f.Format(sum)
	}}
}

// limited is the column of what kept the runs from more.
func limited() answerColumn {
	return answerColumn{"bottleneck", func(c *analysis.Cell) string { return cmp.Or(cellBottleneck(c), unit.Absent) }}
}

// tabulate makes the table of columns, without those that say nothing of any cell.
func tabulate(d *analysis.Study, columns ...answerColumn) AnswerTable {
	t := AnswerTable{Head: []string{cmp.Or(d.CellsHead(), "scenario"), "runs"}, Rows: make([][]string, len(d.Cells))}
	for i := range d.Cells {
		t.Rows[i] = []string{d.Cells[i].Label, cellRuns(&d.Cells[i])}
		if d.Cells[i].PartlyRead() {
			t.Rows[i][1] += ", not read out"
		}
	}
	for _, column := range columns {
		texts, says := make([]string, len(d.Cells)), false
		for i := range d.Cells {
			texts[i] = column.text(&d.Cells[i])
			says = says || texts[i] != unit.Absent
		}
		if !says {
			continue
		}
		t.Head = append(t.Head, column.head)
		for i := range t.Rows {
			t.Rows[i] = append(t.Rows[i], texts[i])
		}
	}
	return t
}

// cellBottleneck is what most of the cell's runs name, with how much of it was used; ""
// where none does.
func cellBottleneck(d *analysis.Cell) string {
	named := map[string][]float64{}
	var order []string
	for _, r := range d.Sample.Taken {
		if b := r.Run.Bottleneck; b != nil {
			if named[b.Resource] == nil {
				order = append(order, b.Resource)
			}
			named[b.Resource] = append(named[b.Resource], b.Saturation)
		}
	}
	most := ""
	for _, resource := range order {
		if most == "" || len(named[resource]) > len(named[most]) {
			most = resource
		}
	}
	if most == "" {
		return most
	}
	text := most
	if most != offeredLoad && most != notKnown { // of these no share was used
		text += " " + wholePercent(analysis.FromValues(named[most]).Summary.Median)
	}
	if n := len(d.Sample.Taken); len(named[most]) < n {
		text += fmt.Sprintf(" (%d of %d runs)", len(named[most]), n)
	}
	return text
}

// What a run's bottleneck is called where it is no resource, as package bottleneck has
// it: a run that did all that was asked for, and one that nothing measured explains.
const (
	offeredLoad = "offered load"
	notKnown    = "not known"
)

func wholePercent(ratio float64) string { return unit.Decimals(100*ratio, 0) + " %" }

// quotient prints how many times base a figure is: 0.52, with its interval where the
// runs are enough for one.
func quotient(r, base analysis.Repeated) string {
	if r.N == 0 || base.N == 0 || base.Summary.Median == 0 || math.IsInf(base.Summary.Median, 1) {
		return unit.Absent
	}
	if math.IsInf(r.Summary.Median, 1) {
		return "> " + factor(r.Least.Median/base.Summary.Median)
	}
	text := factor(r.Summary.Median / base.Summary.Median)
	if c := stats.Compare(base.Values, r.Values, analysis.DefaultAlpha); !math.IsNaN(c.Low) && !math.IsNaN(c.High) && !math.IsInf(c.Low, 0) {
		text += fmt.Sprintf(" (%s..%s)", factor(1+c.Low), factor(1+c.High))
	}
	return text
}

// factor prints how many times something is, with two digits of small ones.
func factor(v float64) string {
	switch {
	case v > 0 && v < 0.001:
		return unit.Decimals(v, 5)
	case v > 0 && v < 0.1:
		return unit.Decimals(v, 3)
	}
	return unit.Decimals(v, 2)
}

// againstFirst is a column of a figure ÷ that of the first cell; where variants are not
// alike, that of the first cell of the same variant.
func againstFirst(d *analysis.Study, head, name string) answerColumn {
	if d.VariantsAt() >= 0 {
		head += " of variant"
	}
	return answerColumn{head, func(c *analysis.Cell) string {
		base := d.Base(c)
		switch {
		case base == nil || base.Valid == 0:
			return unit.Absent
		case c.Name == base.Name && c.Of(name).N > 0:
			return "1"
		}
		return cellMark(c, c.Of(name), quotient(c.Of(name), base.Of(name)))
	}}
}

// notReadOut explains the cells that did not read all that was there.
func notReadOut(d *analysis.Study) []string {
	const idles = "librdkafka"
	var names []string
	ofItself := false
	for i := range d.Cells {
		if c := &d.Cells[i]; c.PartlyRead() {
			names = append(names, d.Said(c.Label))
			ofItself = ofItself || c.Setting("driver") == idles
		}
	}
	if len(names) == 0 {
		return nil
	}
	note := "Not read out: " + layout.Enumerate(names) + " had not read all that was there when the run ended; the figures are of the part that was."
	if ofItself {
		note += " With " + idles + " that is a default of its own, not its speed: once it holds enough it fetches nothing for a second (fetch.queue.backoff.ms, docs/DRIVERS.md)."
	}
	return []string{note}
}

// phrases joins the clauses of a sentence.
func phrases(clauses []string) string { return strings.Join(clauses, "; ") + "." }

// printAnswerTable prints the table of a named answer and its sentence.
func printAnswerTable(p *layout.Page, d *CampaignDocument) {
	if d.Table != nil {
		t := layout.Table{Gap: 2}
		t.Add(d.Table.Head...)
		t.Left = map[int]bool{}
		for i, head := range d.Table.Head {
			t.Left[i] = head == limited().head
		}
		for _, row := range d.Table.Rows {
			t.Add(row...)
		}
		p.Line()
		p.Table(t, 1)
		p.Line()
		for _, line := range append(d.legend("in parentheses"), d.Table.Notes...) {
			p.Text(0, line)
		}
	}
	p.Line()
	p.Styled(layout.Bold, "Answer", d.Answer.Sentence)
}

// markdownAnswerTable writes the table of a named answer and its sentence.
func markdownAnswerTable(m *layout.Markdown, d *CampaignDocument) {
	if d.Table != nil {
		t := layout.Table{Left: map[int]bool{}}
		head := make([]string, len(d.Table.Head))
		for i, text := range d.Table.Head {
			head[i] = layout.Prose(text)
			t.Left[i] = text == limited().head
		}
		t.Add(head...)
		for _, row := range d.Table.Rows {
			cells := make([]string, len(row))
			for i, text := range row {
				cells[i] = layout.Prose(text)
			}
			t.Add(cells...)
		}
		m.Table(t)
		m.Paragraph(layout.Prose(strings.Join(append(d.legend("in parentheses"), d.Table.Notes...), " ")))
	}
	m.Paragraph("**", layout.Prose(d.Answer.Sentence), "**")
}
