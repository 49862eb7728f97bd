// Package report writes text, Markdown, CSV and JSON from the files of runs. It shows one
// run on one screen (Text), several in columns (SideBySide), a campaign that answers its
// question (Campaign), sets of runs that are tested against each other (Compare), one
// configuration over time (History), all values of a run's histograms (Histograms), and a
// run while it goes on (Live). It reads nothing but result files, so a run of any age is
// rendered again without a Kafka.
//
// A report leads with what a reader must know before any figure: whether the
// run is valid, and what share of the load the figures speak of. Records that
// were shed at the source are in no percentile, so the share is printed beside
// the percentiles and not only in the books. A percentile that rests on the luck
// of single records is not printed at all.
//
// And a report claims no more than its runs show. One run carries no claim; of
// several, the median is printed with its confidence interval, and a difference
// is called better or worse only where a rank test shows it, at a level that
// holds for all that was tested together (see Compare). Otherwise the report says
// that nothing was shown, or how many runs more would do.
//
// What is thought and what is written are kept apart: Compare, History,
// Histograms and the analysis of a campaign return values, and each value is
// written in any Format. The JSON of a value is a contract, as a run's files are.
//
// Files to know: text.go, books.go, times.go, sidebyside.go, findings.go, picture.go,
// live.go, compare.go, levels.go, campaign.go, answers.go (the sentence that a suite ends
// in).
package report

import (
	"io"
	"strings"
	"unicode/utf8"

	"kafkabench.example/kafka-bench/internal/result"
)

// Width is what the reports are laid out for, in columns, unless Options say
// otherwise; narrowest and widest bound what these may say.
const (
	Width     = 100
	narrowest = 80
	widest    = 120
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
}

// width is what a text is laid out for.
func (o Options) width() int {
	if o.Width == 0 {
		return Width
	}
	return min(max(o.Width, narrowest), widest)
}

// Text writes the report of one run.
func Text(w io.Writer, r *result.Recorded, o Options) error {
	p := newPage(o)
	p.verdict(r)
	p.subject(&r.Run)
	if r.Run.Finished() {
		p.books(&r.Run)
		p.queue(&r.Run)
		p.times(&r.Run)
		p.lag(&r.Run)
		p.backpressure(r)
		p.availability(&r.Run)
		p.faults(r)
		p.bottleneck(&r.Run)
		p.process(&r.Run)
		p.brokerRequests(r.Run.Broker)
		p.compression(&r.Run)
	} else {
		p.unfinished(r)
	}
	p.files(r)
	return p.writeTo(w)
}

// page is a report in the making.
type page struct {
	b      strings.Builder
	colour bool
	width  int // columns
}

func newPage(o Options) *page { return &page{colour: o.Colour, width: o.width()} }

func (p *page) writeTo(w io.Writer) error {
	_, err := io.WriteString(w, p.b.String())
	return err
}

// line writes its parts and a newline, without spaces at the end.
func (p *page) line(parts ...string) {
	p.b.WriteString(strings.TrimRight(strings.Join(parts, ""), " "))
	p.b.WriteByte('\n')
}

// heading opens a section.
func (p *page) heading(title, note string) {
	p.line()
	p.line(p.paint(bold, title), note)
}

// labelled writes text beside a label in the left column, wrapped.
func (p *page) labelled(label, text string) { p.styled(plain, label, text) }

// styled is labelled with a style for the text.
func (p *page) styled(style, label, text string) {
	const indent = 16
	for i, part := range wrap(text, p.width-indent) {
		if i > 0 {
			label = ""
		}
		p.line(pad("  "+label, indent), p.paint(style, part))
	}
}

// ANSI styles.
const (
	plain  = ""
	bold   = "1"
	red    = "1;31"
	green  = "1;32"
	yellow = "33"
)

// paint colours s where colours are wanted. It adds no visible width.
func (p *page) paint(style, s string) string {
	if !p.colour || style == plain || s == "" {
		return s
	}
	return "\x1b[" + style + "m" + s + "\x1b[0m"
}

// columns is the width of s on a terminal: reports hold no wide characters.
func columns(s string) int { return utf8.RuneCountInString(s) }

// pad fills s with spaces at its end to width columns.
func pad(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-columns(s)))
}

// padLeft fills s with spaces at its start to width columns.
func padLeft(s string, width int) string {
	return strings.Repeat(" ", max(0, width-columns(s))) + s
}

// separator stands between the parts of a list.
const separator = " · "

// wrap breaks text into lines of at most width columns: between the parts of a
// list, and within a part that is longer than a line at its spaces. A longer
// word has a line of its own.
func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for _, part := range strings.Split(text, separator) {
		switch {
		case line == "":
			line = part
		case columns(line)+columns(separator)+columns(part) <= width:
			line += separator + part
		default:
			lines = append(lines, line)
			line = part
		}
		if columns(line) > width {
			broken := wrapWords(line, width)
			lines = append(lines, broken[:len(broken)-1]...)
			line = broken[len(broken)-1]
		}
	}
	return append(lines, line)
}

func wrapWords(text string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Split(text, " ") {
		switch {
		case line == "":
			line = word
		case columns(line)+1+columns(word) <= width:
			line += " " + word
		default:
			lines = append(lines, line)
			line = word
		}
	}
	return append(lines, line)
}

// list joins parts that are not empty.
func list(parts ...string) string {
	var filled []string
	for _, part := range parts {
		if part != "" {
			filled = append(filled, part)
		}
	}
	return strings.Join(filled, separator)
}
