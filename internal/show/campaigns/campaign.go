// Package campaigns writes a campaign's answer to its question (Write), and what a search found
// (WriteSearch).
//
// Package analysis makes a Study of the runs, and package answers has the sentences of named
// answers. This package lays out the answer, the table of cells and the notes.
//
// Files to know: campaign.go (the document and its answer), text.go, markdown.go (Markdown and
// CSV), notes.go, against.go (variants against their base), search.go.
package campaigns

import (
	"fmt"
	"slices"
	"strings"

	"kafkabench.example/kafka-bench/internal/measure/stats"
	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/figure"
	"kafkabench.example/kafka-bench/internal/show/analysis"
	"kafkabench.example/kafka-bench/internal/show/answers"
	"kafkabench.example/kafka-bench/internal/show/compared"
	"kafkabench.example/kafka-bench/internal/show/layout"
	"kafkabench.example/kafka-bench/internal/show/report"
)

// CampaignDocument is the JSON document of a campaign: its question, the answer, and for each cell
// the figures over its repeated runs.
type CampaignDocument struct {
	report.Head
	Dir      string              `json:"dir"`
	Campaign result.CampaignInfo `json:"campaign"`
	Axes     []result.Axis       `json:"axes"`
	Answer   Answer              `json:"answer"`
	Cells    []CellDocument      `json:"cells"`
	Search   *result.Search      `json:"search,omitempty"`
	Notes    []string            `json:"notes"`
	// Against are the variants, each against its base; none if there are no variants, or one run of
	// each.
	Against []analysis.VariantComparison `json:"against,omitempty"`
	// Expected are the runs with what was expected of them; none if nothing was.
	Expected []report.RunExpected `json:"expected,omitempty"`
	// Table is the table of a named answer; none without a named answer.
	Table *AnswerTable `json:"answer_table,omitempty"`

	study    *analysis.Study
	judged   report.Judgement
	answered answers.Answer
}

// AnswerTable is the table of a named answer.
type AnswerTable struct {
	Head []string   `json:"head"`
	Rows [][]string `json:"rows"` // a row for each cell, in the order of cells; for a decision, a row for each kind of work
	// Notes explain the columns.
	Notes []string `json:"notes,omitempty"`
}

// CellDocument is one configuration of a campaign.
type CellDocument struct {
	analysis.Cell
	// Warnings are reasons to distrust the repeats of a figure, by its name.
	Warnings map[string][]string `json:"warnings"`
}

// Answer is a campaign's answer to its question.
type Answer struct {
	Sentence string `json:"sentence"`
	// Points are the parts of the sentence, the chief one first; none if it is short.
	Points []string `json:"points,omitempty"`
	// Name is the named answer that the suite asks for; empty if the cells are ranked by a figure.
	Name string `json:"name,omitempty"`
	// Figure ranks the cells; empty if there is no ranking. FigureFrom says who chose it: the
	// reader, the suite, the question, or the default.
	Figure     string `json:"figure,omitempty"`
	FigureFrom string `json:"figure_from,omitempty" jsonschema:"enum=reader,enum=suite,enum=question,enum=default"`
	// Status is best if one cell is shown to be better than every other, and none if that is not
	// shown. It is too_few if there are too few runs, and no_ranking if fewer than two cells have
	// the figure, or have it in different meanings. It is search for a search, and told for a named
	// answer.
	Status string `json:"status" jsonschema:"enum=best,enum=none,enum=too_few,enum=no_ranking,enum=search,enum=told"`
	// Best is the best cell, and Alike are those not shown to differ from it.
	Best  string   `json:"best,omitempty"`
	Alike []string `json:"alike,omitempty"`
	More  int      `json:"more_runs,omitempty"` // additional runs of each cell that would be enough
}

// Analyse analyses a campaign's runs and puts the findings into words. by names the ranking figure,
// as in analysis.NewStudy.
func Analyse(c *result.RecordedCampaign, by string) (*CampaignDocument, error) {
	s, err := analysis.NewStudy(c, by)
	if err != nil {
		return nil, err
	}
	d := &CampaignDocument{
		Head: report.NewHead(report.KindCampaign, s.Figures), Dir: s.Recorded.Dir, Campaign: s.Campaign, Axes: s.Axes,
		Search: s.Search,
		Cells:  []CellDocument{}, Answer: answerOf(s), Against: analysis.CompareVariants(s), study: s,
	}
	d.judged = report.JudgeCampaign(s.Recorded)
	d.Expected = report.ExpectedOf(d.judged)
	for _, c := range s.Cells {
		d.Cells = append(d.Cells, CellDocument{Cell: c, Warnings: doubts(&c)})
	}
	switch a, asked := answers.Named(s); {
	case asked:
		d.answer(a)
	case d.ofBackpressure():
		held, _ := report.Held(s.Variants())
		if !s.Unranked() || len(held) == 0 {
			held = append(held, d.Answer.Sentence)
		}
		d.Answer.tell(held, " ", "")
	}
	d.Notes = append([]string{}, slices.Concat(s.Recorded.Notes, s.Campaign.Notes, unasked(s), unsettledNote(s), retriedNote(s.Recorded.Runs))...)
	return d, nil
}

func (d *CampaignDocument) ofBackpressure() bool {
	return d.Search == nil && d.Campaign.Question != "" && analysis.UnderBackpressure(d.study.Variants())
}

func (d *CampaignDocument) answer(a answers.Answer) {
	if slices.ContainsFunc(d.study.Cells, func(c analysis.Cell) bool { return len(c.Sample.Taken) > 0 }) {
		d.Table, d.answered = &AnswerTable{Head: a.Rows[0], Rows: a.Rows[1:], Notes: a.Notes}, a
	}
	d.Answer = Answer{Name: d.Campaign.Answer, Status: analysis.AnswerNoRanking,
		Sentence: "No run is valid: there is no answer."}
	if len(d.study.ValidCells()) > 0 {
		d.Answer.Status = analysis.AnswerTold
		d.Answer.tell(a.Points, "; ", ".")
	}
}

// fewPoints is up to how many points are read as a sentence; more are a list.
const fewPoints = 2

func (a *Answer) tell(points []string, between, end string) {
	a.Sentence = strings.Join(points, between) + end
	if len(points) > fewPoints {
		a.Points = points
	}
}

func answerOf(d *analysis.Study) Answer {
	if s := d.Search; s != nil {
		return Answer{Sentence: s.Answer, Status: analysis.AnswerSearch}
	}
	r := d.Rank()
	switch {
	case len(r.Cells) == 0:
		return Answer{Status: r.Status, Sentence: "No valid run has a figure to rank by: there is no answer."}
	case d.Unranked():
		return Answer{Status: r.Status,
			Sentence: "The question names no figure, so nothing is ranked: read What it shows, below; --by ranks by a figure."}
	}
	a := Answer{Figure: d.By.Name, FigureFrom: d.ByFrom, Status: r.Status, Alike: r.Alike, More: r.More}
	if parts := analysis.BySettling(d); len(parts) > 1 {
		var each []string
		for _, part := range parts {
			each = append(each, part.Prefix+answerOf(part.Cells).Sentence)
		}
		a.Sentence = strings.Join(each, " ")
		return a
	}
	if len(r.Cells) == 1 {
		only := r.Cells[0]
		a.Sentence = fmt.Sprintf("%s: %s is %s; there is nothing to hold it against.", d.Said(only.Label), d.By.Title,
			only.Figures[d.By.Name].Bounded(d.By))
		return a
	}
	if r.Status == analysis.AnswerBest {
		a.Best = r.Cells[0].Label
	}
	a.Sentence = conclude(d, r)
	return a
}

func conclude(d *analysis.Study, r analysis.Ranking) string {
	best, title, value := d.Said(r.Cells[0].Label), d.By.Title, r.Cells[0].Figures[d.By.Name].Bounded(d.By)
	next := r.Rest[0]
	side := "lowest"
	if d.By.Better == figure.Higher {
		side = "highest"
	}
	most := side + " median is that"
	if !slices.ContainsFunc(r.Rest, func(c analysis.Contender) bool { return c.A.N > 1 || c.B.N > 1 }) {
		most = side + " is that"
	}
	switch {
	case r.Status == analysis.AnswerBest:
		return fmt.Sprintf("%s is best by %s, %s; the next is %s with %s, %s.",
			best, title, value, d.Said(next.Name), next.B.MedianText(d.By), compared.Difference(next.Test.Difference))
	case r.Status == analysis.AnswerTooFew:
		more := "more runs are needed"
		if r.More > 0 {
			more = fmt.Sprintf("%d more of each would do", r.More)
		}
		return fmt.Sprintf("Too few runs to call one best by %s: %s. The %s of %s: %s.", title, more, most, best, value)
	case len(r.Alike) == len(r.Rest):
		return fmt.Sprintf("No difference shown by %s: the %s of %s: %s. It is not told apart from any other.",
			title, most, best, value)
	}
	return fmt.Sprintf("None is shown to be best by %s: the %s of %s: %s. It is not told apart from %s.",
		title, most, best, value, layout.Enumerate(analysis.SaidAll(d, r.Alike)))
}

func doubts(d *analysis.Cell) map[string][]string {
	all := map[string][]string{}
	for name, warnings := range d.Doubts {
		for _, w := range warnings {
			all[name] = append(all[name], doubtText(w))
		}
	}
	return all
}

func doubtText(w analysis.Doubt) string {
	if w.Bounds > 0 {
		return fmt.Sprintf("in %d of %s it is only a lower bound", w.Bounds, unit.Things(int64(len(w.Of)), "run"))
	}
	return w.Text + named(w.Warning, w.Of)
}

func named(w stats.Warning, of []*result.Recorded) string {
	var names []string
	for _, i := range w.At {
		if i >= 0 && i < len(of) {
			names = append(names, analysis.ShortName(of[i]))
		}
	}
	if len(names) == 0 || len(names) == len(of) {
		return ""
	}
	return " (" + strings.Join(names, ", ") + ")"
}
