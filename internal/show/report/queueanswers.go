package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"kafkabench.example/kafka-bench/internal/measure/stats"
	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/figure"
	"kafkabench.example/kafka-bench/internal/show/layout"
)

// The answers of suites whose cells are the engines of a queue. What an engine costs is
// said against plain, an ordinary consumer group, in the cell that is alike in all that
// is not the engine's own.

// plainEngine is the engine that the others are held against.
const plainEngine = "plain"

// engineKeys begin the settings in which a cell may differ from the plain one that it is
// held against: they are the engine's own.
var engineKeys = []string{
	"name", "description", "load.rate", "consume.session_timeout", "consume.queue.engine", "consume.queue.visibility", "consume.queue.max_deliveries",
	"consume.queue.dead_letter", "consume.queue.tracker", "consume.queue.transactions", "consume.queue.start_first", "consume.queue.acks",
}

// sameLoad is how far the rates of two cells may be apart whose times are compared.
const sameLoad = 0.05

// plainOf is the valid cell with plain that a cell is held against: the nearest in its
// rate of those that are alike. Nil where there is none, and for plain itself.
func (d *CampaignDocument) plainOf(c *CellDocument) *CellDocument {
	if engine := c.engineOf(); engine == "" || engine == plainEngine {
		return nil
	}
	var best *CellDocument
	nearest := math.Inf(1)
	for _, other := range d.validCells() {
		if other.engineOf() != plainEngine || !alikeButEngine(c, other) {
			continue
		}
		if apart := ratesApart(c, other); apart <= sameLoad && apart < nearest {
			best, nearest = other, apart
		}
	}
	return best
}

// alikeButEngine tells whether two cells differ in nothing but their engines, and rates.
func alikeButEngine(a, b *CellDocument) bool {
	if len(a.sample.runs) == 0 || len(b.sample.runs) == 0 {
		return false
	}
	mine, others := figure.Settings(a.sample.runs[0].Run.Scenario), figure.Settings(b.sample.runs[0].Run.Scenario)
	alike := func(one, other map[string]string) bool {
		for path, value := range one {
			if !slices.Contains(engineKeys, path) && other[path] != value {
				return false
			}
		}
		return true
	}
	return alike(mine, others) && alike(others, mine)
}

// ratesApart is how far the offered rates of two cells are apart, as a part of the lower.
func ratesApart(a, b *CellDocument) float64 {
	one, other := a.setting("load.rate"), b.setting("load.rate")
	if one == other {
		return 0
	}
	mine, err := unit.ParseRate(one)
	theirs, wrong := unit.ParseRate(other)
	if err != nil || wrong != nil || mine.IsMax() || theirs.IsMax() {
		return math.Inf(1)
	}
	low, high := mine.PerSecond(), theirs.PerSecond()
	if low > high {
		low, high = high, low
	}
	return high/low - 1
}

// ofPlain is a column of a figure ÷ that of plain.
func (d *CampaignDocument) ofPlain(head, name string) answerColumn {
	return answerColumn{head, func(c *CellDocument) string {
		if c.engineOf() == plainEngine && c.of(name).N > 0 {
			return "1"
		}
		base := d.plainOf(c)
		if base == nil {
			return absent
		}
		return c.mark(c.of(name), quotient(c.of(name), base.of(name)))
	}}
}

// addedToPlain is a column of by how much a time is more than that of plain.
func (d *CampaignDocument) addedToPlain(head, name string) answerColumn {
	return answerColumn{head, func(c *CellDocument) string {
		base := d.plainOf(c)
		if base == nil || c.of(name).N == 0 || base.of(name).N == 0 {
			return absent
		}
		text, _ := added(c.of(name), base.of(name), figureCalled(name))
		return c.mark(c.of(name), text)
	}}
}

// added is by how much a time is more than another, in its own unit, with an interval where
// the runs are enough for one, and whether they show it.
func added(r, base Repeated, f figure.Figure) (text string, shown stats.Verdict) {
	text = signed(r.summary.Median-base.summary.Median, f)
	c := stats.Compare(base.values, r.values, DefaultAlpha)
	if !math.IsNaN(c.ShiftLow) && !math.IsNaN(c.ShiftHigh) && !math.IsInf(c.ShiftLow, 0) {
		text += fmt.Sprintf(" (%s..%s)", signed(c.ShiftLow, f), signed(c.ShiftHigh, f))
	}
	return text, c.Verdict
}

func signed(v float64, f figure.Figure) string {
	if math.IsNaN(v) || math.IsInf(v, 0) { // of bounds there is no difference
		return absent
	}
	if v < 0 {
		return "−" + f.Format(-v)
	}
	return "+" + f.Format(v)
}

// groups are the valid plain cells with the cells that are held against each, and those
// that nothing is held against.
func (d *CampaignDocument) groups() (groups []engineGroup, alone []*CellDocument) {
	at := map[string]int{}
	for _, c := range d.validCells() {
		if c.engineOf() == plainEngine {
			at[c.Name] = len(groups)
			groups = append(groups, engineGroup{plain: c})
		}
	}
	for _, c := range d.validCells() {
		switch base := d.plainOf(c); {
		case base != nil:
			groups[at[base.Name]].others = append(groups[at[base.Name]].others, c)
		case c.engineOf() != plainEngine:
			alone = append(alone, c)
		}
	}
	return groups, alone
}

type engineGroup struct {
	plain  *CellDocument
	others []*CellDocument
}

// prefix is what the group is called before its clause; "" where it needs no name.
func (g engineGroup) prefix() string {
	if kind := kindOf(g.plain.label, plainEngine); kind != "" {
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
func (d *CampaignDocument) engines() (AnswerTable, string) {
	const name = "queue_acked_per_s"
	columns := append([]answerColumn{valued("acked/s", name), d.ofPlain("÷ plain", name)}, queueCosts()...)
	table := d.tabulate(append(columns, summed("delivered again", "queue_redelivered"), summed("pending", "queue_pending"), summed("lost", "queue_lost"))...)
	table.Notes = []string{"acked/s: acknowledged by the application, each record once. ÷ plain: of the plain scenario that is alike but for the engine."}
	groups, alone := d.groups()
	var clauses []string
	for _, g := range groups {
		clause := g.prefix() + "plain acknowledged " + medianOf(g.plain, name)
		for _, c := range g.others {
			clause += fmt.Sprintf(", %s %s times that", c.engineOf(), quotient(c.of(name), g.plain.of(name)))
		}
		clauses = append(clauses, clause)
	}
	for _, c := range alone {
		clauses = append(clauses, fmt.Sprintf("%s acknowledged %s, with no plain beside it", d.said(c.label), medianOf(c, name)))
	}
	return table, phrases(clauses) + d.notSettled()
}

// notSettled warns of cells in whose runs something was lost, or not settled to the end; ""
// of none.
func (d *CampaignDocument) notSettled() string {
	var clauses []string
	for _, part := range []struct{ name, what string }{{"queue_lost", "LOST"}, {"queue_pending", "not settled by the end"}} {
		for _, c := range d.validCells() {
			if n, _ := c.sum(part.name); n > 0 {
				clauses = append(clauses, fmt.Sprintf("%s of %s %s", count(int64(n), "record"), d.said(c.label), part.what))
			}
		}
	}
	if len(clauses) == 0 {
		return ""
	}
	return " But " + phrases(clauses)
}

// timeAsked is the time that the suite is judged by, or the median of the end-to-end one.
func (d *CampaignDocument) timeAsked() string {
	if (d.byFrom == FromSuite || d.byFrom == FromQuestion) && d.by.Kind == figure.Nanoseconds {
		return d.by.Name
	}
	return "e2e_response_time_p50"
}

// engineTimes says what each engine added to the times of plain.
func (d *CampaignDocument) engineTimes() (AnswerTable, string) {
	name := d.timeAsked()
	f := figureCalled(name)
	columns := []answerColumn{
		valued("offered/s", "offered_per_s"), valued("e2e response time p50", "e2e_response_time_p50"), valued("p99", "e2e_response_time_p99"),
		valued("p99.9", "e2e_response_time_p99_9"), d.addedToPlain("added to plain, "+f.Title, name),
		valued("processed p99", "processed_response_time_p99"), valued("settle time p50", "settle_time_p50"), valued("p99", "settle_time_p99"),
		valued("peak in flight", "queue_in_flight_peak"), summed("delivered again", "queue_redelivered"), summed("pending", "queue_pending"), summed("lost", "queue_lost"),
	}
	table := d.tabulate(append(columns, queueCosts()...)...)
	table.Notes = []string{fmt.Sprintf("Times are of first deliveries. Added: against the plain scenario that is alike but for the engine, at a rate within %s.", wholePercent(sameLoad))}
	groups, alone := d.groups()
	var clauses []string
	for _, g := range groups {
		if len(g.others) == 0 {
			continue
		}
		clause := fmt.Sprintf("against %s with an %s of %s at %s", d.said(g.plain.label), f.Title, medianOf(g.plain, name), g.plain.of("offered_per_s").median(figureCalled("offered_per_s")))
		for i, c := range g.others {
			text, shown := added(c.of(name), g.plain.of(name), f)
			clause += map[bool]string{true: " ", false: ", "}[i == 0] + d.said(c.label) + " has " + text
			switch n := c.of(name).N; {
			case n > 1 && shown == stats.TooFew:
				clause += fmt.Sprintf(", which %d runs are too few to show", n)
			case n > 1 && shown == stats.NoDifference:
				clause += ", which is not shown to be a difference"
			}
		}
		clauses = append(clauses, clause)
	}
	clauses = append(clauses, d.inOrder(name)...)
	if len(alone) > 0 {
		var names []string
		for _, c := range alone {
			names = append(names, d.said(c.label))
		}
		clauses = append(clauses, "no plain was measured at the load of "+layout.Enumerate(names))
	}
	return table, phrases(clauses) + d.notSettled()
}

// inOrder says what order costs each engine, where the cells differ in it.
func (d *CampaignDocument) inOrder(name string) (clauses []string) {
	const order = "consume.queue.order"
	for _, c := range d.validCells() {
		if c.setting(order) == "none" || c.setting(order) == "" {
			continue
		}
		for _, free := range d.validCells() {
			if free.setting(order) == "none" && free.engineOf() == c.engineOf() && ratesApart(c, free) <= sameLoad && free.of(name).N > 0 {
				clauses = append(clauses, fmt.Sprintf("%s, in order of each %s, has %s times the %s of %s", d.said(c.label), c.setting(order),
					quotient(c.of(name), free.of(name)), figureCalled(name).Title, d.said(free.label)))
			}
		}
	}
	return clauses
}

// redelivery holds what was delivered again against the arithmetic, and against the clock.
func (d *CampaignDocument) redelivery() (AnswerTable, string) {
	expected := answerColumn{"arithmetic", func(c *CellDocument) string {
		if q := c.anyQueue(); q != nil {
			return decimals(q.ExpectedDeliveriesPerRecord, 4)
		}
		return absent
	}}
	perRecord := answerColumn{"deliveries per record", func(c *CellDocument) string {
		r := c.of("queue_deliveries_per_record")
		if r.N == 0 {
			return absent
		}
		return c.mark(r, decimals(r.summary.Median, 4))
	}}
	table := d.tabulate(
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
	byEngine := map[string][]*CellDocument{}
	var order []string
	for _, c := range d.validCells() {
		engine := c.engineOf()
		if byEngine[engine] == nil {
			order = append(order, engine)
		}
		byEngine[engine] = append(byEngine[engine], c)
	}
	var clauses []string
	for _, engine := range order {
		clauses = append(clauses, "with "+engine+" "+d.redeliveredBy(byEngine[engine]))
	}
	return table, phrases(clauses) + d.notSettled()
}

// redeliveredBy sums up the cells of one engine by the worst of them.
func (d *CampaignDocument) redeliveredBy(cells []*CellDocument) string {
	perRecord, tail, late := extreme{}, extreme{}, extreme{}
	early := 0.0
	for _, c := range cells {
		if r := c.of("queue_deliveries_to_expected"); r.N > 0 {
			perRecord.take(math.Abs(r.summary.Median-1), c)
		}
		if q, r := c.anyQueue(), c.of("queue_tail_ratio"); r.N > 0 && q != nil {
			if p := shareDropped(c); p > 0 {
				tail.take(math.Abs(r.summary.Median/p-1), c)
			}
		}
		if r := c.of("redelivery_lateness_p99"); r.N > 0 {
			late.take(r.summary.Median, c)
		}
		n, _ := c.sum("queue_early_redeliveries")
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
	of *CellDocument
}

func (e *extreme) take(v float64, c *CellDocument) {
	if e.of == nil || v > e.v {
		e.v, e.of = v, c
	}
}

// where names the cell that the extreme is of, where there are several.
func (e extreme) where(d *CampaignDocument, cells int) string {
	if cells < 2 {
		return ""
	}
	return " (" + d.said(e.of.label) + ")"
}

// anyQueue is the queue of one of the cell's runs; nil where none has one.
func (d *CellDocument) anyQueue() *result.Queue {
	for _, r := range d.sample.runs {
		if r.Run.Queue != nil {
			return r.Run.Queue
		}
	}
	return nil
}

// dropped is what share of a cell's deliveries is dropped, as its scenario has it.
func dropped(c *CellDocument) string {
	if p := shareDropped(c); p > 0 {
		return unit.Percent(p) + " " + c.setting("consume.queue.drop.how")
	}
	return absent
}

func shareDropped(c *CellDocument) float64 {
	percent, found := strings.CutSuffix(c.setting("consume.queue.drop.share"), "%")
	var p float64
	if _, err := fmt.Sscan(percent, &p); !found || err != nil {
		return 0
	}
	return p / 100
}

// engineFaults says what a fault cost each engine: what was lost, what came again, and for
// how long nothing came.
func (d *CampaignDocument) engineFaults() (AnswerTable, string) {
	const p99 = "e2e_response_time_p99"
	table := d.tabulate(
		summed("acknowledged", "queue_unique_acked"), summed("lost", "queue_lost"), summed("pending", "queue_pending"),
		summed("delivered again", "queue_redelivered"), summed("acked again", "queue_acked_again"),
		valued("e2e of first deliveries p50", "e2e_response_time_p50"), valued("p99", p99), d.ofPlain("p99 ÷ plain", p99),
		valued("no delivery for", "delivery_gap_max"),
		valued("redelivery response time p50", "redelivery_response_time_p50"), valued("p99", "redelivery_response_time_p99"),
		valued("late p99", "redelivery_lateness_p99"), summed("early", "queue_early_redeliveries"), valued("all clients' CPU, cores", "cpu_cores"),
	)
	table.Notes = []string{"Counts are over all runs of a scenario. acked again: acknowledged though they had been before, which is what duplicates cost an application. redelivery response time: e2e of deliveries after the first; late: from when they were due."}
	var clauses []string
	for _, c := range d.validCells() {
		acked, _ := c.sum("queue_unique_acked")
		lost, _ := c.sum("queue_lost")
		again, _ := c.sum("queue_redelivered")
		twice, _ := c.sum("queue_acked_again")
		clause := fmt.Sprintf("%s: %s acknowledged, %s, %s delivered again and %s acknowledged again", d.said(c.label),
			count(int64(acked), "record"), wereLost(int64(lost)), none(int64(again)), none(int64(twice)))
		if c.of(p99).N > 0 {
			clause += ", first deliveries took " + medianOf(c, p99) + " at p99"
		}
		if gap := c.of("delivery_gap_max"); gap.N > 0 {
			clause += ", and a partition delivered nothing for " + medianOf(c, "delivery_gap_max")
		}
		clauses = append(clauses, clause)
	}
	return table, phrases(clauses) + d.notSettled()
}
