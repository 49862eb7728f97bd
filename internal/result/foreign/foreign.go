// Package foreign turns the results of other tools into runs of our schema, to be
// reported and compared with ours.
//
// The danger of an import is that it lends a foreign figure our meaning. So each
// reader is told, format by format, what a figure really measures, and gives it the
// name that this meaning has here: a "latency" that begins when a record is sent is
// a service time, whatever its tool calls it. What the source does not tell is
// left null or absent; fields that have no null are named in
// [result.Imported]'s CannotSay, which is computed from the short list of what a
// format does say, so that a field that was forgotten counts as not measured. And
// what is known to be wrong with the source travels as warnings with the run.
//
// # The verdict of an imported run
//
// The problem: a verdict is "valid" or "invalid" and nothing between. An imported run
// was not judged by our rules and could not be: no pacer lateness, no sequences, often
// no schedule. "Invalid" for all of them would say that each is known to be false,
// and every comparison would turn them away. "Valid" would claim what nobody checked.
//
// The choice: an imported run is valid as far as its own figures do not contradict
// each other and its tool did not say that it failed, and invalid with the reason
// otherwise. It is never valid silently: its first warning says that our rules have not
// judged it, run.imported says the same to programs, and the known defects of its
// source follow as further warnings; and where a person reads, in reports and
// lists, its word is "imported" and not "valid". The cost is that a program which
// looks at the status alone takes more for granted than was proven. A third status
// in the schema would change our mind.
//
// Nothing here reads a clock; files are read, and run folders written, and that is all.
//
// Files to know: foreign.go, a file for each format.
package foreign

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"kafkabench.example/kafka-bench/internal/measure/latency"
	"kafkabench.example/kafka-bench/internal/result"
)

// Format is a kind of foreign result.
type Format string

// The formats, by the names that the command line takes.
const (
	Auto         Format = "auto"          // found out from the content
	SSP          Format = "ssp"           // SSP Kafka Bench's JSON
	ProducerPerf Format = "producer-perf" // what kafka-producer-perf-test prints
	ConsumerPerf Format = "consumer-perf" // what kafka-consumer-perf-test prints
	OMB          Format = "omb"           // the OpenMessaging Benchmark's JSON
	HdrLog       Format = "hlog"          // an HdrHistogram interval log
)

// Formats are all formats, Auto first.
func Formats() []Format {
	return []Format{Auto, SSP, ProducerPerf, ConsumerPerf, OMB, HdrLog}
}

// Check returns an error that names the formats, unless f is one of them.
func (f Format) Check() error {
	if !slices.Contains(Formats(), f) {
		return fmt.Errorf("there is no format %q; choose one of %s", string(f), names(Formats()))
	}
	return nil
}

// Options say how a result is read. The zero value is usable.
type Options struct {
	Format Format // empty is Auto
	Name   string // of the run; empty is the file's name without its ending
	// HlogUnit is what a histogram log counts in: time.Nanosecond (also when it
	// is zero), time.Microsecond or time.Millisecond.
	HlogUnit time.Duration
	// Location is where local times in the output were local; nil is UTC.
	Location *time.Location
	// Modified stands in for the end of the run where the source does not tell
	// when it was: the time of the file's last change. Zero is 1970.
	Modified time.Time
	Tool     result.Tool // the importing tool

	merged mergedRun // that the content is of, out of a merged log
}

// Result is a foreign result in our schema.
type Result struct {
	Run       result.Run
	Intervals []result.Interval
	Events    []result.Event

	histograms []hdrEntry // of a histogram log, in the order of their start
}

// ErrFormat is wrapped by errors about a content that is none of the formats.
var ErrFormat = errors.New("not a result that can be imported")

// maxBytes bounds a file. The largest that anybody has seen, a histogram log of
// a day, has a tenth of it.
const maxBytes = 256 << 20

// Read reads a file. It holds one run, but for a histogram log that was merged of
// several runs of ours, which holds all of these. Faults name the file and the
// line, and all of a file's are reported at once where one does not hide the next.
func Read(path string, o Options) ([]*Result, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, fmt.Errorf("cannot read a result: %w", err)
	case info.IsDir():
		return nil, fmt.Errorf("%s is a folder; name a file in it", path)
	case info.Size() > maxBytes:
		return nil, fmt.Errorf("%s has %d bytes, and a result of more than %d is not read", path, info.Size(), maxBytes)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read a result: %w", err)
	}
	if o.Modified.IsZero() {
		o.Modified = info.ModTime()
	}
	return ParseAll(path, content, o)
}

// Parse reads a content that holds one run; path is for its messages and for the
// name.
func Parse(path string, content []byte, o Options) (*Result, error) {
	all, err := ParseAll(path, content, o)
	switch {
	case err != nil:
		return nil, err
	case len(all) > 1:
		return nil, fmt.Errorf("%s: it holds %d runs, and one is wanted", path, len(all))
	}
	return all[0], nil
}

// ParseAll reads a content as Read does.
func ParseAll(path string, content []byte, o Options) ([]*Result, error) {
	if o.Format == "" || o.Format == Auto {
		found, err := detect(content)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		o.Format = found
	}
	if err := o.Format.Check(); err != nil {
		return nil, err
	}
	parts := []mergedRun{{content: content}}
	if o.Format == HdrLog {
		merged, err := mergedRuns(content)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if len(merged) > 0 {
			parts = merged
		}
	}
	var all []*Result
	var faults []error
	for _, part := range parts {
		r, err := parse(path, part, o.named(path, part, len(parts)))
		all, faults = append(all, r), append(faults, err)
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	return all, nil
}

// named are the options of one of so many runs of a file. A run of a merged log has
// the name that it had; of several, a name that was asked for comes before it.
func (o Options) named(path string, part mergedRun, of int) Options {
	own := part.name
	if own == "" {
		base := filepath.Base(path)
		own = strings.TrimSuffix(base, filepath.Ext(base))
	}
	switch {
	case o.Name == "":
		o.Name = own
	case of > 1:
		o.Name += "-" + own
	}
	o.merged = part
	return o
}

// parse reads the content of one run.
func parse(path string, part mergedRun, o Options) (*Result, error) {
	readers := map[Format]func(*draft, []byte) error{
		SSP: readSSP, ProducerPerf: readProducerPerf, ConsumerPerf: readConsumerPerf, OMB: readOMB, HdrLog: readHdrLog,
	}
	d := newDraft(path, o)
	if err := readers[o.Format](d, part.content); err != nil {
		return nil, err
	}
	return d.finish(), nil
}

func names(formats []Format) string {
	var all []string
	for _, f := range formats {
		all = append(all, string(f))
	}
	return strings.Join(all, ", ")
}

// Known takes fields off the list of what the run cannot say, for a caller who
// knows more of it than its file did and has filled them in.
func (r *Result) Known(paths ...string) {
	imported := r.Run.Run.Imported
	imported.CannotSay = slices.DeleteFunc(imported.CannotSay,
		func(open string) bool { return slices.Contains(paths, open) })
}

// Save writes the run's folder below outDir and returns it.
func (r *Result) Save(outDir string) (dir string, err error) {
	w, err := result.Create(outDir, r.Run.Run.Name, r.Run.Run.StartedAt)
	if err != nil {
		return "", err
	}
	if err := r.write(w); err != nil {
		return "", errors.Join(err, w.Discard())
	}
	return w.Dir(), nil
}

func (r *Result) write(w *result.Writer) error {
	for _, i := range r.Intervals {
		if err := w.Interval(i); err != nil {
			return err
		}
	}
	for _, e := range r.Events {
		if err := w.Event(e); err != nil {
			return err
		}
	}
	log := latency.NewLogWriter(w.HistogramLog(), r.Run.Run.StartedAt)
	for _, e := range r.histograms {
		h, err := e.histogram()
		if err != nil {
			return err // not reached: it was read before
		}
		if err := log.Write(e.start, e.end, e.tag, h); err != nil {
			return err
		}
	}
	r.Run.Run.ID = w.ID()
	return w.Finish(r.Run)
}
