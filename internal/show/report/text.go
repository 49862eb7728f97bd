// Package report writes text, Markdown, CSV and JSON from the files of runs. It shows one
// run on one screen (Text), several in columns (SideBySide), all values of a run's
// histograms (Histograms), and a run while it goes on (Live). It reads only result files, so
// a run of any age is rendered again without a Kafka.
//
// Comparisons and histories of runs are in package compared, campaigns in package campaigns.
// Both write through Forms, which knows the formats.
//
// A report leads with what a reader must know before any figure: whether the
// run is valid, and what share of the load the figures speak of. Records that
// were shed at the source are in no percentile, so the share is printed beside
// the percentiles and not only in the books. A percentile that rests on the luck
// of single records is not printed at all.
//
// And a report claims no more than its runs show. One run carries no claim; what several
// show, package analysis finds, and wording.go has the sentence of each finding.
//
// Each document is written in any Format. Its JSON is a contract, as a run's files are.
//
// Files to know: text.go, books.go, times.go, sidebyside.go, wording.go, output.go (the formats), picture.go, live.go.
package report

import (
	"io"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/show/layout"
)

// Options say how a report looks.
type Options struct {
	// Colour allows ANSI colours: for terminals.
	Colour bool
	// Width is the columns of the terminal; 0 is Width. Reports are laid out
	// for 80 to 120, whatever it says.
	Width int
	// Format is what a report is written as. Text and SideBySide are always
	// text.
	Format Format
	// Table is the name of the table that a CSV is to hold; "" is the report's
	// own choice.
	Table string
	// By is the name of the figure that a campaign's cells are ranked by; "" is
	// the one that its question names, or the e2e response time p99.
	By string
	// Series has the JSON of runs hold all of their files.
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

// printBody is what follows on who was run.
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
