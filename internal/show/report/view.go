package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/show/layout"
)

const barColumns = 30

// Figures keep their places between two updates.
func (l *Live) view() []string {
	p := layout.NewPage(0, l.o.Colour)
	var lines []string
	if l.of.runs > 0 {
		lines = append(lines, l.of.line())
	}
	lines = append(lines, p.Paint(layout.Bold, l.o.Name)+"  "+l.where())
	if l.last == nil {
		return l.clip(lines)
	}
	i := *l.last
	p50, p99 := l.quantiles(i)
	failed := ""
	if n := i.Failed + i.Unknown; n > 0 {
		failed = p.Paint(layout.Red, unit.Count(n)+" failed or unknown")
	}
	lines = append(lines,
		viewRow("offered", rate(i, i.Scheduled), "shed "+rate(i, i.Shed), "deferred "+unit.Count(i.DeferredRecords)),
		viewRow("acked", rate(i, i.Acked), "in flight "+unit.Count(i.InFlightRecords), failed),
		viewRow("delivered", rate(i, i.Delivered), "backlog "+unit.Count(i.BacklogRecords), "oldest "+oldest(i)),
	)
	if i.AckedBytes != nil && i.DeliveredBytes != nil {
		lines = append(lines, viewRow("in bytes", withBytes(i, i.AckedBytes)+" acked",
			withBytes(i, i.DeliveredBytes)+" delivered"))
	}
	lines = append(lines,
		viewRow(layout.Words(l.o.Metric), "p50 "+p50, "p99 "+p99),
		viewRow("consumer lag", lagOf(i), "gate "+l.paintGate(p, i), boundOf(i)),
	)
	if drawn := l.lagOverTime(); drawn != "" {
		lines = append(lines, drawn)
	}
	if l.event != "" {
		lines = append(lines, "  "+strings.TrimLeft(l.event, " "))
	}
	return l.clip(lines)
}

func oldest(i result.Interval) string {
	lag := i.TimeLag()
	if lag == nil {
		return unit.Absent
	}
	return unit.Nanos(*lag)
}

func boundOf(i result.Interval) string {
	if i.BoundRecords == nil {
		return ""
	}
	return "bound " + unit.Count(*i.BoundRecords)
}

func (l *Live) paintGate(p *layout.Page, i result.Interval) string {
	if i.GateOpen != nil && !*i.GateOpen {
		return p.Paint(layout.Yellow, "closed")
	}
	if i.GateOpen == nil {
		return "none"
	}
	return "open"
}

const viewLabel = 22

func viewRow(label, figure string, notes ...string) string {
	var b strings.Builder
	b.WriteString(layout.Pad("  "+label, viewLabel) + layout.PadLeft(figure, 14))
	for _, note := range notes {
		b.WriteString("   " + layout.Pad(note, 20))
	}
	return strings.TrimRight(b.String(), " ")
}

func (l *Live) where() string {
	if l.status != "" {
		return l.status
	}
	total := l.phase.EndNs - l.phase.StartNs
	done := int64(0)
	if l.last != nil {
		done = min(max(l.last.EndNs-l.phase.StartNs, 0), total)
	}
	if total <= 0 {
		return l.phase.Name
	}
	of := " of "
	if l.phase.Name == "drain" {
		of = " of at most "
	}
	return fmt.Sprintf("%-7s  %s  %s%s%s", l.phase.Name, progressBar(float64(done)/float64(total)), seconds(done), of,
		seconds(total))
}

// progressBar takes a share from 0 to 1.
func progressBar(share float64) string {
	filled := min(max(int(barColumns*share), 0), barColumns)
	return strings.Repeat("█", filled) + strings.Repeat("░", barColumns-filled)
}

func (c campaignAt) line() string {
	return fmt.Sprintf("%s  run %d of %d  %s", progressBar(float64(c.run-1)/float64(c.runs)), c.run, c.runs, c.left)
}

// lagOverTime is "" if fewer than two lags are known.
func (l *Live) lagOverTime() string {
	const label = "  lag over time"
	known := slices.DeleteFunc(slices.Clone(l.lags), math.IsNaN)
	if len(known) < 2 {
		return ""
	}
	highest := slices.Max(known)
	lead, end := layout.Pad(label, viewLabel), "  up to "+records(highest)
	room := max(l.o.Width-layout.Columns(lead+end), 0)
	return lead + layout.Sparkline(l.lags[max(len(l.lags)-room, 0):], 0, highest) + end
}

// A wrapped line would break the redrawing.
func (l *Live) clip(lines []string) []string {
	for i, line := range lines {
		lines[i] = clipTo(line, l.o.Width)
	}
	return lines
}

// Colour codes have no width, and are reset at the cut.
func clipTo(s string, width int) string {
	column, escaped := 0, false
	for i, r := range s {
		switch {
		case r == '\x1b':
			escaped = true
		case escaped:
			escaped = r != 'm'
		case column == width:
			if strings.Contains(s, "\x1b") {
				return s[:i] + "\x1b[0m"
			}
			return s[:i]
		default:
			column++
		}
	}
	return s
}
