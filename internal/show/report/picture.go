package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
)

const (
	pictureColumns = 64
	pictureRows    = 8
)

// blocksOf are bars from an empty to a full cell, in eighths.
var blocksOf = []rune(" ▁▂▃▄▅▆▇█")

// picture is the lag of one run over time, and the bound that a controller had for it.
type picture struct {
	run   *result.Recorded
	head  string
	lag   []level
	bound []level // none where the controller has none
}

// level is a lag for a time: from when it was seen until it was seen anew, or
// over the interval at whose end it was seen where that is all there is.
type level struct {
	startNs, endNs int64
	records        int64
}

// pictures draws the lag over time of each variant, on one scale for both axes
// so that heights and lengths compare. Of repeats it draws the run with the
// median peak, and says which that is. Where all that ran without backpressure dwarfs
// the rest, it has a scale of its own: the others would be flat.
func (p *page) pictures(compared []variant) {
	var drawn []picture
	title := ", in records, over time"
	for _, v := range compared {
		r := v.typical(peakLag)
		if r == nil || len(r.Intervals) == 0 {
			continue
		}
		d, sampled := v.picture(r)
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
	p.heading("Consumer lag", title+boundMark(drawn))
	for i, scale := range scales {
		if i > 0 {
			p.line()
		}
		p.drawn(scale, frameFor(scale, drawn))
	}
}

// picture draws what of a variant, and whether the lag was sampled in between.
func (v variant) picture(r *result.Recorded) (d picture, sampled bool) {
	lag, sampled := levels(r.Intervals)
	peak, _ := peakLag(&r.Run)
	what := "peak " + records(peak)
	switch highest := float64(highestOf(lag)); {
	case !sampled && highest != peak:
		what = "at most " + records(highest) + " at the ends, peak " + records(peak)
	case highest > peak: // the peak is of what was measured
		what += " after the warm-up"
	}
	if v.all > 1 {
		what += "; run " + r.Run.Run.ID + ", " + v.which()
	}
	return picture{r, r.Run.Run.Name + ", " + what, lag, bounds(r)}, sampled
}

// pictureOf draws the lag of one run, or of a controller that bounds the backlog as it
// estimates it, the backlog.
func (p *page) pictureOf(r *result.Recorded) {
	lag, _ := levels(r.Intervals)
	title, d := "consumer lag, in records, over time", picture{run: r, lag: lag, bound: bounds(r)}
	if bound := boundLevels(r); estimates(r.Run.Backpressure) && len(bound) > 0 {
		title, d = "backlog (acked − delivered), at the ends of intervals", picture{run: r, lag: backlogs(r.Intervals), bound: bound}
	}
	if highestOf(d.lag) == 0 {
		return
	}
	one := []picture{d}
	p.line()
	p.line("  ", title, boundMark(one))
	p.drawn(one, frameFor(one, one))
}

// backlogs are the backlog at the end of each interval.
func backlogs(intervals []result.Interval) (all []level) {
	for _, i := range intervals {
		all = append(all, level{i.StartNs, i.EndNs, i.BacklogRecords})
	}
	return all
}

// drawn writes pictures in a frame, and the time axis below the last.
func (p *page) drawn(all []picture, f frame) {
	for _, d := range all {
		if d.head != "" {
			for _, line := range wrap(d.head, p.width-f.margin()) {
				p.line(strings.Repeat(" ", f.margin()), line)
			}
		}
		for _, line := range f.bars(d.lag, d.bound) {
			p.line(line)
		}
	}
	for _, line := range f.timeAxis() {
		p.line(line)
	}
}

// boundRune draws the bound where the lag is below it.
const boundRune = '╌'

// boundMark explains it, where it is drawn.
func boundMark(drawn []picture) string {
	if slices.ContainsFunc(drawn, func(d picture) bool { return len(d.bound) > 0 }) {
		return "; " + string(boundRune) + " is the bound"
	}
	return ""
}

// bounds are what is known of the bound of the consumer lag over time. One of each
// partition is no line in a picture of the topic's lag, and neither is one of a backlog
// that a controller estimates.
func bounds(r *result.Recorded) []level {
	if b := r.Run.Backpressure; b == nil || b.Per == "partition" || estimates(b) {
		return nil
	}
	return boundLevels(r)
}

// boundLevels is the bound over time, whatever it is one of.
func boundLevels(r *result.Recorded) (all []level) {
	for _, i := range r.Intervals {
		if i.BoundRecords != nil && i.Phase != "drain" { // then there is nobody to be held back
			all = append(all, level{i.StartNs, i.EndNs, *i.BoundRecords})
		}
	}
	return all
}

// dwarfed is how many times as high a lag may be until the others are flat beside it.
const dwarfed = 5

// scalesOf are the pictures that share a scale.
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

// which says which of its runs is the typical one.
func (v variant) which() string {
	if len(v.runs) == 1 {
		return fmt.Sprintf("the only one of %d that counts", v.all)
	}
	return fmt.Sprintf("of %d the one with the median peak", len(v.runs))
}

// levels are what is known of the lag. The samples tell it, several in an interval;
// a run that did not keep them has the one at each interval's end.
func levels(intervals []result.Interval) (all []level, sampled bool) {
	var samples []result.LagSample
	for _, i := range intervals {
		samples = append(samples, i.LagSamples...)
		if i.LagRecords != nil {
			all = append(all, level{i.StartNs, i.EndNs, *i.LagRecords})
		}
	}
	if len(samples) == 0 {
		return all, len(all) == 0
	}
	// Two readers of the lag may overtake each other.
	slices.SortStableFunc(samples, func(a, b result.LagSample) int { return cmp.Compare(a.AtNs, b.AtNs) })
	all = all[:0]
	for i, s := range samples {
		end := max(intervals[len(intervals)-1].EndNs, s.AtNs+1)
		if i+1 < len(samples) {
			end = max(samples[i+1].AtNs, s.AtNs+1)
		}
		all = append(all, level{s.AtNs, end, s.Records})
	}
	return all, true
}

func highestOf(lag []level) (highest int64) {
	for _, l := range lag {
		highest = max(highest, l.records)
	}
	return highest
}

// frame is the scale that pictures share.
type frame struct {
	tick       int64 // records from one label to the next
	top        int64 // records at the upper edge, a multiple of tick
	each       int   // rows to a tick
	start, end int64 // ns on the run's time axis
	measured   int64 // ns, the end of the measured window
}

// frameFor is the frame of pictures that share a scale, with the time axis of all. A
// bound that is far above the lag is left out rather than that the lag becomes flat.
func frameFor(scale, all []picture) frame {
	var f frame
	for _, d := range all {
		first, last := d.run.Intervals[0], d.run.Intervals[len(d.run.Intervals)-1]
		f.start, f.end = min(f.start, first.StartNs), max(f.end, last.EndNs)
		f.measured = max(f.measured, phase(&d.run.Run, "measure").EndNs)
	}
	highest := int64(1)
	for _, d := range scale {
		lag := highestOf(d.lag)
		highest = max(highest, lag)
		for _, b := range d.bound {
			if b.records <= 2*lag {
				highest = max(highest, b.records)
			}
		}
	}
	f.tick = roundTick(highest)
	ticks := (highest-1)/f.tick + 1
	f.top, f.each = ticks*f.tick, 2
	if ticks < 3 {
		f.each = pictureRows / 2
	}
	return f
}

// roundTick is the least of 1, 2 and 5 times a power of ten of which four reach n.
func roundTick(n int64) int64 {
	const ticks = 4
	for power := int64(1); ; power *= 10 {
		for _, step := range []int64{1, 2, 5} {
			if tick := step * power; tick >= (n-1)/ticks+1 {
				return tick
			}
		}
	}
}

// margin is the width of the labels on the left, with the axis.
func (f frame) margin() int { return len(unit.Count(f.top)) + 4 }

// column is where a time is drawn.
func (f frame) column(ns int64) int {
	c := int(float64(ns-f.start) / float64(f.end-f.start) * pictureColumns)
	return min(max(c, 0), pictureColumns-1)
}

// bars draws a series, the highest value of each column, and the bound above it.
func (f frame) bars(lag, bound []level) []string {
	heights, lines := f.heights(lag), f.heights(bound)
	highest := slices.Max(heights)
	for _, b := range lines {
		if b <= f.top {
			highest = max(highest, b)
		}
	}
	rows := f.rows(highest)
	drawn := make([]string, 0, rows)
	for row := rows - 1; row >= 0; row-- {
		label, axis := "", "│"
		if (row+1)%f.each == 0 {
			label, axis = unit.Count(f.tick*int64((row+1)/f.each)), "┤"
		}
		var b strings.Builder
		b.WriteString(padLeft(label, f.margin()-2) + " " + axis)
		for c, h := range heights {
			b.WriteRune(f.cell(h, lines[c], row))
		}
		drawn = append(drawn, strings.TrimRight(b.String(), " "))
	}
	return drawn
}

// heights are the highest value of a series in each column.
func (f frame) heights(series []level) []int64 {
	heights := make([]int64, pictureColumns)
	for _, l := range series {
		for c := f.column(l.startNs); c <= f.column(l.endNs-1); c++ {
			heights[c] = max(heights[c], l.records)
		}
	}
	return heights
}

// cell is a part of a bar, or of the bound above it.
func (f frame) cell(height, bound int64, row int) rune {
	drawn := f.block(height, row)
	if drawn == ' ' && bound > 0 && row == max(f.eighths(bound)-1, 0)/8 {
		return boundRune
	}
	return drawn
}

// all is how many rows reach the upper edge.
func (f frame) all() int { return int(f.top/f.tick) * f.each }

// rows is how many rows a picture needs up to the tick above its peak: what would
// be blank above it is left out.
func (f frame) rows(peak int64) int {
	return (int(max(peak-1, 0)/f.tick) + 1) * f.each
}

// block is the part of a bar of height h that lies in a row, counted from
// below. Any lag at all shows: only none is blank.
func (f frame) block(h int64, row int) rune {
	if h <= 0 {
		return ' '
	}
	eighths := f.eighths(h)
	if row == 0 {
		eighths = max(eighths, 1)
	}
	return blocksOf[min(max(eighths-row*8, 0), 8)]
}

// eighths is how high a bar of so many records is, in eighths of a row.
func (f frame) eighths(records int64) int {
	return int(math.Round(float64(records) / float64(f.top) * float64(f.all()) * 8))
}

// beyondPicture is how far a label may stand out on the right; one that would stand
// out farther begins before its tick.
const beyondPicture = 5

// timeAxis is the axis with its ticks, and their labels below: zero is the
// start of the measured window.
func (f frame) timeAxis() []string {
	axis := []rune(strings.Repeat("─", pictureColumns))
	labels := []rune(strings.Repeat(" ", pictureColumns+beyondPicture+1))
	// The labels that matter most are placed first, the others where there
	// is room.
	for _, tick := range []struct {
		ns   int64
		text string
	}{
		{0, "0 s"},
		{f.measured, seconds(f.measured) + ", load ends"},
		{f.end, seconds(f.end)},
		{f.start, seconds(f.start)},
	} {
		c := f.column(tick.ns)
		axis[c] = '┴'
		text := []rune(tick.text)
		c = min(c, pictureColumns+beyondPicture-len(text))
		if around := string(labels[max(c-1, 0) : c+len(text)+1]); strings.TrimSpace(around) == "" {
			copy(labels[c:], text)
		}
	}
	margin := strings.Repeat(" ", f.margin()-2)
	return []string{
		padLeft("0", f.margin()-2) + " └" + string(axis),
		margin + "  " + strings.TrimRight(string(labels), " "),
	}
}
