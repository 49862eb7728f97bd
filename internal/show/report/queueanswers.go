package report

import (
	"fmt"
	"math"
	"strings"

	"kafkabench.example/kafka-bench/internal/measure/stats"
	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/figure"
	"kafkabench.example/kafka-bench/internal/show/analysis"
	"kafkabench.example/kafka-bench/internal/show/layout"
)

// ofPlain is a column of a figure ÷ that of plain.
func ofPlain(d *analysis.Study, head, name string) answerColumn {
	return answerColumn{head, func(c *analysis.Cell) string {
		if c.EngineOf() == analysis.PlainEngine && c.Of(name).N > 0 {
			return "1"
		}
		base := d.PlainOf(c)
		if base == nil {
			return unit.Absent
		}
		return cellMark(c, c.Of(name), quotient(c.Of(name), base.Of(name)))
	}}
}

// addedToPlain is a column of by how much a time is more than that of plain.
func addedToPlain(d *analysis.Study, head, name string) answerColumn {
	return answerColumn{head, func(c *analysis.Cell) string {
		base := d.PlainOf(c)
		if base == nil || c.Of(name).N == 0 || base.Of(name).N == 0 {
			return unit.Absent
		}
		text, _ := added(c.Of(name), base.Of(name), analysis.FigureCalled(name))
		return cellMark(c, c.Of(name), text)
	}}
}

// added is by how much a time is more than another, in its own unit, with an interval where
// the runs are enough for one, and whether they show it.
func added(r, base analysis.Repeated, f figure.Figure) (text string, shown stats.Verdict) {
	text = signed(r.Summary.Median-base.Summary.Median, f)
	c := stats.Compare(base.Values, r.Values, analysis.DefaultAlpha)
	if !math.IsNaN(c.ShiftLow) && !math.IsNaN(c.ShiftHigh) && !math.IsInf(c.ShiftLow, 0) {
		text += fmt.Sprintf(" (%s..%s)", signed(c.ShiftLow, f), signed(c.ShiftHigh, f))
	}
	return text, c.Verdict
}

func signed(v float64, f figure.Figure) string {
	if math.IsNaN(v) || math.IsInf(v, 0) { // of bounds there is no difference
		return unit.Absent
	}
	if v < 0 {
		return "−" + f.Format(-v)
	}
	return "+" + f.Format(v)
}

// engineGroups are the valid plain cells with the cells that are held against each, and those
// that nothing is held against.
func engineGroups(d *analysis.Study) (groups []engineGroup, alone []*analysis.Cell) {
	at := map[string]int{}
	for _, c := range d.ValidCells() {
		if c.EngineOf() == analysis.PlainEngine {
			at[c.Name] = len(groups)
			groups = append(groups, engineGroup{plain: c})
		}
	}
	for _, c := range d.ValidCells() {
		switch base := d.PlainOf(c); {
		case base != nil:
			groups[at[base.Name]].others = append(groups[at[base.Name]].others, c)
		case c.EngineOf() != analysis.PlainEngine:
			alone = append(alone, c)
		}
	}
	return groups, alone
}

type engineGroup struct {
	plain  *analysis.Cell
	others []*analysis.Cell
}

// prefix is what the group is called before its clause; "" where it needs no name.
func (g engineGroup) prefix() string {
	if kind := analysis.KindOf(g.plain.Label, analysis.PlainEngine); kind != "" {
		return kind + ": "
	}
	return ""
}

// queueCosts are the columns of what a queue took of clients and brokers.
func queueCosts() []answerColumn {
	return []answerColumn{
		valued("requests of the queue per record", "queue_requests_per_record"),
		valued("broker requests per record", "broker_requests_per_record"), valued("broker bytes in per record", "broker_bytes_in_per_record"),
		valued("out", "broker_bytes_out_per_record"),
		valued("all clients' CPU, cores", "cpu_cores"), valued("brokers' CPU, cores", "broker_cpu_cores"), limited(),
	}
}

// engines says what each engine acknowledged, as a part of what plain did.
func engines(d *analysis.Study) (AnswerTable, string) {
	const name = "queue_acked_per_s"
	columns := append([]answerColumn{valued("acked/s", name), ofPlain(d, "÷ plain", name)}, queueCosts()...)
	table := tabulate(d, append(columns, summed("delivered again", "queue_redelivered"), summed("pending", "queue_pending"), summed("lost", "queue_lost"))...)
	table.Notes = []string{"acked/s: acknowledged by the application, each record once. ÷ plain: of the plain scenario that is alike but for the engine."}
	groups, alone := engineGroups(d)
	var clauses []string
	for _, g := range groups {
		clause := g.prefix() + "plain acknowledged " + medianOf(g.plain, name)
		for _, c := range g.others {
			clause += fmt.Sprintf(", %s %s times that", c.EngineOf(), quotient(c.Of(name), g.plain.Of(name)))
		}
		clauses = append(clauses, clause)
	}
	for _, c := range alone {
		clauses = append(clauses, fmt.Sprintf("%s acknowledged %s, with no plain beside it", d.Said(c.Label), medianOf(c, name)))
	}
	return table, phrases(clauses) + notSettled(d)
}

// notSettled warns of cells in whose runs something was lost, or not settled to the end; ""
// of none.
func notSettled(d *analysis.Study) string {
	var clauses []string
	for _, part := range []struct{ name, what string }{{"queue_lost", "LOST"}, {"queue_pending", "not settled by the end"}} {
		for _, c := range d.ValidCells() {
			if n, _ := c.Sum(part.name); n > 0 {
				clauses = append(clauses, fmt.Sprintf("%s of %s %s", unit.Things(int64(n), "record"), d.Said(c.Label), part.what))
			}
		}
	}
	if len(clauses) == 0 {
		return ""
	}
	return " But " + phrases(clauses)
}

// timeAsked is the time that the suite is judged by, or the median of the end-to-end one.
func timeAsked(d *analysis.Study) string {
	if (d.ByFrom == analysis.FromSuite || d.ByFrom == analysis.FromQuestion) && d.By.Kind == figure.Nanoseconds {
		return d.By.Name
	}
	return "e2e_response_time_p50"
}

// engineTimes says what each engine added to the times of plain.
func engineTimes(d *analysis.Study) (AnswerTable, string) {
	name := timeAsked(d)
	f := analysis.FigureCalled(name)
	columns := []answerColumn{
		valued("offered/s", "offered_per_s"), valued("e2e response time p50", "e2e_response_time_p50"), valued("p99", "e2e_response_time_p99"),
		valued("p99.9", "e2e_response_time_p99_9"), addedToPlain(d, "added to plain, "+f.Title, name),
		valued("processed p99", "processed_response_time_p99"), valued("settle time p50", "settle_time_p50"), valued("p99", "settle_time_p99"),
		valued("peak in flight", "queue_in_flight_peak"), summed("delivered again", "queue_redelivered"), summed("pending", "queue_pending"), summed("lost", "queue_lost"),
	}
	table := tabulate(d, append(columns, queueCosts()...)...)
	table.Notes = []string{fmt.Sprintf("Times are of first deliveries. Added: against the plain scenario that is alike but for the engine, at a rate within %s.", wholePercent(analysis.SameLoad))}
	groups, alone := engineGroups(d)
	var clauses []string
	for _, g := range groups {
		if len(g.others) == 0 {
			continue
		}
		clause := fmt.Sprintf("against %s with an %s of %s at %s", d.Said(g.plain.Label), f.Title, medianOf(g.plain, name), g.plain.Of("offered_per_s").MedianText(analysis.FigureCalled("offered_per_s")))
		for i, c := range g.others {
			text, shown := added(c.Of(name), g.plain.Of(name), f)
			clause += map[bool]string{true: " ", false: ", "}[i == 0] + d.Said(c.Label) + " has " + text
			switch n := c.Of(name).N; {
			case n > 1 && shown == stats.TooFew:
				clause += fmt.Sprintf(", which %d runs are too few to show", n)
			case n > 1 && shown == stats.NoDifference:
				clause += ", which is not shown to be a difference"
			}
		}
		clauses = append(clauses, clause)
	}
	clauses = append(clauses, inOrder(d, name)...)
	if len(alone) > 0 {
		var names []string
		for _, c := range alone {
			names = append(names, d.Said(c.Label))
		}
		clauses = append(clauses, "no plain was measured at the load of "+layout.Enumerate(names))
	}
	return table, phrases(clauses) + notSettled(d)
}

// inOrder says what order costs each engine, where the cells differ in it.
func inOrder(d *analysis.Study, name string) (clauses []string) {
	const order = "consume.queue.order"
	for _, c := range d.ValidCells() {
		if c.Setting(order) == "none" || c.Setting(order) == "" {
			continue
		}
		for _, free := range d.ValidCells() {
			if free.Setting(order) == "none" && free.EngineOf() == c.EngineOf() && analysis.RatesApart(c, free) <= analysis.SameLoad && free.Of(name).N > 0 {
				clauses = append(clauses, fmt.Sprintf("%s, in order of each %s, has %s times the %s of %s", d.Said(c.Label), c.Setting(order),
					quotient(c.Of(name), free.Of(name)), analysis.FigureCalled(name).Title, d.Said(free.Label)))
			}
		}
	}
	return clauses
}

// redelivery holds what was delivered again against the arithmetic, and against the clock.
func redelivery(d *analysis.Study) (AnswerTable, string) {
	expected := answerColumn{"arithmetic", func(c *analysis.Cell) string {
		if q := anyQueue(c); q != nil {
			return unit.Decimals(q.ExpectedDeliveriesPerRecord, 4)
		}
		return unit.Absent
	}}
	perRecord := answerColumn{"deliveries per record", func(c *analysis.Cell) string {
		r := c.Of("queue_deliveries_per_record")
		if r.N == 0 {
			return unit.Absent
		}
		return cellMark(c, r, unit.Decimals(r.Summary.Median, 4))
	}}
	table := tabulate(d,
		perRecord, expected, valued("tail, of the attempt before", "queue_tail_ratio"), answerColumn{"dropped", dropped},
		valued("late p50", "redelivery_lateness_p50"), valued("p99", "redelivery_lateness_p99"), worst("max", "redelivery_lateness_max"), summed("early", "queue_early_redeliveries"),
		valued("e2e of first deliveries p99", "e2e_response_time_p99"), valued("of later ones p50", "redelivery_response_time_p50"), valued("p99", "redelivery_response_time_p99"),
		summed("dead letters", "queue_dead_lettered"), summed("pending", "queue_pending"), summed("lost", "queue_lost"), summed("acked again", "queue_acked_again"),
		valued("all clients' CPU, cores", "cpu_cores"),
	)
	table.Notes = []string{
		"late: from when a delivery was due (the end of the lock before it, or of the delay it was given back with) until it came.",
		"arithmetic: (1 − pⁿ) ÷ (1 − p) deliveries of each record, with the share p dropped and n deliveries at the most; 1 ÷ (1 − p) without a limit. Of each attempt the share p is delivered again. tail: that share as it was, over all attempts with a thousand deliveries or more.",
	}
	byEngine := map[string][]*analysis.Cell{}
	var order []string
	for _, c := range d.ValidCells() {
		engine := c.EngineOf()
		if byEngine[engine] == nil {
			order = append(order, engine)
		}
		byEngine[engine] = append(byEngine[engine], c)
	}
	var clauses []string
	for _, engine := range order {
		clauses = append(clauses, "with "+engine+" "+redeliveredBy(d, byEngine[engine]))
	}
	return table, phrases(clauses) + notSettled(d)
}

// redeliveredBy sums up the cells of one engine by the worst of them.
func redeliveredBy(d *analysis.Study, cells []*analysis.Cell) string {
	perRecord, tail, late := extreme{}, extreme{}, extreme{}
	early := 0.0
	for _, c := range cells {
		if r := c.Of("queue_deliveries_to_expected"); r.N > 0 {
			perRecord.take(math.Abs(r.Summary.Median-1), c)
		}
		if q, r := anyQueue(c), c.Of("queue_tail_ratio"); r.N > 0 && q != nil {
			if p := shareDropped(c); p > 0 {
				tail.take(math.Abs(r.Summary.Median/p-1), c)
			}
		}
		if r := c.Of("redelivery_lateness_p99"); r.N > 0 {
			late.take(r.Summary.Median, c)
		}
		n, _ := c.Sum("queue_early_redeliveries")
		early += n
	}
	of := ""
	if len(cells) > 1 {
		of = "at most "
	}
	var parts []string
	if perRecord.of != nil {
		parts = append(parts, fmt.Sprintf("deliveries per record are %s%s off the arithmetic", of, unit.Percent(perRecord.v)))
	}
	if tail.of != nil {
		parts = append(parts, fmt.Sprintf("the tail is %s%s off the share that was dropped", of, unit.Percent(tail.v)))
	}
	if late.of != nil {
		parts = append(parts, fmt.Sprintf("redeliveries are %s%s late at p99%s", of, unit.Nanos(int64(late.v)), late.where(d, len(cells))))
	}
	if len(parts) == 0 {
		return "nothing was delivered again"
	}
	if early == 0 {
		return strings.Join(parts, ", ") + ", and none early"
	}
	return strings.Join(parts, ", ") + ", and " + unit.Count(int64(early)) + " EARLY"
}

// extreme is the highest of what it took, with the cell that it is of.
type extreme struct {
	v  float64
	of *analysis.Cell
}

func (e *extreme) take(v float64, c *analysis.Cell) {
	if e.of == nil || v > e.v {
		e.v, e.of = v, c
	}
}

// where names the cell that the extreme is of, where there are several.
func (e extreme) where(d *analysis.Study, cells int) string {
	if cells < 2 {
		return ""
	}
	return " (" + d.Said(e.of.Label) + ")"
}

// anyQueue is the queue of one of the cell's runs; nil where none has one.
func anyQueue(d *analysis.Cell) *result.Queue {
	for _, r := range d.Sample.Taken {
		if r.Run.Queue != nil {
			return r.Run.Queue
		}
	}
	return nil
}

// dropped is what share of a cell's deliveries is dropped, as its scenario has it.
func dropped(c *analysis.Cell) string {
	if p := shareDropped(c); p > 0 {
		return unit.Percent(p) + " " + c.Setting("consume.queue.drop.how")
	}
	return unit.Absent
}

func shareDropped(c *analysis.Cell) float64 {
	percent, found := strings.CutSuffix(c.Setting("consume.queue.drop.share"), "%")
	var p float64
	if _, err := fmt.Sscan(percent, &p); !found || err != nil {
		return 0
	}
	return p / 100
}

// engineFaults says what a fault cost each engine: what was lost, what came again, and for
// how long nothing came.
func engineFaults(d *analysis.Study) (AnswerTable, string) {
	const p99 = "e2e_response_time_p99"
	table := tabulate(d,
		summed("acknowledged", "queue_unique_acked"), summed("lost", "queue_lost"), summed("pending", "queue_pending"),
		summed("delivered again", "queue_redelivered"), summed("acked again", "queue_acked_again"),
		valued("e2e of first deliveries p50", "e2e_response_time_p50"), valued("p99", p99), ofPlain(d, "p99 ÷ plain", p99),
		valued("no delivery for", "delivery_gap_max"),
		valued("redelivery response time p50", "redelivery_response_time_p50"), valued("p99", "redelivery_response_time_p99"),
		valued("late p99", "redelivery_lateness_p99"), summed("early", "queue_early_redeliveries"), valued("all clients' CPU, cores", "cpu_cores"),
	)
	table.Notes = []string{"Counts are over all runs of a scenario. acked again: acknowledged though they had been before, which is what duplicates cost an application. redelivery response time: e2e of deliveries after the first; late: from when they were due."}
	var clauses []string
	for _, c := range d.ValidCells() {
		acked, _ := c.Sum("queue_unique_acked")
		lost, _ := c.Sum("queue_lost")
		again, _ := c.Sum("queue_redelivered")
		twice, _ := c.Sum("queue_acked_again")
		clause := fmt.Sprintf("%s: %s acknowledged, %s, %s delivered again and %s acknowledged again", d.Said(c.Label),
			unit.Things(int64(acked), "record"), wereLost(int64(lost)), none(int64(again)), none(int64(twice)))
		if c.Of(p99).N > 0 {
			clause += ", first deliveries took " + medianOf(c, p99) + " at p99"
		}
		if gap := c.Of("delivery_gap_max"); gap.N > 0 {
			clause += ", and a partition delivered nothing for " + medianOf(c, "delivery_gap_max")
		}
		clauses = append(clauses, clause)
	}
	return table, phrases(clauses) + notSettled(d)
}
