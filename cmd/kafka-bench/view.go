package main

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/term"

	"kafka-bench/internal/bench"
	"kafka-bench/internal/cluster"
	"kafka-bench/internal/report"
	"kafka-bench/internal/result"
	"kafka-bench/internal/scenario"
)

// isTerminal tells whether a person sees what is written.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// view shows runs as they go on, and each one's report when it has ended.
type view struct {
	out      io.Writer
	terminal bool
	live     *report.Live
	phases   map[string]result.Phase // as planned
}

func newView(out io.Writer) *view { return &view{out: out, terminal: isTerminal(out)} }

// begin announces the run at a place in the plan.
func (v *view) begin(plan []scenario.Scenario, place int, c cluster.Info) {
	s := plan[place]
	of := ""
	if len(plan) > 1 {
		of = fmt.Sprintf(" (run %d of %d)", place+1, len(plan))
	}
	_, most := s.Duration()
	what := s.Description
	if what != "" {
		what += " "
	}
	fmt.Fprintf(v.out, "%s%s: %son %s, up to %v\n", s.Name, of, what, describe(c), most)
	warmup, measure, drain := int64(s.Phases.Warmup), int64(s.Phases.Measure), int64(s.Phases.Drain)
	v.phases = map[string]result.Phase{
		"warm-up": {Name: "warm-up", StartNs: -warmup, EndNs: 0},
		"measure": {Name: "measure", StartNs: 0, EndNs: measure},
		"drain":   {Name: "drain", StartNs: measure, EndNs: measure + drain},
	}
	v.live = report.NewLive(v.out, report.LiveOptions{
		Terminal: v.terminal, Colour: v.terminal, Width: v.width(), Name: s.Name, Metric: metricOf(s),
	})
	v.live.Status("preparing")
}

// metricOf is the time that says most about a run: what users feel, if anybody
// consumes and there is a schedule.
func metricOf(s scenario.Scenario) string {
	side, time := "e2e", "response"
	if s.Consume.Consumers == 0 {
		side = "send"
	}
	if s.Load.Rate.IsMax() {
		time = "service"
	}
	return side + "_" + time + "_time"
}

func describe(c cluster.Info) string {
	switch c.Kind {
	case cluster.KindEmbedded:
		return "the embedded broker"
	case cluster.KindExisting:
		return "the existing cluster " + c.ID
	default:
		return "Apache Kafka " + c.Version
	}
}

func (v *view) width() int {
	f, ok := v.out.(*os.File)
	if !ok {
		return 0
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
}

// Began implements bench.Watcher.
func (v *view) Began(string) {}

// Interval implements bench.Watcher.
func (v *view) Interval(i result.Interval) {
	if v.terminal {
		v.live.Resize(v.width())
	}
	v.live.Interval(i)
}

// Event implements bench.Watcher.
func (v *view) Event(e result.Event) {
	if phase, planned := v.phases[e.What]; e.Kind == "phase" && planned {
		v.live.Phase(phase)
		return
	}
	v.live.Event(e)
}

// end takes the live view away and shows the run's report.
func (v *view) end(o *bench.Outcome) error {
	if err := v.live.Close(); err != nil {
		return err
	}
	recorded, err := result.Read(o.Dir)
	if err != nil {
		return err
	}
	fmt.Fprintln(v.out)
	if err := report.Text(v.out, recorded, report.Options{Colour: v.terminal}); err != nil {
		return err
	}
	fmt.Fprintln(v.out)
	return nil
}
