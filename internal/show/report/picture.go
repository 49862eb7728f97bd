package report

import (
	"fmt"
	"slices"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/show/analysis"
	"kafkabench.example/kafka-bench/internal/show/layout"
)

type picture struct {
	run   *result.Recorded
	head  string
	lag   []layout.Level
	bound []layout.Level // none if the controller has none
}

// PrintPictures draws each variant's lag over time, with the same scales. For repeats, it draws the
// run with the median peak. If the lag without backpressure dwarfs the others, that lag has its own
// scale.
func PrintPictures(p *layout.Page, compared []analysis.Variant) {
	var drawn []picture
	title := ", in records, over time"
	for _, v := range compared {
		r := v.Typical(analysis.PeakLag)
		if r == nil || len(r.Intervals) == 0 {
			continue
		}
		d, sampled := pictureOfVariant(v, r)
		if !sampled {
			title = ", in records, at the ends of intervals"
		}
		drawn = append(drawn, d)
	}
	if len(drawn) == 0 {
		return
	}
	scales := scalesOf(drawn)
	if len(scales) == 1 {
		title += "; one scale for all"
	} else {
		title += "; two scales"
	}
	p.Heading("Consumer lag", title+boundMark(drawn))
	for i, scale := range scales {
		if i > 0 {
			p.Line()
		}
		printDrawn(p, scale, chartFor(scale, drawn))
	}
}

// pictureOfVariant also reports whether the lag was sampled within intervals.
func pictureOfVariant(v analysis.Variant, r *result.Recorded) (d picture, sampled bool) {
	lag, sampled := levels(r.Intervals)
	peak, _ := analysis.PeakLag(&r.Run)
	what := "peak " + records(peak)
	switch highest := float64(highestOf(lag)); {
	case !sampled && highest != peak:
		what = "at most " + records(highest) + " at the ends, peak " + records(peak)
	case highest > peak: // the peak covers only the measured window
		what += " after the warm-up"
	}
	if v.All > 1 {
		what += "; run " + r.Run.Run.ID + ", " + which(v)
	}
	return picture{r, r.Run.Run.Name + ", " + what, lag, bounds(r)}, sampled
}

// printPictureOf draws the lag, or the backlog if the controller bounds its own estimate of the
// backlog.
func printPictureOf(p *layout.Page, r *result.Recorded) {
	lag, _ := levels(r.Intervals)
	title, d := "consumer lag, in records, over time", picture{run: r, lag: lag, bound: bounds(r)}
	if bound := boundLevels(r); analysis.Estimates(r.Run.Backpressure) && len(bound) > 0 {
		title, d = "backlog (acked − delivered), at the ends of intervals", picture{run: r,
			lag: backlogs(r.Intervals), bound: bound}
	}
	if highestOf(d.lag) == 0 {
		return
	}
	one := []picture{d}
	p.Line()
	p.Line("  ", title, boundMark(one))
	printDrawn(p, one, chartFor(one, one))
}

func backlogs(intervals []result.Interval) (all []layout.Level) {
	for _, i := range intervals {
		all = append(all, layout.Level{StartNs: i.StartNs, EndNs: i.EndNs, Value: i.BacklogRecords})
	}
	return all
}

func printDrawn(p *layout.Page, all []picture, c layout.Chart) {
	for _, d := range all {
		if d.head != "" {
			p.Text(c.Margin(), d.head)
		}
		for _, line := range c.Bars(d.lag, d.bound) {
			p.Line(line)
		}
	}
	for _, line := range c.TimeAxis() {
		p.Line(line)
	}
}

func boundMark(drawn []picture) string {
	if slices.ContainsFunc(drawn, func(d picture) bool { return len(d.bound) > 0 }) {
		return "; " + string(layout.LineRune) + " is the bound"
	}
	return ""
}

// bounds returns no bounds of one partition or of an estimated backlog: these do not fit the
// topic's lag.
func bounds(r *result.Recorded) []layout.Level {
	if b := r.Run.Backpressure; b == nil || b.Per == "partition" || analysis.Estimates(b) {
		return nil
	}
	return boundLevels(r)
}

func boundLevels(r *result.Recorded) (all []layout.Level) {
	for _, i := range r.Intervals {
		if i.BoundRecords != nil && i.Phase != "drain" { // during the drain, no producer is held back
			all = append(all, layout.Level{StartNs: i.StartNs, EndNs: i.EndNs, Value: *i.BoundRecords})
		}
	}
	return all
}

// dwarfed is the ratio of peaks from which the lag without backpressure has its own scale.
const dwarfed = 5

func scalesOf(drawn []picture) [][]picture {
	var free, held []picture
	var highestFree, highestHeld int64
	for _, d := range drawn {
		if d.run.Run.Backpressure == nil {
			free, highestFree = append(free, d), max(highestFree, highestOf(d.lag))
		} else {
			held, highestHeld = append(held, d), max(highestHeld, highestOf(d.lag))
		}
	}
	if len(free) == 0 || len(held) == 0 || highestFree < dwarfed*highestHeld {
		return [][]picture{drawn}
	}
	return [][]picture{free, held}
}

func which(v analysis.Variant) string {
	if len(v.Runs) == 1 {
		return fmt.Sprintf("the only one of %d that counts", v.All)
	}
	return fmt.Sprintf("of %d the one with the median peak", len(v.Runs))
}

func levels(intervals []result.Interval) (all []layout.Level, sampled bool) {
	held, sampled := analysis.LagOver(intervals)
	for _, h := range held {
		all = append(all, layout.Level{StartNs: h.StartNs, EndNs: h.EndNs, Value: h.Records})
	}
	return all, sampled
}

func highestOf(lag []layout.Level) (highest int64) {
	for _, l := range lag {
		highest = max(highest, l.Value)
	}
	return highest
}

// chartFor returns the common chart of the pictures in scale. The time axis covers all pictures.
// The scale of values ignores a bound far above the lag, which would make the lag flat.
func chartFor(scale, all []picture) layout.Chart {
	var start, end, measured int64
	for _, d := range all {
		first, last := d.run.Intervals[0], d.run.Intervals[len(d.run.Intervals)-1]
		start, end = min(start, first.StartNs), max(end, last.EndNs)
		measured = max(measured, analysis.Phase(&d.run.Run, "measure").EndNs)
	}
	highest := int64(1)
	for _, d := range scale {
		lag := highestOf(d.lag)
		highest = max(highest, lag)
		for _, b := range d.bound {
			if b.Value <= 2*lag {
				highest = max(highest, b.Value)
			}
		}
	}
	return layout.NewChart(highest, start, end,
		layout.Mark{AtNs: 0, Text: "0 s"}, layout.Mark{AtNs: measured,
			Text: seconds(measured) +
				", load ends"}, layout.Mark{AtNs: end, Text: seconds(end)}, layout.Mark{AtNs: start, Text: seconds(start)})
}
