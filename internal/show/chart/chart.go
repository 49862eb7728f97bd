// Package chart turns recorded runs into charts: each [Chart] has a name, and makes
// a [draw.Spec] of an [Input]. It is pure and changes no number. It draws a value
// of a file (ns, bytes, records), a count divided by its interval's length, or a
// statistic over repeated runs. An unknown value is NaN.
//
// If data is missing, the error wraps a [Missing] with the field and the file. So
// the error also shows to which runs a chart applies.
//
// To add a chart, write its function in the file of its kind, and name it in [All].
// Its test computes the expected values from the run, and the error of a run
// without the field.
//
// Files to know: input.go (which runs, by which names), series.go (intervals as
// series), axes.go (how values are written). Charts of a run over time:
// timeline.go, lag.go, partitions.go, outage.go, gate.go, resources.go; of a whole
// run: books.go, percentiles.go; of repeated runs: cells.go, bursts.go, studies.go,
// scaling.go; of a campaign: search.go; of what analysis found: found.go.
package chart

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"kafkabench.example/kafka-bench/internal/plan/spelling"
	"kafkabench.example/kafka-bench/internal/show/draw"
)

// Chart is a drawing of recorded runs.
type Chart struct {
	Name, Title string
	// Draw makes the spec. If the input lacks the data, the error wraps a *Missing.
	Draw func(Input) (draw.Spec, error)
}

// All returns the charts in the order of a page: runs over time, whole runs,
// repeated runs, studies, campaigns, and findings of analysis.
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

// Named returns the chart with that name. The error suggests the nearest name and lists all.
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

// Missing reports that a run or a campaign does not have what a chart draws.
type Missing struct {
	Of    string
	Field string // such as lag_records; "" if the whole file is missing
	File  string // such as intervals.ndjson
	Why   string // "" if the reason is unknown
	None  bool   // nothing existed to measure, so a chart of other things needs no note
}

// Error returns a sentence without a full stop.
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

func notDrawn(err error) []string {
	var m *Missing
	if errors.As(err, &m) && m.None {
		return nil
	}
	return []string{"Not drawn: " + err.Error() + "."}
}

// gather applies of to each element. It returns the results, and notes on the elements that lack
// data; if all lack data, the first error.
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
