package answers

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"kafkabench.example/kafka-bench/internal/measure/stats"
	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result/figure"
	"kafkabench.example/kafka-bench/internal/show/analysis"
	"kafkabench.example/kafka-bench/internal/show/layout"
)

// A workKind is a row of the table. The figure decides the best engine for the kind of work.
type workKind struct {
	work    string
	figure  string
	added   bool // show how much it exceeds that of plain at the same load
	repeats bool
	of      []workSource      // in the order of preference
	cannot  map[string]string // engines that cannot do it, and why
}

// A workSource is a suite, and the pattern of its variants' names with ENGINE for
// the head of a column.
type workSource struct{ suite, variant string }

func (s workSource) of(engine string) string { return strings.Replace(s.variant, "ENGINE", engine, 1) }

var engineColumns = []string{"plain", "markers", "offsetmap", "share"}

var (
	plainCant   = map[string]string{"plain": "it can deliver nothing again that a handler gave back or kept"}
	shareCant   = map[string]string{"share": "it keeps no order"}
	studyOf     = func(kind string) workSource { return workSource{"kmq-study", kind + "-ENGINE"} }
	kindsOfWork = []workKind{
		{work: "a steady stream", figure: "queue_acked_per_s",
			of: []workSource{{"kmq-online", "4x25-all-ENGINE"}, {"kmq-online", "2x5-all-ENGINE"}, studyOf("online")}},
		{work: "a backlog", figure: "queue_acked_per_s", of: []workSource{{"kmq-drain", "ENGINE"}, studyOf("drain")}},
		{work: "no delay", figure: "e2e_response_time_p50", added: true,
			of: []workSource{{"kmq-latency", "ENGINE-50"}, studyOf("latency")}},
		{work: "few requests at the brokers", figure: "broker_requests_per_record",
			of: []workSource{{"kmq-online", "1x1-all-ENGINE"}, {"kmq-online", "2x5-all-ENGINE"}, studyOf("online")}},
		{work: "few bytes into the brokers", figure: "broker_bytes_in_per_record",
			of: []workSource{{"kmq-online", "1x1-all-ENGINE"}, {"kmq-online", "2x5-all-ENGINE"}, studyOf("online")}},
		{work: "handlers that give back", figure: "redelivery_lateness_p99",
			of: []workSource{{"kmq-drops-nack", "50-cap4-ENGINE"}, studyOf("nack")}, cannot: plainCant},
		{work: "handlers that hang", figure: "redelivery_lateness_p99",
			of: []workSource{{"kmq-drops-silent", "50-cap4-2s-ENGINE"}, {"kmq-drops-silent", "50-2s-ENGINE"},
				studyOf("silent")}, cannot: plainCant},
		{work: "handlers of any length", figure: "e2e_response_time_p99",
			of: []workSource{{"kmq-heavy-tail", "none-ENGINE"}, studyOf("any-order")}},
		{work: "the same, in order", figure: "e2e_response_time_p99",
			of: []workSource{{"kmq-heavy-tail", "partition-ENGINE"}, studyOf("in-order")}, cannot: shareCant},
		{work: "consumers that die", figure: "e2e_response_time_p99", repeats: true,
			of: []workSource{{"kmq-kill", "ENGINE"}, studyOf("kill")}},
		{work: "brokers that restart", figure: "e2e_response_time_p99", repeats: true,
			of: []workSource{{"kmq-rolling", "ENGINE"}, studyOf("rolling")}},
	}
)

const (
	noneBest        = "no difference shown"
	notMeasuredHere = "not measured"
	noneQualifies   = "none qualifies"
	notPossible     = "can't"
)

// Decide returns the table of the best engine, or those not shown to differ, for each kind of work,
// from campaigns of the kmq study. Each engine has a column with its figure and variant.
func Decide(campaigns ...*analysis.Study) Answer {
	table, _ := decideWork(campaigns)
	return table
}

type verdictOn struct {
	work, best string
	cells      []string
	from       string
}

func decideWork(campaigns []*analysis.Study) (Answer, []verdictOn) {
	t := Answer{}
	t.Add(append([]string{"work", "best", "by", "suite"}, engineColumns...)...)
	var all []verdictOn
	for _, kind := range kindsOfWork {
		v := kind.judge(campaigns)
		all = append(all, v)
		by := analysis.FigureCalled(kind.figure).Title
		if kind.added {
			by += ", against plain"
		}
		t.Add(append([]string{v.work, v.best, by, v.from}, v.cells...)...)
	}
	t.Notes = []string{
		"best: the engine that the runs show to be better than each of the others, or those that are not told apart from the one with the best median, by ranks; of too few runs no test could tell any apart. An engine that lost a record is not among them. No delay: plain, and the engines that the runs do not show to add to it at their load.",
		"requests and bytes: for each record, each engine at the rate that it reached; with one node and thread these are nearly the same. acked again: the sum of all runs. can't: plain delivers nothing again that a handler gave back or kept, and share keeps no order.",
	}
	return t, all
}

func (k workKind) judge(campaigns []*analysis.Study) verdictOn {
	source, d := k.source(campaigns)
	v := verdictOn{work: k.work, best: notMeasuredHere, from: source.suite, cells: make([]string, len(engineColumns))}
	f := analysis.FigureCalled(k.figure)
	part := &analysis.Study{By: f}
	var bases []analysis.Repeated
	for i, engine := range engineColumns {
		v.cells[i] = notMeasuredHere
		if k.cannot[engine] != "" {
			v.cells[i] = notPossible
			continue
		}
		c := cellCalled(d, source.of(engine))
		if c == nil || c.Valid == 0 || c.Of(k.figure).N == 0 {
			continue
		}
		v.best = noneQualifies
		text, base := k.figureOf(d, c, f)
		lost, _ := c.Sum("queue_lost")
		switch v.cells[i] = text + " (" + source.of(engine) + ")"; {
		case lost > 0:
			v.cells[i] = unit.Count(int64(lost)) + " LOST, " + v.cells[i]
		case base != nil:
			part.Cells = append(part.Cells, analysis.Cell{Name: engine, Label: engine, Valid: c.Valid,
				Figures: map[string]analysis.Repeated{k.figure: c.Of(k.figure)}})
			bases = append(bases, base.Of(k.figure))
		}
	}
	switch {
	case len(part.Cells) == 0:
	case k.added:
		v.best = leastAdded(part, bases)
	default:
		v.best = bestEngines(part)
	}
	return v
}

// figureOf also returns the cell that c is compared with if the figure is added to plain, else c; nil
// if that is not known.
func (k workKind) figureOf(d *analysis.Study, c *analysis.Cell, f figure.Figure) (text string, base *analysis.Cell) {
	r := c.Of(k.figure)
	text = r.MedianText(f)
	if k.figure == "queue_acked_per_s" {
		if base := d.PlainOf(c); base != nil {
			text += ", " + unit.Factor(ratio(r, base.Of(k.figure)).Value) + " × plain"
		}
	}
	if n, known := c.Sum("queue_acked_again"); known && k.repeats {
		text += ", " + unit.Count(int64(n)) + " acked again"
	}
	if !k.added || c.EngineOf() == analysis.PlainEngine {
		return text, c
	}
	base = d.PlainOf(c)
	switch {
	case base == nil:
		return text + ", no plain at that load", nil
	case math.IsInf(base.Of(k.figure).Summary.Median, 1):
		return text + ", of plain only a lower bound is known", nil
	}
	return text + ", " + signed(r.Summary.Median-base.Of(k.figure).Summary.Median, f), base
}

// source returns the first source with a campaign that has the figure of two engines, or else of
// one, and that campaign. If there is none, it returns an empty study.
func (k workKind) source(campaigns []*analysis.Study) (workSource, *analysis.Study) {
	for _, least := range []int{2, 1} {
		for _, s := range k.of {
			for _, d := range campaigns {
				if strings.TrimSuffix(d.Campaign.Name, "-quick") == s.suite && k.madeIn(d, s) >= least {
					return s, d
				}
			}
		}
	}
	return workSource{unit.Absent, ""}, &analysis.Study{}
}

func (k workKind) madeIn(d *analysis.Study, s workSource) (n int) {
	for _, engine := range engineColumns {
		if c := cellCalled(d, s.of(engine)); c != nil && c.Valid > 0 && c.Of(k.figure).N > 0 {
			n++
		}
	}
	return n
}

func cellCalled(d *analysis.Study, variant string) *analysis.Cell {
	i := slices.IndexFunc(d.Cells, func(c analysis.Cell) bool { return len(c.Values) == 1 && c.Values[0] == variant })
	if i < 0 {
		return nil
	}
	return &d.Cells[i]
}

func bestEngines(d *analysis.Study) string {
	ranked := d.Ranked()
	best := []string{ranked[0].Label}
	var open []string
	for _, other := range d.Against(ranked) {
		switch other.Word {
		case analysis.WordWorse:
		case analysis.WordTooFew:
			open = append(open, other.Name)
		default:
			best = append(best, other.Name)
		}
	}
	return judged(d, best, open)
}

// leastAdded returns plain, which adds nothing, and the engines that the runs do not show to add to
// its figure. bases have that figure at each engine's own load. As plain's runs differ too, ranks of
// the added times would find a difference too often. So each engine is tested against its base, at
// the level that Bonferroni gives for all of them.
func leastAdded(d *analysis.Study, bases []analysis.Repeated) string {
	alpha := analysis.DefaultAlpha / float64(max(1, len(bases)-1))
	var best, open []string
	for i, c := range d.Cells {
		if c.Name == analysis.PlainEngine {
			best = append(best, c.Name)
			continue
		}
		switch analysis.Tested(bases[i], c.Figures[d.By.Name], alpha).Verdict {
		case stats.TooFew:
			open = append(open, c.Name)
		case stats.Higher:
		default:
			best = append(best, c.Name)
		}
	}
	return judged(d, best, open)
}

// judged names the best of d's engines; open are those that too few runs tell apart from them.
func judged(d *analysis.Study, best, open []string) string {
	fewest, most := math.MaxInt, 0
	for _, c := range d.Cells {
		n := c.Figures[d.By.Name].N
		fewest, most = min(fewest, n), max(most, n)
	}
	switch {
	case len(best) == 0:
		return noneQualifies
	case len(d.Cells) == 1:
		return best[0] + ", alone"
	case len(best) == len(d.Cells):
		return noneBest
	case len(open) == 0:
		return layout.Either(best)
	case most == 1:
		return best[0] + ", in one run"
	}
	runs := fmt.Sprint(most)
	if fewest != most {
		runs = fmt.Sprintf("%d to %d", fewest, most)
	}
	return fmt.Sprintf("%s, with too few runs (%s) to tell %s from it", layout.Either(best), runs, layout.Enumerate(open))
}

func decision(d *analysis.Study) Answer {
	table, all := decideWork([]*analysis.Study{d})
	var clauses, open []string
	for _, v := range all {
		if v.best == notMeasuredHere {
			open = append(open, v.work)
			continue
		}
		clauses = append(clauses, v.work+": "+v.best)
	}
	if len(open) > 0 {
		clauses = append(clauses, "not measured: "+layout.Enumerate(open))
	}
	return table.says(append(clauses, notSettled(d)...)...)
}
