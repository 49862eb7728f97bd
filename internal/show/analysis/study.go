// Package analysis finds what runs show: how sets differ, which cell of a campaign
// is best, where a figure changed over time. It is pure and knows no sentences;
// packages answers and report put its findings into words.
//
// A [Set] is repeated runs of one configuration, and a [Sample] its runs that give
// figures. [Compare] tests sets against the first, [Over] follows one configuration
// over time, and a [Study] is a campaign with the figures of its cells. A
// difference is claimed only if a rank test shows it. The level holds for all tests
// of a comparison together, and for the choice of the best cell; each other pair of
// cells is tested alone.
//
// To add a finding, write its rule, without words, in rules.go, and its sentence in
// wording.go of package report.
//
// Files to know: sets.go (which runs), repeated.go (a figure over them), levels.go
// (tests that share a chance of a false alarm), compare.go, history.go, study.go,
// against.go (variants), engines.go, differences.go (what else differs),
// variant.go, rules.go (what stands out), labels.go (names of cells), over.go (lag
// and stored bytes over a run).
package analysis

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"

	"kafkabench.example/kafka-bench/internal/measure/stats"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/figure"
)

// Study is a campaign's cells, with the figures over their runs.
type Study struct {
	Campaign result.CampaignInfo
	Axes     []result.Axis
	Cells    []Cell
	Search   *result.Search

	Recorded   *result.RecordedCampaign
	references map[*result.Run]figure.Reference
	Figures    []figure.Figure
	By         figure.Figure
	ByFrom     string // who chose it: FromReader and so on
}

const (
	AnswerBest      = "best"
	AnswerNone      = "none"
	AnswerTooFew    = "too_few"
	AnswerNoRanking = "no_ranking"
	AnswerSearch    = "search"
	AnswerTold      = "told"
)

const (
	FromReader   = "reader"
	FromSuite    = "suite"
	FromQuestion = "question"
	FromDefault  = "default"
)

// NewStudy returns the study of a campaign, ranked by the figure named by. If it is "", the suite
// or its question may name one (see inQuestion). The default is the e2e response time p99, or else
// the first headline figure that a cell has.
func NewStudy(c *result.RecordedCampaign, by string) (*Study, error) {
	d := &Study{Campaign: c.Campaign.Campaign, Axes: c.Campaign.Axes, Search: c.Campaign.Search, Cells: []Cell{},
		Recorded: c}
	if d.Axes == nil {
		d.Axes = []result.Axis{}
	}
	for i := range c.Campaign.Cells {
		d.Cells = append(d.Cells, cellOf(c, i))
	}
	label(d.Cells)
	among := d.Among()
	for i := range d.Cells {
		d.Cells[i].Sample.Among = among
	}
	d.references = References(d.Variants())
	figures := headlineFigures(d)
	ranking, from, err := rankingOf(d, by, figures)
	if err != nil {
		return nil, err
	}
	d.By, d.ByFrom = ranking, from
	d.Figures = slices.DeleteFunc(figures, func(f figure.Figure) bool { return f.Name == ranking.Name })
	if ranking.Name != "" {
		d.Figures = append([]figure.Figure{ranking}, d.Figures...)
	}
	for i := range d.Cells {
		d.Cells[i].measure(d.Figures)
	}
	return d, nil
}

// Cell is one configuration of a campaign.
type Cell struct {
	Name    string   `json:"name"`
	Values  []string `json:"values,omitempty"`  // one for each axis
	Runs    []string `json:"runs"`              // folders of the runs that can be read
	Against string   `json:"against,omitempty"` // the variant that the cell is compared with
	Planned int      `json:"planned"`
	Valid   int      `json:"valid"`
	// Interrupted is the number of runs that a person ended early. They are in no
	// figure, and are repeated when the campaign is resumed.
	Interrupted int                 `json:"interrupted,omitempty"`
	Figures     map[string]Repeated `json:"figures"`

	Sample Sample             `json:"-"`
	Label  string             `json:"-"` // its values, or its name
	Doubts map[string][]Doubt `json:"-"` // reasons to distrust the repeats of a figure, by its name
}

// Doubt is a reason to distrust the repeats of a figure in a cell.
type Doubt struct {
	stats.Warning
	Of []*result.Recorded
	// Bounds is the number of runs in Of that have only a lower bound. If it is not 0, no warning
	// can be computed.
	Bounds int
}

// ValidCells returns the cells with a valid run.
func (d *Study) ValidCells() (cells []*Cell) {
	for i := range d.Cells {
		if d.Cells[i].Valid > 0 {
			cells = append(cells, &d.Cells[i])
		}
	}
	return cells
}

// First returns the first cell, with which the others are compared; nil if it has
// no valid run.
func (d *Study) First() *Cell {
	if len(d.Cells) == 0 || d.Cells[0].Valid == 0 {
		return nil
	}
	return &d.Cells[0]
}

// Of returns a figure over the cell's runs, headline figure or not.
func (d *Cell) Of(name string) Repeated {
	return d.Sample.repeated(FigureCalled(name))
}

// Sum adds a count over all of the cell's runs; known is false if no run has it.
func (d *Cell) Sum(name string) (sum float64, known bool) {
	values, _ := d.Sample.ValuesOf(FigureCalled(name))
	for _, v := range values {
		sum += v
	}
	return sum, len(values) > 0
}

// VariantsAt returns the index of the axis of variants if the campaign also has
// another axis; else -1.
func (d *Study) VariantsAt() int {
	if len(d.Axes) < 2 {
		return -1
	}
	return slices.IndexFunc(d.Axes, func(a result.Axis) bool { return a.Path == variantAxis })
}

// NamedBase returns the cell that the suite names for comparison; nil if it names
// none.
func (d *Study) NamedBase(c *Cell) *Cell {
	axis := slices.IndexFunc(d.Axes, func(a result.Axis) bool { return a.Path == variantAxis })
	if c.Against == "" || axis < 0 || axis >= len(c.Values) {
		return nil
	}
	i := slices.IndexFunc(d.Cells, func(other Cell) bool {
		return sameBut(other.Values, c.Values, axis) && other.Values[axis] == c.Against
	})
	if i < 0 {
		return nil
	}
	return &d.Cells[i]
}

// Base returns the cell that a cell is compared with: NamedBase, or First. It is nil if there is
// none.
func (d *Study) Base(c *Cell) *Cell {
	if base := d.NamedBase(c); base != nil {
		return base
	}
	at := d.VariantsAt()
	for i := range d.Cells {
		other := &d.Cells[i]
		if at < 0 || at < len(c.Values) && at < len(other.Values) && c.Values[at] == other.Values[at] {
			return other
		}
	}
	return nil
}

// PartlyRead reports whether a run of the cell did not read all that it should.
func (d *Cell) PartlyRead() bool {
	return slices.ContainsFunc(d.Sample.Taken, func(r *result.Recorded) bool { return r.Run.PartlyRead() })
}

// Setting returns a setting of the cell's scenario; "" if the cell has no run.
func (d *Cell) Setting(path string) string {
	for _, r := range d.Sample.Taken {
		return r.Run.Scenario.Get(path)
	}
	return ""
}

// FigureOf returns a figure of a run; nil if it has none.
func FigureOf(f figure.Figure, r *result.Run) *float64 {
	if v, ok := f.Value(r); ok {
		return known(v)
	}
	return nil
}

// Among returns the runs, in all cells, that figures are taken from.
func (d *Study) Among() (runs []*result.Run) {
	for _, cell := range d.Cells {
		runs = append(runs, runsOf(cell.Sample.Taken)...)
	}
	return runs
}

func headlineFigures(d *Study) []figure.Figure {
	figures := HeadlineOf(d.Recorded.Runs)
	if UnderBackpressure(d.Variants()) {
		figures = append(append(figures, figure.Backpressured()...), figure.DeliveredOfOff(d.references))
	}
	return figures
}

func cellOf(c *result.RecordedCampaign, i int) Cell {
	cell := c.Campaign.Cells[i]
	d := Cell{Name: cell.Name, Values: cell.Values, Against: cell.Against, Runs: []string{}}
	for _, planned := range c.Campaign.Runs {
		if planned.Cell == i {
			d.Planned++
		}
	}
	set := CellSet(c, i)
	given := len(set.Runs)
	set.Runs = slices.DeleteFunc(set.Runs, func(r *result.Recorded) bool { return r.Run.EndedByUser() })
	d.Interrupted = given - len(set.Runs)
	d.Sample = sampleOf(set)
	d.Valid = d.Sample.Valid
	for _, r := range d.Sample.Runs {
		d.Runs = append(d.Runs, r.Dir)
	}
	return d
}

func label(cells []Cell) {
	seen := map[string]bool{}
	for _, cell := range cells {
		seen[strings.Join(cell.Values, ", ")] = true
	}
	for i := range cells {
		cells[i].Label = cells[i].Name
		if len(cells[i].Values) > 0 && len(seen) == len(cells) {
			cells[i].Label = strings.Join(cells[i].Values, ", ")
		}
	}
}

func (d *Cell) measure(figures []figure.Figure) {
	d.Figures, d.Doubts = map[string]Repeated{}, map[string][]Doubt{}
	for _, f := range figures {
		values, of := d.Sample.ValuesOf(f)
		if len(values) == 0 {
			continue
		}
		d.Figures[f.Name] = d.Sample.repeated(f)
		if n := OnlyBounds(values); n > 0 {
			d.Doubts[f.Name] = []Doubt{{Of: of, Bounds: n}}
			continue
		}
		for _, w := range stats.Warnings(values) {
			d.Doubts[f.Name] = append(d.Doubts[f.Name], Doubt{Warning: w, Of: of})
		}
	}
}

// OnlyBounds is the number of values that are lower bounds.
func OnlyBounds(values []float64) (n int) {
	for _, v := range values {
		if math.IsInf(v, 1) {
			n++
		}
	}
	return n
}

func rankingOf(d *Study, by string, headline []figure.Figure) (f figure.Figure, from string, err error) {
	if by != "" {
		f, err := figure.Named(by)
		if err == nil && f.Better == figure.Neither {
			err = fmt.Errorf("%s is neither better high nor low: nothing can be best by it", f.Name)
		}
		return f, FromReader, err
	}
	if f, err := figure.Named(d.Campaign.By); err == nil && d.Has(f) {
		return f, FromSuite, nil
	}
	if f, named := inQuestion(d.Campaign.Question); named && d.Has(f) {
		return f, FromQuestion, nil
	}
	if f, err := figure.Named(rankings[d.Campaign.Answer]); err == nil && d.Has(f) {
		return f, FromQuestion, nil
	}
	if f := PrimaryOf(headline, d.Has); f.Name != "" {
		return f, FromDefault, nil
	}
	return figure.Figure{}, "", nil
}

// inQuestion finds the first figure that a question names in full, such as "which codec has the
// lowest e2e_response_time_p99?" Only names with an underscore count, as "compression" need not
// mean the ratio.
func inQuestion(question string) (found figure.Figure, named bool) {
	words := strings.FieldsFunc(question,
		func(c rune) bool { return c != '_' && !unicode.IsLetter(c) && !unicode.IsDigit(c) })
	for _, word := range words {
		if f, err := figure.Named(word); err == nil && strings.Contains(word, "_") && f.Better != figure.Neither {
			return f, true
		}
	}
	return figure.Figure{}, false
}

// Has reports whether the runs of a cell have a figure.
func (d *Study) Has(f figure.Figure) bool {
	return slices.ContainsFunc(d.Cells, func(c Cell) bool {
		values, _ := c.Sample.ValuesOf(f)
		return len(values) > 0
	})
}

// Ranking is the cells ordered by a figure, and whether one is shown to be best.
type Ranking struct {
	Status string
	Cells  []Cell      // those that have the figure, the best median first
	Rest   []Contender // all but the first, against it
	Alike  []string    // those that are not shown to differ from the first
	More   int         // additional runs of each cell that would be enough, if there are too few
}

// Rank ranks the cells, and says whether one is shown to be best.
//
// It tests the cell with the best median against every other, as in the "comparison with the best"
// of J. C. Hsu, Multiple Comparisons, 1996. Only a cell that is better than all others is called
// best.
func (d *Study) Rank() Ranking {
	r := Ranking{Status: AnswerNoRanking, Cells: d.Ranked()}
	if len(r.Cells) < 2 || d.Unranked() || len(BySettling(d)) > 1 {
		return r
	}
	r.Rest = d.Against(r.Cells)
	for _, o := range r.Rest {
		if o.Word != WordWorse {
			r.Alike = append(r.Alike, o.Name)
			r.More = max(r.More, o.More)
		}
	}
	switch {
	case len(r.Alike) == 0:
		r.Status = AnswerBest
	case slices.ContainsFunc(r.Rest, func(c Contender) bool { return c.Word == WordTooFew }):
		r.Status = AnswerTooFew
	default:
		r.Status = AnswerNone
	}
	return r
}

// Unranked reports whether no figure is a fair default ranking: under backpressure, the cell that
// sheds most has the best times.
func (d *Study) Unranked() bool {
	return d.Campaign.Question != "" && d.ByFrom == FromDefault && UnderBackpressure(d.Variants())
}

// Contender is another cell compared with the best.
type Contender struct {
	Name string
	ComparedFigure
}

// Ranked returns the cells whose valid runs have the ranking figure, the best
// median first.
func (d *Study) Ranked() (cells []Cell) {
	if d.By.Name == "" {
		return nil
	}
	for _, cell := range d.Cells {
		if _, known := cell.Figures[d.By.Name]; known && cell.Valid > 0 {
			cells = append(cells, cell)
		}
	}
	slices.SortStableFunc(cells, func(a, b Cell) int {
		order := cmp.Compare(a.Figures[d.By.Name].Summary.Median, b.Figures[d.By.Name].Summary.Median)
		if d.By.Better == figure.Higher {
			return -order
		}
		return order
	})
	return cells
}

// Against tests the best of ranked cells against each other cell, at the full significance level. A
// cell is called best only if every test passes, so the level holds for all together (R. L. Berger,
// Multiparameter Hypothesis Testing and Acceptance Sampling, Technometrics 24, 1982).
func (d *Study) Against(ranked []Cell) (rest []Contender) {
	best := ranked[0].Figures[d.By.Name]
	for _, cell := range ranked[1:] {
		c := Contender{Name: cell.Label, ComparedFigure: ComparedFigure{
			Figure: d.By.Name, Of: d.By, A: best, B: cell.Figures[d.By.Name],
		}}
		one := []tested{{p: math.NaN()}}
		if !c.Constant() {
			one[0].p = Tested(c.A, c.B, DefaultAlpha).P
		}
		decide(one, DefaultAlpha)
		c.settle(one[0])
		rest = append(rest, c)
	}
	return rest
}

// CellsHead is the head of the column of cells if they are named by their values; else "".
func CellsHead(d *Study) string {
	if len(d.Cells) == 0 || d.Cells[0].Label == d.Cells[0].Name {
		return ""
	}
	return strings.Join(settingNames(d.Axes), ", ")
}

// Variants returns the cells with runs as variants.
func (d *Study) Variants() (all []Variant) {
	for _, cell := range d.Cells {
		if len(cell.Sample.Runs) > 0 {
			all = append(all, Variant{
				Name: d.Said(cell.Label), Runs: cell.Sample.Taken, All: len(cell.Sample.Runs), Valid: cell.Valid,
				Among: cell.Sample.Among,
			})
		}
	}
	return all
}

// Part is the cells of one variant of a campaign.
type Part struct {
	Prefix string
	Cells  *Study // only these cells, ranked by a figure in which they can differ
}

// ByVariant splits a campaign with variants and another axis. Any other campaign is
// one part.
func ByVariant(d *Study) (parts []Part) {
	at := d.VariantsAt()
	if at < 0 {
		return []Part{{"", d}}
	}
	for _, value := range d.Axes[at].Values {
		part := *d
		part.Cells = slices.DeleteFunc(slices.Clone(d.Cells),
			func(c Cell) bool { return at >= len(c.Values) || c.Values[at] != value })
		part.Axes = slices.Delete(slices.Clone(d.Axes), at, at+1)
		for i := range part.Cells {
			part.Cells[i].Values = slices.Delete(slices.Clone(part.Cells[i].Values), at, at+1)
			part.Cells[i].Label = strings.Join(part.Cells[i].Values, ", ")
		}
		by := ThroughputFigure
		if open := part.Has(FigureCalled("offered_per_s")); open {
			by = PrimaryName
		}
		parts = append(parts, Part{value + ": ", part.RankedOtherwise(by)})
	}
	return parts
}

// BySettling splits a campaign that is ranked by settling times if only some controllers hold a
// time. Those have not settled before that time is back, so their settling times do not compare
// with the others'. Any other campaign is one part.
func BySettling(d *Study) []Part {
	without, with := *d, *d
	without.Cells = slices.DeleteFunc(slices.Clone(d.Cells), Cell.holdsTime)
	with.Cells = slices.DeleteFunc(slices.Clone(d.Cells), func(c Cell) bool { return !c.holdsTime() })
	if d.By.Name != "settling_time" || len(without.Ranked()) == 0 || len(with.Ranked()) == 0 {
		return []Part{{"", d}}
	}
	return []Part{{"Without a target time: ", &without}, {"With one: ", &with}}
}

func (c Cell) holdsTime() bool {
	return slices.ContainsFunc(c.Sample.Taken, func(r *result.Recorded) bool {
		return r.Run.Backpressure != nil && r.Run.Backpressure.TargetNs > 0
	})
}

// RankedOtherwise returns the campaign with its cells ranked by another figure.
func (d *Study) RankedOtherwise(by string) *Study {
	other := *d
	other.By, other.Cells = FigureCalled(by), slices.Clone(d.Cells)
	for i := range other.Cells {
		c := &other.Cells[i]
		c.Figures = maps.Clone(c.Figures)
		if r := c.Of(by); r.N > 0 {
			c.Figures[by] = r
		}
	}
	return &other
}

// FigureCalled returns the figure of that name. An unknown figure has no value in any run.
func FigureCalled(name string) figure.Figure {
	f, err := figure.Named(name)
	if err != nil {
		return figure.Figure{Name: name}
	}
	return f
}

// ThroughputFigure is the rate of delivered records if a run only reads, and else the rate of acked
// records.
const ThroughputFigure = "throughput_per_s"

var rankings = map[string]string{
	"most": "throughput_per_s", "scaling": "throughput_per_s", "knee": "throughput_per_s",
	"per-consumer": "throughput_per_s", "enough": "throughput_per_s",
	"slope":    "throughput_bytes_per_s",
	"failover": "ack_gap_max",
	"savings":  "wire_bytes_per_record", "payloads": "wire_bytes_per_record",
	"engines": "queue_acked_per_s", "engine-scaling": "queue_acked_per_s", "engine-times": "e2e_response_time_p50", "redelivery": "redelivery_lateness_p99",
	"engine-faults": PrimaryName,
}
