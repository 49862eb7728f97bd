package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/term"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/figure"
	"kafkabench.example/kafka-bench/internal/result/outcome"
	"kafkabench.example/kafka-bench/internal/run/bench"
	"kafkabench.example/kafka-bench/internal/run/campaign"
	"kafkabench.example/kafka-bench/internal/show/layout"
	"kafkabench.example/kafka-bench/internal/show/report"
	"kafkabench.example/kafka-bench/internal/show/web"
)

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// A terminal with TERM=dumb cannot move its cursor.
func obeys(w io.Writer) bool { return isTerminal(w) && os.Getenv("TERM") != "dumb" }

// NO_COLOR: see no-color.org.
func coloured(w io.Writer) bool { return obeys(w) && os.Getenv("NO_COLOR") == "" }

type view struct {
	out      io.Writer // progress
	reports  io.Writer // of single runs
	ci       ciFlags
	unsaved  error // of --out-file, or of the progress
	terminal bool
	plan     campaign.Plan
	// brief prints only one line for each run: the report of the campaign has the figures.
	brief bool
	full  bool
	// pages shows the runs in browsers; nil if not requested.
	pages *web.Pages

	journal  *campaign.Journal // of a campaign; nil for a single run
	forecast *campaign.Forecast
	place    int
	left     time.Duration // of the campaign at the start of the current run
	began    time.Time     // start of the current run, after it has its cluster
	cluster  string
	saidOf   string // the cluster whose disk is not watched, as it was said

	live   *report.Live // nil: no live view
	agents bool         // agents make the runs, and hand in their intervals at the end
	phases map[string]result.Phase
	pulses result.Pulses
}

func newView(r rig, plan campaign.Plan, stdout, stderr io.Writer) *view {
	out := r.judging.body(stderr)
	return &view{
		out: out, reports: r.judging.body(stdout), ci: r.ci, terminal: obeys(out), plan: plan,
		forecast: campaign.NewForecast(plan), brief: plan.Repeat > 1 || len(plan.Axes) > 0, full: r.full,
		pages: r.pages, agents: r.fleet.of() > 0,
	}
}

func (v *view) open(j *campaign.Journal) error {
	v.journal = j
	v.pages.Campaign(j.Dir())
	turns := v.plan.At(j.Pending())
	v.say("%s: %s of %s, %s, about %s", v.plan.Name, count(len(turns), "run"),
		count(len(v.plan.Cells), "scenario"), v.plan.Order, roughly(v.plan.Takes(turns)))
	v.say("campaign: %s", j.Dir())
	fmt.Fprintln(v.out)
	return v.ci.writeFolder(j.Dir())
}

func (v *view) begin(place int) {
	v.began, v.place = time.Now(), place
	if v.journal == nil {
		return
	}
	v.left = v.forecast.Left(v.plan.At(v.journal.Pending()))
	turn := v.plan.Runs[place]
	parts := []string{
		fmt.Sprintf("run %d of %d", place+1, len(v.plan.Runs)),
		v.plan.Cells[turn.Cell].Name,
	}
	if rounds := campaign.Rounds(v.plan.Runs, turn.Cell); rounds > 1 {
		parts = append(parts, fmt.Sprintf("round %d of %d", turn.Round+1, rounds))
	}
	parts = append(parts, "about "+roughly(v.left)+" left")
	text := strings.Join(parts, " · ")
	v.say("%s", text)
	v.pages.Progress(web.Progress{Run: place + 1, Of: len(v.plan.Runs), Text: text})
}

func (v *view) ready(s scenario.Scenario, c cluster.Info) {
	v.unsaved = errors.Join(v.unsaved, v.stop()) // the view of an invalid run that is made again
	where := describe(c)
	if s.Topic.Existing != "" {
		where += ", " + usedTopic(s)
	}
	switch {
	case v.journal == nil:
		v.announce(s, where)
	case where != v.cluster:
		v.say("on %s", where)
	}
	v.cluster = where
	v.began = time.Now() // the forecast of other runs excludes the start of the cluster
	v.pages.Status("preparing, on " + where)
	if v.brief && !v.terminal && !v.full {
		return
	}
	warmup, measure, drain := int64(s.Phases.Warmup), int64(s.Phases.Measure), int64(s.Phases.Drain)
	v.phases = map[string]result.Phase{
		"warm-up": {Name: "warm-up", StartNs: -warmup, EndNs: 0},
		"measure": {Name: "measure", StartNs: 0, EndNs: measure},
		"drain":   {Name: "drain", StartNs: measure, EndNs: measure + drain},
	}
	v.live = report.NewLive(v.out, report.LiveOptions{
		Terminal: v.terminal, Colour: coloured(v.out), Width: v.width(), Name: s.Name, Metric: metricOf(s),
		Full: v.full,
	})
	v.tellCampaign()
	v.live.Status("preparing")
}

// say prints a line of progress. Later lines of a long one are indented.
func (v *view) say(format string, args ...any) {
	fmt.Fprintln(v.out, layout.Hang(fmt.Sprintf(format, args...), 4, widthOf(v.out)))
}

func (v *view) tellCampaign() {
	if v.journal != nil {
		left := max(v.left-time.Since(v.began), 0)
		v.live.Campaign(v.place+1, len(v.plan.Runs), "about "+roughly(left)+" left")
	}
}

// unwatched says once for a cluster, below its name, that the free disk is not watched.
func (v *view) unwatched(why string) {
	if v.saidOf != v.cluster {
		v.saidOf = v.cluster
		text := "disk not watched: " + why
		if v.live == nil {
			fmt.Fprintln(v.out, text)
			return
		}
		v.live.Line(text)
	}
}

func (v *view) announce(s scenario.Scenario, where string) {
	_, most := s.Duration()
	what := "on " + where + ", up to " + unit.Span(most)
	if s.Description != "" {
		what = s.Description + " · " + what
	}
	v.say("%s: %s", s.Name, what)
}

// For example 40 s, 9 min, 2 h 10 min.
func roughly(d time.Duration) string {
	switch minutes := int(d.Round(time.Minute).Minutes()); {
	case d < 90*time.Second:
		return fmt.Sprintf("%d s", int(math.Ceil(d.Seconds())))
	case minutes < 60:
		return fmt.Sprintf("%d min", minutes)
	default:
		return fmt.Sprintf("%d h %d min", minutes/60, minutes%60)
	}
}

// metricOf returns the most important time of a run: end to end if it has consumers, and the
// response time if it has a schedule.
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

// usedTopic says what a run does with the topic that is not its own.
func usedTopic(s scenario.Scenario) string {
	if s.Load.Producers == 0 {
		return "reading its topic " + s.Topic.Existing
	}
	return "writing to its topic " + s.Topic.Existing
}

func (v *view) width() int { return columnsOf(v.out) }

// Began implements observe.Watcher.
func (v *view) Began(dir string) {
	v.pulses = result.Pulses{}
	v.pages.Run(dir)
	if v.journal == nil {
		v.unsaved = errors.Join(v.unsaved, v.ci.writeFolder(dir))
	}
}

func (v *view) Interval(i result.Interval) {
	if v.live == nil || v.agents && !v.full {
		return
	}
	if v.terminal {
		v.live.Resize(v.width())
		v.tellCampaign()
	}
	v.live.Interval(i)
}

// Pulse implements bench.PulseWatcher.
func (v *view) Pulse(p result.Pulse) {
	v.pulses.Take(p)
	i := v.pulses.All()
	if s := i.Seconds(); s > 0 {
		v.pages.Status(fmt.Sprintf("%s: %s acked, %s delivered; times after hand-in", count(len(p.Agents), "agent"),
			unit.PerSecond(float64(i.Acked)/s), unit.PerSecond(float64(i.Delivered)/s)))
	}
	if v.live != nil {
		v.live.Pulse(p)
	}
}

func (v *view) Event(e result.Event) {
	switch e.Kind {
	case "progress":
		v.pages.Status(e.What)
	case bench.Unwatched:
		v.unwatched(e.What)
		return
	}
	if v.live == nil {
		if e.Kind == "progress" && e.Data == nil {
			v.say("  %s", e.What)
		}
		return
	}
	if _, handedIn := e.Data["agent"]; handedIn && v.agents && e.Kind != "agent" {
		return // the event happened long before
	}
	if phase, planned := v.phases[e.What]; e.Kind == "phase" && planned {
		v.live.Phase(phase)
		return
	}
	v.live.Event(e)
}

func (v *view) end(place int, o *bench.Outcome) error {
	v.forecast.Took(v.plan.Runs[place].Cell, time.Since(v.began))
	if err := errors.Join(v.stop(), v.unsaved); err != nil {
		return err
	}
	if v.brief || !v.ci.asText() {
		text := inBrief(o)
		if len(o.Run.Run.Expected) > 0 {
			recorded, err := result.Read(o.Dir)
			if err != nil {
				return err
			}
			text += " · " + report.Judge([]*result.Recorded{recorded}).InBrief()
		}
		v.say("  %s", text)
		return nil
	}
	fmt.Fprintln(v.out)
	err := printRun(v.reports, o)
	if v.journal != nil {
		fmt.Fprintln(v.reports)
	}
	return err
}

func printRun(out io.Writer, o *bench.Outcome) error {
	recorded, err := result.Read(o.Dir)
	if err != nil {
		return err
	}
	return report.Text(out, recorded, report.Options{Colour: coloured(out), Width: columnsOf(out)})
}

func (v *view) stop() error {
	if v.live == nil {
		return nil
	}
	live := v.live
	v.live = nil
	return live.Close()
}

func inBrief(o *bench.Outcome) string {
	r := &o.Run
	switch {
	case r.EndedByUser():
		return "interrupted · " + o.Dir
	case r.Run.EndedByGuard != "":
		return "ended by a guard: " + r.Run.EndedByGuard + " · " + o.Dir
	case r.Verdict.Status != result.Valid:
		return "INVALID: " + strings.Join(append(slices.Clone(r.Verdict.Reasons), o.Dir), " · ")
	}
	parts := []string{"valid", outcome.In(r).Status, "acked " + unit.PerSecond(r.Load.AckedPerS)}
	if r.Load.Scheduled == 0 { // a run without producers
		parts[2] = "delivered " + unit.PerSecond(r.Delivery.DeliveredPerS)
	}
	for _, metric := range []string{"e2e_response_time", "e2e_service_time", "send_response_time",
		"send_service_time"} {
		if t, ok := r.Time[metric]; ok && t.Count > 0 {
			parts = append(parts, fmt.Sprintf("%s p50 %s, p99 %s", strings.ReplaceAll(metric, "_", " "),
				figureText(r, metric+"_p50"), figureText(r, metric+"_p99")))
			break
		}
	}
	return strings.Join(parts, " · ")
}

// figureText returns NotAvailable if the run has too few records for the figure.
func figureText(r *result.Run, name string) string {
	f, err := figure.Named(name)
	if err != nil {
		return unit.NotAvailable
	}
	text, known := f.Text(r)
	if !known {
		return unit.NotAvailable
	}
	return text
}
