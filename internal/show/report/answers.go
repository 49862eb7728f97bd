package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"kafkabench.example/kafka-bench/internal/measure/stats"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/figure"
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
var namedAnswers = map[string]func(*CampaignDocument) (AnswerTable, string){
	"most":     (*CampaignDocument).most,
	"scaling":  (*CampaignDocument).scaling,
	"knee":     (*CampaignDocument).knee,
	"slope":    (*CampaignDocument).slope,
	"times":    (*CampaignDocument).timesBeside,
	"failover": (*CampaignDocument).failover,

	"engines":       (*CampaignDocument).engines,
	"engine-times":  (*CampaignDocument).engineTimes,
	"redelivery":    (*CampaignDocument).redelivery,
	"engine-faults": (*CampaignDocument).engineFaults,
	"decision":      (*CampaignDocument).decision,
}

// rankings are the figures by which the cells of a named answer are ranked, where
// nobody says otherwise.
var rankings = map[string]string{
	"most": "throughput_per_s", "scaling": "throughput_per_s", "knee": "throughput_per_s", "slope": "throughput_bytes_per_s",
	"failover": "ack_gap_max",
	"engines":  "queue_acked_per_s", "engine-times": "e2e_response_time_p50", "redelivery": "redelivery_lateness_p99", "engine-faults": primaryName,
}

// tell puts the named answer in the place of the ranking, unless a reader has asked
// for that.
func (d *CampaignDocument) tell() {
	tell, named := namedAnswers[d.Campaign.Answer]
	if !named || d.byFrom == FromReader || d.Search != nil {
		return
	}
	table, sentence := tell(d)
	table.Notes = append(table.Notes, d.notReadOut()...)
	if slices.ContainsFunc(d.Cells, func(c CellDocument) bool { return len(c.sample.runs) > 0 }) {
		d.Table = &table
	}
	if len(d.validCells()) == 0 {
		d.Answer = Answer{Name: d.Campaign.Answer, Status: AnswerNoRanking, Sentence: "No run is valid: there is no answer."}
		return
	}
	d.Answer = Answer{Name: d.Campaign.Answer, Status: AnswerTold, Sentence: d.carefully(sentence)}
}

// carefully says before a sentence what it can't claim: what rests on one run of each,
// and what scenarios it does not speak of.
func (d *CampaignDocument) carefully(sentence string) string {
	most := 0
	var without []string
	for _, cell := range d.Cells {
		most = max(most, cell.Valid)
		if cell.Valid == 0 {
			without = append(without, d.said(cell.label))
		}
	}
	switch named := slices.ContainsFunc(d.Cells, func(c CellDocument) bool { return strings.HasPrefix(sentence, d.said(c.label)) }); {
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

// validCells are the cells that a sentence may speak of.
func (d *CampaignDocument) validCells() (cells []*CellDocument) {
	for i := range d.Cells {
		if d.Cells[i].Valid > 0 {
			cells = append(cells, &d.Cells[i])
		}
	}
	return cells
}

// first is what the others are held against: the first cell, if it has a valid run.
func (d *CampaignDocument) first() *CellDocument {
	if len(d.Cells) == 0 || d.Cells[0].Valid == 0 {
		return nil
	}
	return &d.Cells[0]
}

// of is a figure over the cell's runs, whether or not it is one of the headline.
func (d *CellDocument) of(name string) Repeated {
	return d.sample.repeated(figureCalled(name))
}

// sum is a count over all of the cell's runs; known is false where none has it.
func (d *CellDocument) sum(name string) (sum float64, known bool) {
	values, _ := d.sample.values(figureCalled(name))
	for _, v := range values {
		sum += v
	}
	return sum, len(values) > 0
}

// figureCalled is the figure of that name; one that there is none of has no value in any
// run.
func figureCalled(name string) figure.Figure {
	f, err := figure.Named(name)
	if err != nil {
		return figure.Figure{Name: name}
	}
	return f
}

// An answerColumn is what a table says of each cell.
type answerColumn struct {
	head string
	text func(*CellDocument) string
}

// valued is a column of a figure's medians, with what bounds them.
func valued(head, name string) answerColumn {
	f := figureCalled(name)
	return answerColumn{head, func(c *CellDocument) string {
		r := c.of(name)
		if r.N == 0 {
			return absent
		}
		return c.mark(r, r.bounded(f))
	}}
}

// summed is a column of counts, over all runs of a cell.
func summed(head, name string) answerColumn {
	f := figureCalled(name)
	return answerColumn{head, func(c *CellDocument) string {
		sum, known := c.sum(name)
		if !known {
			return absent
		}
		return f.Format(sum)
	}}
}

// limited is the column of what kept the runs from more.
func limited() answerColumn {
	return answerColumn{"bottleneck", func(c *CellDocument) string { return cmp.Or(c.bottleneck(), absent) }}
}

// tabulate makes the table of columns, without those that say nothing of any cell.
func (d *CampaignDocument) tabulate(columns ...answerColumn) AnswerTable {
	t := AnswerTable{Head: []string{cmp.Or(d.axes(), "scenario"), "runs"}, Rows: make([][]string, len(d.Cells))}
	for i := range d.Cells {
		t.Rows[i] = []string{d.Cells[i].label, d.Cells[i].runs()}
		if d.Cells[i].partlyRead() {
			t.Rows[i][1] += ", not read out"
		}
	}
	for _, column := range columns {
		texts, says := make([]string, len(d.Cells)), false
		for i := range d.Cells {
			texts[i] = column.text(&d.Cells[i])
			says = says || texts[i] != absent
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

// bottleneck is what most of the cell's runs name, with how much of it was used; ""
// where none does.
func (d *CellDocument) bottleneck() string {
	named := map[string][]float64{}
	var order []string
	for _, r := range d.sample.runs {
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
		text += " " + wholePercent(repeated(named[most]).summary.Median)
	}
	if n := len(d.sample.runs); len(named[most]) < n {
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

func wholePercent(ratio float64) string { return decimals(100*ratio, 0) + " %" }

// quotient prints how many times base a figure is: 0.52, with its interval where the
// runs are enough for one.
func quotient(r, base Repeated) string {
	if r.N == 0 || base.N == 0 || base.summary.Median == 0 || math.IsInf(base.summary.Median, 1) {
		return absent
	}
	if math.IsInf(r.summary.Median, 1) {
		return "> " + factor(r.least.Median/base.summary.Median)
	}
	text := factor(r.summary.Median / base.summary.Median)
	if c := stats.Compare(base.values, r.values, DefaultAlpha); !math.IsNaN(c.Low) && !math.IsNaN(c.High) && !math.IsInf(c.Low, 0) {
		text += fmt.Sprintf(" (%s..%s)", factor(1+c.Low), factor(1+c.High))
	}
	return text
}

// factor prints how many times something is, with two digits of small ones.
func factor(v float64) string {
	switch {
	case v > 0 && v < 0.001:
		return decimals(v, 5)
	case v > 0 && v < 0.1:
		return decimals(v, 3)
	}
	return decimals(v, 2)
}

// againstFirst is a column of a figure ÷ that of the first cell; where variants are not
// alike, that of the first cell of the same variant.
func (d *CampaignDocument) againstFirst(head, name string) answerColumn {
	if d.variantsAt() >= 0 {
		head += " of variant"
	}
	return answerColumn{head, func(c *CellDocument) string {
		base := d.base(c)
		switch {
		case base == nil || base.Valid == 0:
			return absent
		case c.Name == base.Name && c.of(name).N > 0:
			return "1"
		}
		return c.mark(c.of(name), quotient(c.of(name), base.of(name)))
	}}
}

// variantsAt is the axis of the variants of a campaign of these and of something else;
// -1 where it has not both.
func (d *CampaignDocument) variantsAt() int {
	if len(d.Axes) < 2 {
		return -1
	}
	return slices.IndexFunc(d.Axes, func(a result.Axis) bool { return a.Path == variantAxis })
}

// base is the cell that a cell is held against; nil where there is none.
func (d *CampaignDocument) base(c *CellDocument) *CellDocument {
	at := d.variantsAt()
	for i := range d.Cells {
		other := &d.Cells[i]
		if at < 0 || at < len(c.Values) && at < len(other.Values) && c.Values[at] == other.Values[at] {
			return other
		}
	}
	return nil
}

// partlyRead tells whether a run of the cell did not read all that it was to read.
func (d *CellDocument) partlyRead() bool {
	return slices.ContainsFunc(d.sample.runs, func(r *result.Recorded) bool { return r.Run.PartlyRead() })
}

// notReadOut explains the cells that did not read all that was there.
func (d *CampaignDocument) notReadOut() []string {
	const idles = "librdkafka"
	var names []string
	ofItself := false
	for i := range d.Cells {
		if c := &d.Cells[i]; c.partlyRead() {
			names = append(names, d.said(c.label))
			ofItself = ofItself || c.setting("driver") == idles
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

// setting is what the scenario of the cell says of a key; "" where it can't be told.
func (d *CellDocument) setting(path string) string {
	for _, r := range d.sample.runs {
		return r.Run.Scenario.Get(path)
	}
	return ""
}

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
