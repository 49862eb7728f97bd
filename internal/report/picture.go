package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"kafka-bench/internal/result"
	"kafka-bench/internal/unit"
)

const (
	pictureColumns = 64
	pictureRows    = 8
)

// blocksOf are bars from an empty to a full cell, in eighths.
var blocksOf = []rune(" ▁▂▃▄▅▆▇█")

// picture is the lag of one run over time.
type picture struct {
	run  *result.Recorded
	head string
	lag  []level
}

// level is a lag for a time: from when it was seen until it was seen anew, or
// over the interval at whose end it was seen where that is all there is.
type level struct {
	startNs, endNs int64
	records        int64
}

// pictures draws the lag over time of each variant, on one scale for both axes
// so that heights and lengths compare. Of repeats it draws the run with the
// median peak, and says which that is.
func (p *page) pictures(compared []variant) {
	var drawn []picture
	title := ", in records, over time; one scale for all"
	for _, v := range compared {
		r := v.typical(peakLag)
		if r == nil || len(r.Intervals) == 0 {
			continue
		}
		lag, sampled := levels(r.Intervals)
		peak, _ := peakLag(&r.Run)
		what := "peak " + records(peak)
		if !sampled {
			title = ", in records, at the ends of intervals; one scale for all"
		}
		switch highest := float64(highestOf(lag)); {
		case !sampled && highest != peak:
			what = "at most " + records(highest) + " at the ends, peak " + records(peak)
		case highest > peak: // the peak is of what was measured
			what += " after the warm-up"
		}
		if v.all > 1 {
			what += "; run " + r.Run.Run.ID + ", " + v.which()
		}
		drawn = append(drawn, picture{r, r.Run.Run.Name + ", " + what, lag})
	}
	if len(drawn) == 0 {
		return
	}
	f := frameFor(drawn)
	p.heading("Consumer lag", title)
	for _, d := range drawn {
		for _, line := range wrap(d.head, p.width-f.margin()) {
			p.line(strings.Repeat(" ", f.margin()), line)
		}
		for _, line := range f.bars(d.lag) {
			p.line(line)
		}
	}
	for _, line := range f.timeAxis() {
		p.line(line)
	}
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

func frameFor(drawn []picture) frame {
	var f frame
	highest := int64(1)
	for _, d := range drawn {
		first, last := d.run.Intervals[0], d.run.Intervals[len(d.run.Intervals)-1]
		f.start, f.end = min(f.start, first.StartNs), max(f.end, last.EndNs)
		f.measured = max(f.measured, phase(&d.run.Run, "measure").EndNs)
		highest = max(highest, highestOf(d.lag))
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

// bars draws a series, the highest value of each column.
func (f frame) bars(lag []level) []string {
	heights := make([]int64, pictureColumns)
	for _, l := range lag {
		for c := f.column(l.startNs); c <= f.column(l.endNs-1); c++ {
			heights[c] = max(heights[c], l.records)
		}
	}
	rows := f.rows(slices.Max(heights))
	lines := make([]string, 0, rows)
	for row := rows - 1; row >= 0; row-- {
		label, axis := "", "│"
		if (row+1)%f.each == 0 {
			label, axis = unit.Count(f.tick*int64((row+1)/f.each)), "┤"
		}
		var b strings.Builder
		b.WriteString(padLeft(label, f.margin()-2) + " " + axis)
		for _, h := range heights {
			b.WriteRune(f.block(h, row))
		}
		lines = append(lines, strings.TrimRight(b.String(), " "))
	}
	return lines
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
	eighths := int(math.Round(float64(h) / float64(f.top) * float64(f.all()) * 8))
	if row == 0 {
		eighths = max(eighths, 1)
	}
	return blocksOf[min(max(eighths-row*8, 0), 8)]
}

// timeAxis is the axis with its ticks, and their labels below: zero is the
// start of the measured window.
func (f frame) timeAxis() []string {
	axis := []rune(strings.Repeat("─", pictureColumns))
	labels := []rune(strings.Repeat(" ", pictureColumns+24))
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
