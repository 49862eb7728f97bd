package web

import (
	_ "embed"
	"fmt"
	"html/template"
	"slices"
	"time"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/figure"
	"kafkabench.example/kafka-bench/internal/show/chart"
	"kafkabench.example/kafka-bench/internal/show/follow"
	"kafkabench.example/kafka-bench/internal/show/layout"
	"kafkabench.example/kafka-bench/internal/show/pages"
)

// A tab needs only the latest state.
type state struct {
	Name     string `json:"name"` // of the run, or of the campaign
	Run      string `json:"run"`  // the present run; "" between runs
	Status   string `json:"status"`
	Progress string `json:"progress"`
	Done     int    `json:"done"` // number of finished runs
	Of       int    `json:"of"`   // number of all runs; 0 if it is not known
	// EndNs is the end of the latest interval; null before the first.
	EndNs  *int64             `json:"end_ns"`
	Values []value            `json:"values"`
	Charts map[string]drawing `json:"charts"` // by name; only charts with data
	Events []shownEvent       `json:"events"` // latest first
	Agents [][]string         `json:"agents"` // a row for each agent, with agentColumns
	Ended  bool               `json:"ended"`
	// Page is the address of the page of the finished run; "" before the end, and if nothing was
	// recorded.
	Page string `json:"page"`
}

// value is a number of the latest interval.
type value struct {
	Name  string `json:"name"`
	Text  string `json:"text"`
	Value string `json:"value"` // with all digits; "" if it is not known
}

type drawing struct {
	Wide   template.HTML `json:"wide"`
	Narrow template.HTML `json:"narrow"`
}

type shownEvent struct {
	At     string `json:"at"`
	Kind   string `json:"kind"`
	What   string `json:"what"`
	Reason string `json:"reason"`
}

type liveChart struct{ Name, Title string }

func liveCharts() (charts []liveChart) {
	for _, name := range []string{"timeline", "lag", "age", "gate", "resources"} {
		if c, err := chart.Named(name); err == nil {
			charts = append(charts, liveChart{c.Name, c.Title})
		}
	}
	return charts
}

const mostEvents = 50

// The pause after a drawing is at least leastRest, and restFactor times as long as the drawing
// took, since the charts of a long run take long.
const (
	leastRest  = time.Second
	restFactor = 20
)

// seen keeps only what the page needs, since a run may go on for days.
type seen struct {
	run      result.Recorded
	phase    string // "" before the first
	drawn    int    // number of intervals in charts
	charts   map[string]drawing
	restedAt time.Time // the end of the pause
	pulses   result.Pulses
}

// take reports whether a phase began.
func (s *seen) take(c follow.Change) (began bool) {
	if c.Run != nil {
		s.run.Run = *c.Run
	}
	if c.Pulse != nil {
		s.pulses.Take(*c.Pulse)
	}
	for _, i := range c.Intervals {
		s.run.Intervals = append(s.run.Intervals, slim(i))
	}
	for _, e := range c.Events {
		if e.Kind == "phase" {
			s.phase, began = e.What, true
		}
	}
	s.run.Events = append(s.run.Events, c.Events...)
	if old := len(s.run.Events) - mostEvents; old > 0 {
		latest := slices.Clone(s.run.Events[old:])
		marks := slices.DeleteFunc(s.run.Events[:old], func(e result.Event) bool { return !chart.Marks(e) })
		s.run.Events = slices.Concat(marks, latest)
	}
	return began
}

// slim keeps the fields of an interval that live charts and values need.
func slim(i result.Interval) result.Interval {
	kept := result.Interval{
		StartNs: i.StartNs, EndNs: i.EndNs, Phase: i.Phase, ReadFromNs: i.ReadFromNs, ReadToNs: i.ReadToNs,
		Scheduled: i.Scheduled, Shed: i.Shed, Acked: i.Acked, Delivered: i.Delivered,
		DeferredRecords: i.DeferredRecords, BacklogRecords: i.BacklogRecords, LagRecords: i.LagRecords,
		InFlightRecords: i.InFlightRecords, UndeliveredRecords: i.UndeliveredRecords, TimeLagNs: i.TimeLagNs,
		QueueOldestUnackedNs: i.QueueOldestUnackedNs, GateOpen: i.GateOpen,
		BoundRecords: i.BoundRecords, ProcessCPUCores: i.ProcessCPUCores, ProcessRSSBytes: i.ProcessRSSBytes,
		BrokerCPUCores: i.BrokerCPUCores, Brokers: i.Brokers, Host: i.Host, Time: map[string]result.IntervalTime{},
	}
	for _, s := range i.LagSamples {
		kept.LagSamples = append(kept.LagSamples, result.LagSample{AtNs: s.AtNs, Records: s.Records})
	}
	for _, metric := range shownTimes {
		if t, some := i.Time[metric]; some {
			kept.Time[metric] = t
		}
	}
	return kept
}

// shownTimes are in the order of preference.
var shownTimes = []string{"e2e_response_time", "e2e_service_time", "send_response_time", "send_service_time"}

func (s *seen) fill(to *state) {
	to.Run = layout.List(s.run.Run.Run.Name, s.run.Run.Run.ID)
	if to.Name == "" {
		to.Name = s.run.Run.Run.Name
	}
	if n := len(s.run.Intervals); n > 0 {
		last := s.run.Intervals[n-1]
		to.EndNs, to.Values = &last.EndNs, valuesOf(&s.run.Run, last)
		if to.Status == "" {
			to.Status = s.phase + ", at " + unit.Span(time.Duration(last.EndNs).Round(100*time.Millisecond))
		}
	} else if to.Status == "" {
		to.Status = s.phase
	}
	for _, e := range slices.Backward(s.run.Events) {
		if len(to.Events) == mostEvents {
			break
		}
		to.Events = append(to.Events, shownEvent{
			At: layout.At(e.AtNs), Kind: e.Kind, What: e.What, Reason: e.Reason,
		})
	}
	to.Agents = agentRows(&s.pulses)
	to.Charts = s.draw()
}

// agentColumns are the columns of the table of agents.
var agentColumns = []string{"Agent", "Phase", "Offered", "Acked", "Delivered", "Failed", "Deferred", "In flight"}

// agentRows has a row for each agent: its rates since its previous pulse, and how many records
// wait.
func agentRows(pulses *result.Pulses) [][]string {
	rows := [][]string{}
	for a, since := range pulses.Each() {
		rate := func(n int64) string {
			if since.Seconds() <= 0 {
				return unit.Absent
			}
			return unit.PerSecond(float64(n) / since.Seconds())
		}
		rows = append(rows, []string{
			fmt.Sprintf("%d (%s)", a.Index, a.HostName), a.Phase, rate(since.Scheduled), rate(since.Acked), rate(since.Delivered),
			unit.Count(a.Failed), unit.Count(a.DeferredRecords), unit.Count(a.InFlightRecords),
		})
	}
	return rows
}

func (s *seen) draw() map[string]drawing {
	began := time.Now()
	if s.charts == nil {
		s.charts = map[string]drawing{} // the page needs an object, even without an interval
	}
	if s.drawn == len(s.run.Intervals) || began.Before(s.restedAt) {
		return s.charts
	}
	s.drawn, s.charts = len(s.run.Intervals), map[string]drawing{}
	in := chart.Input{Runs: []*result.Recorded{&s.run}}
	for _, c := range liveCharts() {
		if wide, narrow, err := pages.Drawing(c.Name, in); err == nil { // the run may lack the data of a chart
			s.charts[c.Name] = drawing{wide, narrow}
		}
	}
	now := time.Now()
	s.restedAt = now.Add(max(leastRest, restFactor*now.Sub(began)))
	return s.charts
}

// due has a value at the end of the pause; nil if the charts show all intervals.
func (s *seen) due() <-chan time.Time {
	if s.drawn == len(s.run.Intervals) {
		return nil
	}
	return time.After(time.Until(s.restedAt))
}

func valuesOf(r *result.Run, i result.Interval) []value {
	rate := func(name string, n int64) value {
		if i.Seconds() <= 0 {
			return value{Name: name, Text: unit.Absent}
		}
		v := float64(n) / i.Seconds()
		return value{name, unit.PerSecond(v), layout.Raw(v)}
	}
	count := func(name string, n *int64) value {
		if n == nil {
			return value{Name: name, Text: unit.Absent}
		}
		return value{name, unit.Count(*n), layout.Raw(float64(*n))}
	}
	values := []value{
		rate("Offered", i.Scheduled), rate("Acked", i.Acked), rate("Delivered", i.Delivered), rate("Shed", i.Shed),
	}
	for _, metric := range shownTimes {
		if t, some := i.Time[metric]; some && t.Count > 0 {
			p99 := value{Name: layout.Words(metric) + " p99", Text: unit.Absent}
			if figure.Supported(99, figure.Independent(r, metric, t.Count)) {
				p99.Text, p99.Value = unit.Nanos(t.P99Ns), layout.Raw(float64(t.P99Ns))
			}
			values = append(values, p99)
			break
		}
	}
	values = append(values, count("Consumer lag", i.LagRecords), count("Backlog", &i.BacklogRecords),
		count("Deferred", &i.DeferredRecords))
	if i.GateOpen != nil {
		word := "closed"
		if *i.GateOpen {
			word = "open"
		}
		values = append(values, value{Name: "Gate", Text: word})
	}
	return values
}

//go:embed assets/live.html
var liveHTML string

//go:embed assets/live.js
var liveJS string

//go:embed assets/site.css
var siteCSS string
