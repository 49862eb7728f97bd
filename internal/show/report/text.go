// Package report writes text, Markdown, CSV and JSON from the files of runs. It shows one run
// (Text), several in columns (SideBySide), the values of a run's histograms (Histograms), and a run
// while it goes on (Live). It needs no Kafka.
//
// A report begins with the run's validity and the share of the load that its figures cover. Records
// shed at the source are in no percentile, so the share is also printed with the percentiles. A
// percentile that too few records support is not printed.
//
// Package analysis finds what several runs show, and wording.go has a sentence for each finding.
// Packages compared and campaigns write comparisons, histories and campaigns through Forms. The
// JSON documents are a contract, as a run's files are.
//
// Files to know: text.go, books.go, times.go, sidebyside.go, wording.go, output.go (the formats),
// picture.go, live.go.
package report

import (
	"io"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/show/layout"
)

// Options say how a report looks.
type Options struct {
	// Colour allows ANSI colours.
	Colour bool
	// Width is the number of columns of the terminal; 0 means layout.Width. Reports use 80 to 120
	// columns.
	Width int
	// Format is the report's format; Text and SideBySide ignore it.
	Format Format
	// Table is the name of the table to write as CSV; "" means the report's own
	// choice.
	Table string
	// By is the name of the figure that ranks a campaign's cells. "" means the figure that its
	// question names, or the e2e response time p99.
	By string
	// Series asks for the content of all files in the JSON of runs.
	Series bool
}

// Text writes the report of one run.
func Text(w io.Writer, r *result.Recorded, o Options) error {
	p := layout.NewPage(o.Width, o.Colour)
	printVerdict(p, r)
	printSubject(p, &r.Run)
	printBody(p, r)
	return p.Print(w)
}

func printBody(p *layout.Page, r *result.Recorded) {
	if r.Run.Finished() {
		printAgents(p, &r.Run)
		printBooks(p, &r.Run)
		printQueue(p, &r.Run)
		printTimes(p, &r.Run)
		printLag(p, r)
		printBackpressure(p, r)
		printAvailability(p, &r.Run)
		printFaults(p, r)
		printBottleneck(p, &r.Run)
		printProcess(p, &r.Run)
		printBrokerRequests(p, r.Run.Broker)
		printCompression(p, &r.Run)
	} else {
		printUnfinished(p, r)
	}
	printFiles(p, r)
}
