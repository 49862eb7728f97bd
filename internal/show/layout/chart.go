package layout

import (
	"math"
	"slices"
	"strings"

	"kafkabench.example/kafka-bench/internal/plan/unit"
)

const (
	chartColumns = 64
	chartRows    = 8
)

// BlocksOf are the parts of a bar in a cell, from empty to full, in eighths.
var BlocksOf = []rune(" ▁▂▃▄▅▆▇█")

// Level is a value for a period.
type Level struct {
	StartNs, EndNs int64
	Value          int64
}

// Sparkline draws values as heights between the least and the greatest; NaN is
// blank.
func Sparkline(values []float64, least, greatest float64) string {
	var b strings.Builder
	for _, v := range values {
		switch {
		case math.IsNaN(v):
			b.WriteRune(BlocksOf[0])
		case greatest > least:
			b.WriteRune(BlocksOf[1+int(math.Round((v-least)/(greatest-least)*7))])
		default:
			b.WriteRune(BlocksOf[4])
		}
	}
	return b.String()
}

// LineRune draws a line above a bar.
const LineRune = '╌'

// Chart is the common scale of bars over time in several pictures.
type Chart struct {
	tick       int64 // values from one label to the next
	top        int64 // the value at the upper edge, a multiple of tick
	each       int   // rows for a tick
	start, end int64 // ns on the time axis
	marks      []Mark
}

// Mark is a label on the time axis.
type Mark struct {
	AtNs int64
	Text string
}

// NewChart returns a chart for values up to highest, from startNs to endNs. If marks are too close,
// it shows the first of them.
func NewChart(highest, startNs, endNs int64, marks ...Mark) Chart {
	f := Chart{tick: roundTick(highest), each: 2, start: startNs, end: endNs, marks: marks}
	ticks := (highest-1)/f.tick + 1
	f.top = ticks * f.tick
	if ticks < 3 {
		f.each = chartRows / 2
	}
	return f
}

// roundTick is the smallest number of the form 1, 2 or 5 times a power of ten such that four ticks
// reach n.
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

// Margin is the width of the labels on the left, with the axis.
func (f Chart) Margin() int { return len(unit.Count(f.top)) + 4 }

func (f Chart) column(ns int64) int {
	c := int(float64(ns-f.start) / float64(f.end-f.start) * chartColumns)
	return min(max(c, 0), chartColumns-1)
}

// Bars draws a series as the highest value of each column, with a line above it.
func (f Chart) Bars(values, line []Level) []string {
	heights, lines := f.heights(values), f.heights(line)
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
		b.WriteString(PadLeft(label, f.Margin()-2) + " " + axis)
		for c, h := range heights {
			b.WriteRune(f.cell(h, lines[c], row))
		}
		drawn = append(drawn, strings.TrimRight(b.String(), " "))
	}
	return drawn
}

func (f Chart) heights(series []Level) []int64 {
	heights := make([]int64, chartColumns)
	for _, l := range series {
		for c := f.column(l.StartNs); c <= f.column(l.EndNs-1); c++ {
			heights[c] = max(heights[c], l.Value)
		}
	}
	return heights
}

func (f Chart) cell(height, line int64, row int) rune {
	drawn := f.block(height, row)
	if drawn == ' ' && line > 0 && row == max(f.eighths(line)-1, 0)/8 {
		return LineRune
	}
	return drawn
}

func (f Chart) all() int { return int(f.top/f.tick) * f.each }

// rows is the number of rows up to the tick above the peak: higher rows would be blank.
func (f Chart) rows(peak int64) int {
	return (int(max(peak-1, 0)/f.tick) + 1) * f.each
}

// block counts rows from below. Every value above 0 is visible.
func (f Chart) block(h int64, row int) rune {
	if h <= 0 {
		return ' '
	}
	eighths := f.eighths(h)
	if row == 0 {
		eighths = max(eighths, 1)
	}
	return BlocksOf[min(max(eighths-row*8, 0), 8)]
}

func (f Chart) eighths(value int64) int {
	return int(math.Round(float64(value) / float64(f.top) * float64(f.all()) * 8))
}

// beyondPicture is the number of columns by which a label may exceed the picture on the right; a
// longer one begins before its tick.
const beyondPicture = 5

// TimeAxis draws the axis with its marks, and their labels below.
func (f Chart) TimeAxis() []string {
	axis := []rune(strings.Repeat("─", chartColumns))
	labels := []rune(strings.Repeat(" ", chartColumns+beyondPicture+1))
	for _, m := range f.marks {
		c := f.column(m.AtNs)
		axis[c] = '┴'
		text := []rune(m.Text)
		c = min(c, chartColumns+beyondPicture-len(text))
		if around := string(labels[max(c-1, 0) : c+len(text)+1]); strings.TrimSpace(around) == "" {
			copy(labels[c:], text)
		}
	}
	margin := strings.Repeat(" ", f.Margin()-2)
	return []string{
		PadLeft("0", f.Margin()-2) + " └" + string(axis),
		margin + "  " + strings.TrimRight(string(labels), " "),
	}
}
