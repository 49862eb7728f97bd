// Package chart turns recorded runs into charts: each [Chart] has a name, and makes a
// [draw.Spec] of an [Input]. It is pure, and it changes no number: what is drawn is the value
// of the file (ns, bytes, records), a count divided by the length of its interval, or a
// statistic of package stats over repeated runs. A value that nobody knows is NaN.
//
// A chart that lacks its data says so in its error, which is a [Missing] with the field and
// the file: so the error also tells to which runs a chart applies.
//
// Files to know: input.go (which runs, by which names), series.go (intervals as series), axes.go
// (how values are written). Charts of a run over time: timeline.go, lag.go, partitions.go,
// outage.go, gate.go, resources.go; of a whole run: books.go, percentiles.go; of repeated runs:
// cells.go, bursts.go, studies.go, scaling.go; of a campaign: search.go; of what analysis
// found: found.go.
package chart

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"kafkabench.example/kafka-bench/internal/plan/spelling"
	"kafkabench.example/kafka-bench/internal/show/draw"
)

// Chart is a drawing that can be made of recorded runs.
type Chart struct {
	Name, Title string
	// Draw makes the spec. If the input lacks the data, the error wraps a *Missing, which
	// names the field; other errors say what the input has too much or too little of.
	Draw func(Input) (draw.Spec, error)
}

// All are the charts, in the order of a page: runs over time, whole runs, repeated runs, the
// studies, campaigns, and what analysis found.
func All() []Chart {
	return []Chart{
		of("timeline", "Rates and times", timeline),
		of("lag", "Consumer lag", lag),
		of("age", "Age of the oldest open record", age),
		of("gate", "Gate", gate),
		of("partitions", "Partitions", partitions),
		of("outage", "Outage", outage),
		of("resources", "Processors, memory, disk and network", resources),
		of("process", "Process of the tool, under the latency", process),
		of("books", "What became of the scheduled records", books),
		of("percentiles", "Times by percentile", percentiles),
		of("cells", "Figures of repeated runs", cells),
		of("codecs", "Compression ratio by payload and codec", codecs),
		of("bursts", "Bursts", bursts),
		of("burst-peaks", "Consumer lag in and between bursts", burstPeaks),
		of("stored", "Throughput by stored bytes", stored),
		of("record-size", "Throughput by record size", recordSize),
		of("speed-up", "Speed-up", speedUp),
		of("drain", "Drain of a filled topic", drain),
		of("receive-rate", "Deliveries of a queue", receiveRate),
		of("threads", "Latency by nodes and threads", threads),
		of("search", "Search for the highest rate", search),
		of("capacity", "Latency by share of the highest rate", capacity),
		of("differences", "Differences", differences),
		of("history", "History", history),
	}
}

// of is a chart whose errors begin with its name, and whose spec has its title.
func of(name, title string, specOf func(Input) (draw.Spec, error)) Chart {
	return Chart{Name: name, Title: title, Draw: func(in Input) (draw.Spec, error) {
		spec, err := specOf(in)
		if err != nil {
			return draw.Spec{}, fmt.Errorf("chart %s: %w", name, err)
		}
		if spec.Title == "" {
			spec.Title = title
		}
		return spec, nil
	}}
}

// Named finds a chart. Its error says which one was probably meant, and lists them.
func Named(name string) (Chart, error) {
	var names []string
	for _, c := range All() {
		if c.Name == name {
			return c, nil
		}
		names = append(names, c.Name)
	}
	meant := "."
	if near := spelling.Nearest(name, names); near != "" {
		meant = "; did you mean " + near + "?"
	}
	return Chart{}, fmt.Errorf("there is no chart %q%s The charts are %s", name, meant, strings.Join(names, ", "))
}

// Missing says that a run or a campaign does not have what a chart draws.
type Missing struct {
	Of    string // what the run or the campaign is called
	Field string // as in lag_records; "" if the whole file is missing
	File  string // as in intervals.ndjson
	Why   string // "" if no more is known
	None  bool   // there was nothing to measure: a chart of other things needs no note on it
}

// Error is a sentence without its end.
func (m *Missing) Error() string {
	text := m.Of + " has no " + m.File
	if m.Field != "" {
		text = m.Of + " has no " + m.Field + " in " + m.File
	}
	if m.Why != "" {
		text += ": " + m.Why
	}
	return text
}

// notDrawn is the note on something that is missing.
func notDrawn(err error) []string {
	var m *Missing
	if errors.As(err, &m) && m.None {
		return nil
	}
	return []string{"Not drawn: " + err.Error() + "."}
}

// gather makes what can be made of several things, with notes on those that lack something; the
// error is that of the first if all do.
func gather[From, To any](all []From, of func(From) (To, error)) (made []To, notes []string, err error) {
	for _, from := range all {
		one, missing := of(from)
		if missing == nil {
			made = append(made, one)
			continue
		}
		notes, err = append(notes, notDrawn(missing)...), cmp.Or(err, missing)
	}
	if len(made) > 0 {
		return made, notes, nil
	}
	return nil, nil, cmp.Or(err, errors.New("there is nothing to draw"))
}
