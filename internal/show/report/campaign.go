package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"

	"kafkabench.example/kafka-bench/internal/measure/stats"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/figure"
	"kafkabench.example/kafka-bench/internal/show/layout"
)

// CampaignDocument is the JSON document of a campaign: its question, the answer,
// and for each cell the figures over its repeated runs.
type CampaignDocument struct {
	Head
	Dir      string              `json:"dir"`
	Campaign result.CampaignInfo `json:"campaign"`
	Axes     []result.Axis       `json:"axes"`
	Answer   Answer              `json:"answer"`
	Cells    []CellDocument      `json:"cells"`
	Search   *result.Search      `json:"search,omitempty"`
	Notes    []string            `json:"notes"`
	// Against are the variants, each against its base; none where there are no
	// variants, or one run of each.
	Against []VariantComparison `json:"against,omitempty"`
	// Table is what a named answer shows of each cell; none where there is no such answer.
	Table *AnswerTable `json:"answer_table,omitempty"`

	recorded   *result.RecordedCampaign
	references map[*result.Run]figure.Reference
	figures    []figure.Figure
	by         figure.Figure
	byFrom     string // as Answer.FigureFrom
}

// Answer is what a campaign says to its question.
type Answer struct {
	Sentence string `json:"sentence"`
	// Name is that of the answer which the suite asks for; empty where the cells are
	// ranked by a figure.
	Name string `json:"name,omitempty"`
	// Figure is what the cells are ranked by; empty where there is nothing to
	// rank. FigureFrom says whose choice it was: the reader's, the question's,
	// or nobody's, and it is the default.
	Figure     string `json:"figure,omitempty"`
	FigureFrom string `json:"figure_from,omitempty" jsonschema:"enum=reader,enum=suite,enum=question,enum=default"`
	// Status is best where one cell is shown to be better than every other,
	// none where that is not shown, too_few where there are too few runs to show it,
	// no_ranking where there are not two cells with the figure, and told where the
	// sentence is that of a named answer.
	Status string `json:"status" jsonschema:"enum=best,enum=none,enum=too_few,enum=no_ranking,enum=search,enum=told"`
	// Best is the cell, and Alike are those that it is not told apart from.
	Best  string   `json:"best,omitempty"`
	Alike []string `json:"alike,omitempty"`
	More  int      `json:"more_runs,omitempty"` // of each cell, that would do
}

// Statuses of an answer.
const (
	AnswerBest      = "best"
	AnswerNone      = "none"
	AnswerTooFew    = "too_few"
	AnswerNoRanking = "no_ranking"
	AnswerSearch    = "search"
	AnswerTold      = "told"
)

// Who chose the figure of an answer.
const (
	FromReader   = "reader"
	FromSuite    = "suite"
	FromQuestion = "question"
	FromDefault  = "default"
)

// CellDocument is one configuration of a campaign.
type CellDocument struct {
	Name    string   `json:"name"`
	Values  []string `json:"values,omitempty"` // one for each axis
	Runs    []string `json:"runs"`             // folders of those that can be read
	Planned int      `json:"planned"`
	Valid   int      `json:"valid"`
	// Interrupted is how many runs a person ended early: they are in no figure,
	// and are made again when the campaign is resumed.
	Interrupted int                 `json:"interrupted,omitempty"`
	Figures     map[string]Repeated `json:"figures"`
	// Warnings are reasons to distrust the repeats of a figure, by its name.
	Warnings map[string][]string `json:"warnings"`

	sample sample
	label  string   // its values, or its name
	doubts []string // the warnings of the ranking figure, but for that of few runs
}

// AnalyseCampaign looks at a campaign's runs. By is the name of the figure that
// cells are ranked by; "" is the one that the suite or its question names (see inQuestion), or
// the e2e response time p99, or the first headline figure that a cell has.
func AnalyseCampaign(c *result.RecordedCampaign, by string) (*CampaignDocument, error) {
	d := &CampaignDocument{
		Dir: c.Dir, Campaign: c.Campaign.Campaign, Axes: c.Campaign.Axes, Search: c.Campaign.Search,
		Cells: []CellDocument{}, Notes: append([]string{}, c.Notes...), recorded: c,
	}
	if d.Axes == nil {
		d.Axes = []result.Axis{}
	}
	for i := range c.Campaign.Cells {
		d.Cells = append(d.Cells, cellOf(c, i))
	}
	label(d.Cells)
	compareAmong([]*CampaignDocument{d})
	d.references = references(d.variants())
	figures := d.headline()
	ranking, from, err := d.ranking(by, figures)
	if err != nil {
		return nil, err
	}
	d.by, d.byFrom = ranking, from
	d.figures = slices.DeleteFunc(figures, func(f figure.Figure) bool { return f.Name == ranking.Name })
	if ranking.Name != "" {
		d.figures = append([]figure.Figure{ranking}, d.figures...)
	}
	d.Head = headOf(KindCampaign, d.figures)
	for i := range d.Cells {
		d.Cells[i].measure(d.figures, d.by)
	}
	d.Answer = d.answer()
	d.tell()
	d.Against = d.compareVariants()
	d.Notes = append(d.Notes, d.Campaign.Notes...)
	d.Notes = append(d.Notes, d.unasked()...)
	d.Notes = append(d.Notes, d.unsettledNote()...)
	return d, nil
}

// compareAmong holds the cells of campaigns against each other.
func compareAmong(campaigns []*CampaignDocument) {
	var all []*result.Run
	for _, d := range campaigns {
		all = append(all, d.among()...)
	}
	for _, d := range campaigns {
		for i := range d.Cells {
			d.Cells[i].sample.among = all
		}
	}
}

// among are the runs that figures are taken from, of all cells.
func (d *CampaignDocument) among() (runs []*result.Run) {
	for _, cell := range d.Cells {
		runs = append(runs, runsOf(cell.sample.runs)...)
	}
	return runs
}

// headline are the figures that are taken over the cells. Under backpressure there are
// some more that say what it cost, and what it held.
func (d *CampaignDocument) headline() []figure.Figure {
	figures := headlineOf(d.recorded.Runs)
	if underBackpressure(d.variants()) {
		figures = append(append(figures, figure.Backpressured()...), figure.DeliveredOfOff(d.references))
	}
	return figures
}

func cellOf(c *result.RecordedCampaign, i int) CellDocument {
	cell := c.Campaign.Cells[i]
	d := CellDocument{Name: cell.Name, Values: cell.Values, Runs: []string{}}
	for _, planned := range c.Campaign.Runs {
		if planned.Cell == i {
			d.Planned++
		}
	}
	set := CellSet(c, i)
	given := len(set.Runs)
	set.Runs = slices.DeleteFunc(set.Runs, func(r *result.Recorded) bool { return r.Run.Run.Interrupted })
	d.Interrupted = given - len(set.Runs)
	d.sample = sampleOf(set)
	d.Valid = d.sample.valid
	for _, r := range d.sample.Runs {
		d.Runs = append(d.Runs, r.Dir)
	}
	return d
}

// label calls each cell by its values, where these tell the cells apart.
func label(cells []CellDocument) {
	seen := map[string]bool{}
	for _, cell := range cells {
		seen[strings.Join(cell.Values, ", ")] = true
	}
	for i := range cells {
		cells[i].label = cells[i].Name
		if len(cells[i].Values) > 0 && len(seen) == len(cells) {
			cells[i].label = strings.Join(cells[i].Values, ", ")
		}
	}
}

// measure takes the figures over the cell's runs. That there are few of them is
// said once, below the table.
func (d *CellDocument) measure(figures []figure.Figure, by figure.Figure) {
	d.Figures, d.Warnings = map[string]Repeated{}, map[string][]string{}
	for _, f := range figures {
		values, of := d.sample.values(f)
		if len(values) == 0 {
			continue
		}
		d.Figures[f.Name] = d.sample.repeated(f)
		if n := onlyBounds(values); n > 0 { // of which no warning can be computed
			d.Warnings[f.Name] = []string{fmt.Sprintf("in %d of %s it is only a lower bound", n, count(int64(len(values)), "run"))}
			continue
		}
		for _, w := range stats.Warnings(values) {
			text := w.Text + named(w, of)
			d.Warnings[f.Name] = append(d.Warnings[f.Name], text)
			if f.Name == by.Name && w.Kind != stats.Few {
				d.doubts = append(d.doubts, text)
			}
		}
	}
}

// onlyBounds is how many values are lower bounds.
func onlyBounds(values []float64) (n int) {
	for _, v := range values {
		if math.IsInf(v, 1) {
			n++
		}
	}
	return n
}

// named says which runs a warning is about: an outlier is looked at, not dropped.
func named(w stats.Warning, of []*result.Recorded) string {
	var names []string
	for _, i := range w.At {
		if i >= 0 && i < len(of) {
			names = append(names, shortName(of[i]))
		}
	}
	if len(names) == 0 || len(names) == len(of) {
		return ""
	}
	return " (" + strings.Join(names, ", ") + ")"
}

// ranking finds the figure that the cells are ranked by, and says whose choice it
// is.
func (d *CampaignDocument) ranking(by string, headline []figure.Figure) (f figure.Figure, from string, err error) {
	if by != "" {
		f, err := figure.Named(by)
		if err == nil && f.Better == figure.Neither {
			err = fmt.Errorf("%s is neither better high nor low: nothing can be best by it", f.Name)
		}
		return f, FromReader, err
	}
	if f, err := figure.Named(d.Campaign.By); err == nil && d.has(f) {
		return f, FromSuite, nil
	}
	if f, named := inQuestion(d.Campaign.Question); named && d.has(f) {
		return f, FromQuestion, nil
	}
	if f, err := figure.Named(rankings[d.Campaign.Answer]); err == nil && d.has(f) {
		return f, FromQuestion, nil
	}
	if f := primaryOf(headline, d.has); f.Name != "" {
		return f, FromDefault, nil
	}
	return figure.Figure{}, "", nil
}

// inQuestion finds the first figure that a question names in full, as in "which
// codec has the lowest e2e_response_time_p99?" Only names with an underscore count:
// no other word is sure to be meant as one, and who asks what compression costs has
// not asked for the compression ratio.
func inQuestion(question string) (found figure.Figure, named bool) {
	words := strings.FieldsFunc(question, func(c rune) bool { return c != '_' && !unicode.IsLetter(c) && !unicode.IsDigit(c) })
	for _, word := range words {
		if f, err := figure.Named(word); err == nil && strings.Contains(word, "_") && f.Better != figure.Neither {
			return f, true
		}
	}
	return figure.Figure{}, false
}

// has tells whether the runs of some cell have a figure.
func (d *CampaignDocument) has(f figure.Figure) bool {
	return slices.ContainsFunc(d.Cells, func(c CellDocument) bool {
		values, _ := c.sample.values(f)
		return len(values) > 0
	})
}

// answer says which cell is best, if one is shown to be.
//
// The cell with the best median is tested against every other one, and these tests
// share the chance of a false alarm (see decide). Testing the best against the
// rest, and not every pair, is the question that was asked, and leaves each test
// more of that chance: J. C. Hsu, Multiple Comparisons, 1996, calls it the
// comparison with the best. Only a cell that is better than all others is called
// best.
func (d *CampaignDocument) answer() Answer {
	if s := d.Search; s != nil {
		return Answer{Sentence: s.Answer, Status: AnswerSearch}
	}
	ranked := d.ranked()
	if d.unranked() && len(ranked) > 0 {
		return Answer{Status: AnswerNoRanking, Sentence: "The question names no figure, so nothing is ranked: read What it shows, below; --by ranks by a figure."}
	}
	if len(ranked) == 0 {
		return Answer{Status: AnswerNoRanking, Sentence: "No valid run has a figure to rank by: there is no answer."}
	}
	a := Answer{Figure: d.by.Name, FigureFrom: d.byFrom, Best: ranked[0].label}
	best := ranked[0].Figures[d.by.Name]
	value := best.bounded(d.by)
	if len(ranked) == 1 {
		a.Status, a.Best = AnswerNoRanking, ""
		a.Sentence = fmt.Sprintf("%s: %s is %s; there is nothing to hold it against.", d.said(ranked[0].label), d.by.Title, value)
		return a
	}
	rest := d.against(ranked)
	for _, o := range rest {
		if o.Word != WordWorse {
			a.Alike = append(a.Alike, o.name)
			a.More = max(a.More, o.More)
		}
	}
	a.Status, a.Sentence = d.conclude(a, value, rest)
	if a.Status != AnswerBest {
		a.Best = ""
	}
	return a
}

// unranked tells whether there is no figure that everybody would rank by: under
// backpressure the times are of what was admitted, and he who sheds most has the best.
func (d *CampaignDocument) unranked() bool {
	return d.Campaign.Question != "" && d.byFrom == FromDefault && underBackpressure(d.variants())
}

// contender is another cell against the best.
type contender struct {
	name string
	ComparedFigure
}

// ranked are the cells whose valid runs have the ranking figure, the best median
// first. What an invalid run shows is printed, and answers nothing.
func (d *CampaignDocument) ranked() (cells []CellDocument) {
	if d.by.Name == "" {
		return nil
	}
	for _, cell := range d.Cells {
		if _, known := cell.Figures[d.by.Name]; known && cell.Valid > 0 {
			cells = append(cells, cell)
		}
	}
	slices.SortStableFunc(cells, func(a, b CellDocument) int {
		order := cmp.Compare(a.Figures[d.by.Name].summary.Median, b.Figures[d.by.Name].summary.Median)
		if d.by.Better == figure.Higher {
			return -order
		}
		return order
	})
	return cells
}

// against tests the best of ranked cells against each of the others, each at the whole level:
// it is called best only if every test is passed, and then no more than one of them needs to
// be wrong for that to be wrong (R. L. Berger, Multiparameter Hypothesis Testing and
// Acceptance Sampling, Technometrics 24, 1982).
func (d *CampaignDocument) against(ranked []CellDocument) (rest []contender) {
	best := ranked[0].Figures[d.by.Name]
	for _, cell := range ranked[1:] {
		c := contender{name: cell.label, ComparedFigure: ComparedFigure{
			Figure: d.by.Name, figure: d.by, A: best, B: cell.Figures[d.by.Name],
		}}
		one := []tested{{p: math.NaN()}}
		if !c.constant() {
			one[0].p = stats.Compare(c.A.values, c.B.values, DefaultAlpha).P
		}
		decide(one, DefaultAlpha)
		c.settle(one[0])
		rest = append(rest, c)
	}
	return rest
}

// conclude puts the answer into a sentence.
func (d *CampaignDocument) conclude(a Answer, value string, rest []contender) (status, sentence string) {
	next, title, best := rest[0], d.by.Title, d.said(a.Best)
	few := slices.ContainsFunc(rest, func(c contender) bool { return c.Word == WordTooFew })
	side := "lowest"
	if d.by.Better == figure.Higher {
		side = "highest"
	}
	most := side + " median is that"
	if !slices.ContainsFunc(rest, func(c contender) bool { return c.A.N > 1 || c.B.N > 1 }) {
		most = side + " is that"
	}
	switch {
	case len(a.Alike) == 0:
		return AnswerBest, fmt.Sprintf("%s is best by %s, %s; the next is %s with %s, %s.",
			best, title, value, d.said(next.name), next.B.median(d.by), difference(next.test.Difference))
	case few:
		more := "more runs are needed"
		if a.More > 0 {
			more = fmt.Sprintf("%d more of each would do", a.More)
		}
		return AnswerTooFew, fmt.Sprintf("Too few runs to call one best by %s: %s. The %s of %s: %s.", title, more, most, best, value)
	case len(a.Alike) == len(rest):
		return AnswerNone, fmt.Sprintf("No difference shown by %s: the %s of %s: %s. It is not told apart from any other.", title, most, best, value)
	}
	return AnswerNone, fmt.Sprintf("None is shown to be best by %s: the %s of %s: %s. It is not told apart from %s.",
		title, most, best, value, layout.Enumerate(d.saidAll(a.Alike)))
}
