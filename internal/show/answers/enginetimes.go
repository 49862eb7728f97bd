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

func addedToPlain(d *analysis.Study, head, name string) column {
	return column{head, func(c *analysis.Cell) string {
		base := d.PlainOf(c)
		if base == nil || c.Of(name).N == 0 || base.Of(name).N == 0 {
			return unit.Absent
		}
		text, _ := added(c.Of(name), base.Of(name), analysis.FigureCalled(name))
		return CellMark(c, c.Of(name), text)
	}}
}

func added(r, base analysis.Repeated, f figure.Figure) (text string, shown stats.Verdict) {
	text = signed(r.Summary.Median-base.Summary.Median, f)
	c := analysis.Tested(base, r, analysis.DefaultAlpha)
	if !math.IsNaN(c.ShiftLow) && !math.IsNaN(c.ShiftHigh) && !math.IsInf(c.ShiftLow, 0) {
		text += fmt.Sprintf(" (%s..%s)", signed(c.ShiftLow, f), signed(c.ShiftHigh, f))
	}
	return text, c.Verdict
}

// unshown is "" if the runs show the difference, and for one run of each: then the sentence says at
// its beginning that there is one.
func unshown(r, base analysis.Repeated, shown stats.Verdict) string {
	switch {
	case r.N <= 1 && base.N <= 1:
	case shown == stats.TooFew:
		return fmt.Sprintf(", which %s are too few to show", runsOfBoth(r, base))
	case shown == stats.NoDifference:
		return ", which is not shown to be a difference"
	}
	return ""
}

func runsOfBoth(r, base analysis.Repeated) string {
	if r.N == base.N {
		return fmt.Sprintf("%d runs", r.N)
	}
	return fmt.Sprintf("%d and %d runs", r.N, base.N)
}

const unshownRange = ", which a test of the range does not show to be a difference"

// alike reports whether enough runs do not show a difference.
func alike(r, base analysis.Repeated) bool {
	return analysis.Tested(base, r, analysis.DefaultAlpha).Verdict == stats.NoDifference
}

// ifUnshown is unshown of a test of r against base.
func ifUnshown(r, base analysis.Repeated) string {
	return unshown(r, base, analysis.Tested(base, r, analysis.DefaultAlpha).Verdict)
}

func addsTo(d *analysis.Study, c, base *analysis.Cell, name string) string {
	f := analysis.FigureCalled(name)
	text, shown := added(c.Of(name), base.Of(name), f)
	if strings.HasPrefix(text, unit.Absent) {
		return ""
	}
	return fmt.Sprintf("adds %s to the %s of %s%s", text, f.Title, d.Said(base.Label), unshown(c.Of(name), base.Of(name), shown))
}

func signed(v float64, f figure.Figure) string {
	if math.IsNaN(v) || math.IsInf(v, 0) { // two lower bounds have no difference
		return unit.Absent
	}
	if v < 0 {
		return "−" + f.Format(-v)
	}
	return "+" + f.Format(v)
}

// timeAsked is the time that ranks the suite's cells, or else the e2e response time p50.
func timeAsked(d *analysis.Study) string {
	if (d.ByFrom == analysis.FromSuite || d.ByFrom == analysis.FromQuestion) && d.By.Kind == figure.Nanoseconds {
		return d.By.Name
	}
	return "e2e_response_time_p50"
}

func engineTimes(d *analysis.Study) Answer {
	name := timeAsked(d)
	f := analysis.FigureCalled(name)
	columns := []column{
		valued("offered/s", "offered_per_s"), valued("e2e response time p50", "e2e_response_time_p50"),
		valued("p99", "e2e_response_time_p99"),
		valued("p99.9", "e2e_response_time_p99_9"), addedToPlain(d, "added to plain, "+f.Title, name),
		valued("processed p99", "processed_response_time_p99"), valued("settle time p50", "settle_time_p50"),
		valued("p99", "settle_time_p99"),
		valued("peak in flight", "queue_in_flight_peak"), summed("delivered again", "queue_redelivered"),
		summed("pending", "queue_pending"), summed("lost", "queue_lost"),
	}
	table := tabulate(d, append(columns, queueCosts()...)...)
	table.Notes = []string{fmt.Sprintf("Times are of first deliveries. Added: against the plain scenario that is alike but for the engine, at a rate within %s.", unit.WholePercent(analysis.SameLoad))}
	groups, alone := engineGroups(d)
	var clauses []string
	for _, g := range groups {
		if len(g.others) == 0 {
			continue
		}
		clause := fmt.Sprintf("against %s with an %s of %s at %s", d.Said(g.plain.Label), f.Title,
			medianOf(g.plain, name), g.plain.Of("offered_per_s").MedianText(analysis.FigureCalled("offered_per_s")))
		for _, c := range g.others {
			text, shown := added(c.Of(name), g.plain.Of(name), f)
			clause += ", " + d.Said(c.Label) + " has " + text +
				unshown(c.Of(name), g.plain.Of(name), shown)
		}
		clauses = append(clauses, clause)
	}
	clauses = append(clauses, inOrder(d, name)...)
	if len(clauses)+len(alone) == 0 {
		clauses = append(clauses, "no engine has a valid run beside one of plain")
	}
	if len(alone) > 0 {
		var names []string
		for _, c := range alone {
			names = append(names, d.Said(c.Label))
		}
		clauses = append(clauses, "no plain was measured at the load of "+layout.Enumerate(names))
	}
	return table.says(slices.Concat(clauses, notSettled(d))...)
}

func inOrder(d *analysis.Study, name string) (clauses []string) {
	const order = "consume.queue.order"
	for _, c := range d.ValidCells() {
		if c.Setting(order) == "none" || c.Setting(order) == "" {
			continue
		}
		for _, free := range d.ValidCells() {
			if free.Setting(order) == "none" && free.EngineSaid() == c.EngineSaid() &&
				analysis.RatesApart(c, free) <= analysis.SameLoad && free.Of(name).N > 0 {
				clauses = append(clauses, fmt.Sprintf("%s, in order of each %s, %s the %s of %s", d.Said(c.Label),
					c.Setting(order), timesThat(c.Of(name), free.Of(name)), analysis.FigureCalled(name).Title, d.Said(free.Label)))
			}
		}
	}
	return clauses
}

// timesThat prints the quotient only if the runs show a difference, or if there is one run of each.
func timesThat(r, base analysis.Repeated) string {
	switch shown := analysis.Tested(base, r, analysis.DefaultAlpha).Verdict; {
	case r.N <= 1 && base.N <= 1:
	case shown == stats.TooFew:
		return fmt.Sprintf("has too few runs (%s) to be told from", strings.TrimSuffix(runsOfBoth(r, base), " runs"))
	case shown == stats.NoDifference:
		return "shows no difference from"
	}
	return "has " + quotient(r, base) + " times"
}
