package report

import (
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

// pictures draws the lag over time of each variant, on one scale for both axes
// so that heights and lengths compare. Of repeats it draws the run with the
// median peak.
func (p *page) pictures(compared []variant) {
	var drawn []*result.Recorded
	for _, v := range compared {
		if r := v.typical(peakLag); r != nil && len(r.Intervals) > 0 {
			drawn = append(drawn, r)
		}
	}
	if len(drawn) == 0 {
		return
	}
	f := frameFor(drawn)
	p.heading("Consumer lag", ", in records, over time; one scale for all")
	for _, r := range drawn {
		peak, _ := peakLag(&r.Run)
		p.line(strings.Repeat(" ", f.margin()), r.Run.Run.Name, ", peak ", records(peak))
		for _, line := range f.bars(r.Intervals) {
			p.line(line)
		}
	}
	for _, line := range f.timeAxis() {
		p.line(line)
	}
}

// frame is the scale that pictures share.
type frame struct {
	top        int64 // records at the upper edge
	start, end int64 // ns on the run's time axis
	measured   int64 // ns, the end of the measured window
}

func frameFor(runs []*result.Recorded) frame {
	f := frame{top: 1}
	for _, r := range runs {
		first, last := r.Intervals[0], r.Intervals[len(r.Intervals)-1]
		f.start, f.end = min(f.start, first.StartNs), max(f.end, last.EndNs)
		f.measured = max(f.measured, phase(&r.Run, "measure").EndNs)
		for _, i := range r.Intervals {
			if i.LagRecords != nil {
				f.top = max(f.top, *i.LagRecords)
			}
		}
	}
	f.top = roundUp(f.top)
	return f
}

// roundUp is the next of 1, 1.5, 2, 3, 4, 5, 6, 8 times a power of ten: an
// upper edge that can be halved in the head.
func roundUp(n int64) int64 {
	power := int64(math.Pow10(int(math.Log10(float64(n)))))
	for _, tenths := range []int64{10, 15, 20, 30, 40, 50, 60, 80, 100} {
		if edge := tenths * power / 10; edge >= n && edge > 0 {
			return edge
		}
	}
	return n
}

// margin is the width of the labels on the left, with the axis.
func (f frame) margin() int { return len(unit.Count(f.top)) + 4 }

// column is where a time is drawn.
func (f frame) column(ns int64) int {
	c := int(float64(ns-f.start) / float64(f.end-f.start) * pictureColumns)
	return min(max(c, 0), pictureColumns-1)
}

// bars draws a series, the highest value of each column.
func (f frame) bars(intervals []result.Interval) []string {
	heights := make([]int64, pictureColumns) // -1: nothing known
	for i := range heights {
		heights[i] = -1
	}
	for _, i := range intervals {
		if i.LagRecords == nil {
			continue
		}
		// An interval may be wider than a column.
		for c := f.column(i.StartNs); c <= f.column(i.EndNs-1); c++ {
			heights[c] = max(heights[c], *i.LagRecords)
		}
	}
	rows := f.rows(slices.Max(heights))
	lines := make([]string, 0, rows)
	for row := rows - 1; row >= 0; row-- {
		label, axis := "", "│"
		if row == rows-1 || row == pictureRows/2-1 {
			label, axis = unit.Count(f.top*int64(row+1)/pictureRows), "┤"
		}
		var b strings.Builder
		b.WriteString(padLeft(label, f.margin()-2) + " " + axis)
		for _, h := range heights {
			b.WriteRune(f.block(h, row))
		}
		lines = append(lines, b.String())
	}
	return lines
}

// rows is how many rows a picture needs up to its peak: what would be blank
// above it is left out.
func (f frame) rows(peak int64) int {
	needed := int(math.Ceil(float64(peak) / float64(f.top) * pictureRows))
	return min(max(needed, 1), pictureRows)
}

// block is the part of a bar of height h that lies in a row, counted from
// below. Any lag at all shows: only none is blank.
func (f frame) block(h int64, row int) rune {
	if h <= 0 {
		return ' '
	}
	eighths := int(math.Round(float64(h) / float64(f.top) * pictureRows * 8))
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
