package report

import (
	"fmt"
	"io"
	"math"
	"strings"
	"sync"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/show/layout"
)

// LiveOptions say how Live shows a run.
type LiveOptions struct {
	// Terminal asks for a view that is redrawn in place; without it, every interval is a line.
	Terminal bool
	Colour   bool
	Width    int // columns of the terminal; 0 means layout.Width
	Name     string
	// Full prints a line for each metric of each interval, whatever Terminal says.
	Full bool
	// Metric is the key of result.TimeMetrics that is shown; "" means the e2e response time.
	Metric string
}

// Live shows a run while it goes on, with one Write for each change. Its methods are safe for
// concurrent use. It writes nothing after the writer's first error.
type Live struct {
	o LiveOptions

	mu        sync.Mutex
	w         io.Writer
	err       error
	phase     result.Phase
	ended     result.Phase // the previous phase
	status    string
	last      *result.Interval
	event     string
	lags      []float64 // of at most lagsShown intervals; NaN if unknown
	of        campaignAt
	drawn     int  // lines of the view on the terminal
	unlimited bool // the width is not known
	lines     int  // interval lines since the last header, if not on a terminal

	totals map[string]int64 // with Full: values of each metric so far
	pulses result.Pulses    // of agents
}

// NewLive returns a view that is empty until the first call.
func NewLive(w io.Writer, o LiveOptions) *Live {
	unlimited := o.Width <= 0
	if unlimited {
		o.Width = layout.Width
	}
	if o.Metric == "" {
		o.Metric = "e2e_response_time"
	}
	if o.Full {
		o.Terminal = false
	}
	return &Live{w: w, o: o, unlimited: unlimited, totals: make(map[string]int64)}
}

// Status shows what happens outside the phases, such as the start of a cluster.
func (l *Live) Status(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.status = text
	if l.o.Terminal {
		l.redraw()
		return
	}
	l.write(l.hang(l.o.Name+": "+text, 2) + "\n")
}

type campaignAt struct {
	run, runs int // the current run, from 1, and all runs; 0 without a campaign
	left      string
}

// Campaign sets the number of the current run, from 1, the number of runs, and in words how long
// the rest will take. The next change shows them.
func (l *Live) Campaign(run, runs int, left string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.of = campaignAt{run, runs, left}
}

// Phase begins a phase with its planned bounds; the end of a drain is its timeout.
func (l *Live) Phase(p result.Phase) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended, l.phase, l.status = l.phase, p, ""
	if l.o.Terminal {
		l.redraw()
	}
}

// Interval shows the latest interval.
func (l *Live) Interval(i result.Interval) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last = &i
	l.lags = append(l.lags, lagValue(i))
	l.lags = l.lags[max(len(l.lags)-lagsShown, 0):]
	if l.o.Terminal {
		l.redraw()
		return
	}
	if l.o.Full {
		l.write(l.full(i))
		return
	}
	l.write(l.log(i))
}

// Pulse shows what the agents have done since the last pulse. The times that agents measure are
// known only after the agents have sent their results.
func (l *Live) Pulse(p result.Pulse) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pulses.Take(p)
	i := l.pulses.All()
	rows := agentRows(&l.pulses)
	if l.o.Terminal {
		l.last, l.event = &i, "times after hand-in; "+strings.Join(rows, "; ")
		l.redraw()
		return
	}
	l.write(l.log(i))
	for _, row := range rows {
		l.write(l.hang("        "+row, 10) + "\n")
	}
}

func agentRows(pulses *result.Pulses) (rows []string) {
	for a, i := range pulses.Each() {
		rows = append(rows, fmt.Sprintf("agent %d (%s): offered %s, acked %s, delivered %s", a.Index, a.HostName,
			rate(i, i.Scheduled), rate(i, i.Acked), rate(i, i.Delivered)))
	}
	return rows
}

// Event shows progress, warnings, errors, faults, rebalances, and events of brokers and agents.
func (l *Live) Event(e result.Event) {
	switch e.Kind {
	case "progress":
		l.Status(e.What)
		return
	case "warning", "error", "fault", "broker", "rebalance", "agent":
	default:
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.event = layout.PadLeft(seconds(e.AtNs), 7) + " " + e.Kind + ": " + e.What
	if e.Reason != "" {
		l.event += " (" + e.Reason + ")"
	}
	if l.o.Terminal {
		l.redraw()
		return
	}
	l.write(l.hang(l.event, 8) + "\n")
}

// Line writes a line that stays above the view.
func (l *Live) Line(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.write(l.erase() + text + "\n")
	if l.drawn = 0; l.o.Terminal {
		l.redraw()
	}
}

// Resize sets the new width of the terminal, in columns.
func (l *Live) Resize(width int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if width > 0 {
		l.o.Width = width
	}
}

// Close removes the view from the terminal, and returns the writer's first error.
func (l *Live) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.o.Terminal {
		l.write(l.erase())
		l.drawn = 0
	}
	return l.err
}

func (l *Live) write(s string) {
	if l.err != nil || s == "" {
		return
	}
	_, l.err = io.WriteString(l.w, s)
}

// hang wraps a line of words, and fold a row of figures, if the width is known.
func (l *Live) hang(text string, indent int) string {
	if l.unlimited {
		return text
	}
	return layout.Hang(text, indent, l.o.Width)
}

func (l *Live) fold(format string, cells ...any) string {
	row := fmt.Sprintf(format, cells...)
	if l.unlimited {
		return row + "\n"
	}
	return layout.Fold(row, l.o.Width) + "\n"
}

func (l *Live) erase() string {
	if l.drawn == 0 {
		return ""
	}
	return fmt.Sprintf("\x1b[%dF\x1b[J", l.drawn)
}

// redraw overwrites each line and clears the rest of it, to avoid flicker.
func (l *Live) redraw() {
	var b strings.Builder
	if l.drawn > 0 {
		fmt.Fprintf(&b, "\x1b[%dF", l.drawn)
	}
	view := l.view()
	for _, line := range view {
		b.WriteString(line + "\x1b[K\n")
	}
	if l.drawn > len(view) {
		b.WriteString("\x1b[J")
	}
	l.drawn = len(view)
	l.write(b.String())
}

const logEvery = 20

// logFormat has 100 columns. logTitle is the line above the heads: the unit of the rates, and the
// metric of the two quantiles.
const (
	logFormat = "%6s %-7s %8s %8s %9s %8s %7s %7s %7s %8s %8s %s"
	logTitle  = "%42s %24s"
)

func (l *Live) log(i result.Interval) string {
	head := ""
	if l.lines%logEvery == 0 {
		head = l.fold(logTitle, "records/s", layout.Words(l.o.Metric)) +
			l.fold(logFormat, "time", "phase", "offered", "acked", "delivered", "shed", "p50", "p99", "lag",
				"backlog", "deferred", "gate")
	}
	l.lines++
	p50, p99 := l.quantiles(i)
	return head + l.fold(logFormat, seconds(i.EndNs), i.Phase,
		plainRate(i, i.Scheduled), plainRate(i, i.Acked), plainRate(i, i.Delivered), plainRate(i, i.Shed),
		p50, p99, lagOf(i), unit.Count(i.BacklogRecords), unit.Count(i.DeferredRecords), gate(i))
}

func (l *Live) quantiles(i result.Interval) (p50, p99 string) {
	t, ok := i.Time[l.o.Metric]
	if !ok || t.Count == 0 {
		return unit.Absent, unit.Absent
	}
	return unit.Nanos(t.P50Ns), unit.Nanos(t.P99Ns)
}

func rate(i result.Interval, n int64) string {
	length := i.Seconds()
	if length <= 0 {
		return unit.Absent
	}
	return unit.PerSecond(float64(n) / length)
}

func plainRate(i result.Interval, n int64) string { return strings.TrimSuffix(rate(i, n), "/s") }

func lagOf(i result.Interval) string {
	if i.LagRecords == nil {
		return unit.Absent
	}
	return unit.Count(*i.LagRecords)
}

const lagsShown = 60

// lagValue is NaN if the lag is not known.
func lagValue(i result.Interval) float64 {
	if i.LagRecords == nil {
		return math.NaN()
	}
	return float64(*i.LagRecords)
}

func gate(i result.Interval) string {
	switch {
	case i.GateOpen == nil:
		return unit.Absent
	case *i.GateOpen:
		return "open"
	}
	return "closed"
}
