// Package foreign converts results of other tools to runs of our schema, to report them and to
// compare them with ours.
//
// Each reader gives a figure the name of its real meaning: a "latency" that begins when a record is
// sent is a service time. Figures that the source lacks are null or absent; fields that cannot be
// null are named in [result.Imported]'s CannotSay. Known errors of the source become warnings of
// the run.
//
// An imported run is never valid: our rules did not judge it. Its status is "imported", or
// "invalid" if its figures contradict each other or its tool reported a failure; comparisons take
// figures from "imported" runs and say so.
//
// A content is decoded and freed of terminal codes and control characters before it is read, and
// then split into the outputs of single runs.
//
// Files to know: foreign.go, text.go, parts.go, a file for each format.
package foreign

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"kafkabench.example/kafka-bench/internal/measure/latency"
	"kafkabench.example/kafka-bench/internal/plan/textfile"
	"kafkabench.example/kafka-bench/internal/result"
)

// Format is a format of other tools' results.
type Format string

// Formats, by their names on the command line.
const (
	Auto              Format = "auto"                // detected from the content
	SSP               Format = "ssp"                 // SSP Kafka Bench's JSON
	ProducerPerf      Format = "producer-perf"       // output of kafka-producer-perf-test
	ConsumerPerf      Format = "consumer-perf"       // output of kafka-consumer-perf-test
	ShareConsumerPerf Format = "share-consumer-perf" // output of kafka-share-consumer-perf-test
	E2ELatency        Format = "e2e-latency"         // output of kafka-e2e-latency (EndToEndLatency)
	OMB               Format = "omb"                 // the OpenMessaging Benchmark's JSON
	HdrLog            Format = "hlog"                // an HdrHistogram interval log
	Hgrm              Format = "hgrm"                // HdrHistogram's table of percentiles
)

// Formats returns all formats, Auto first.
func Formats() []Format {
	return []Format{Auto, SSP, ProducerPerf, ConsumerPerf, ShareConsumerPerf, E2ELatency, OMB, HdrLog, Hgrm}
}

// Choices returns the names of the formats but Auto, for help.
func Choices() string {
	return strings.ReplaceAll(names(Formats()[1:]), ", "+string(Hgrm), " or "+string(Hgrm))
}

// Check returns an error that names the formats unless f is one of them.
func (f Format) Check() error {
	if !slices.Contains(Formats(), f) {
		return fmt.Errorf("there is no format %q; choose one of %s", string(f), names(Formats()))
	}
	return nil
}

// tool is the name of Kafka's tool that prints the format.
func (f Format) tool() string { return "kafka-" + string(f) + "-test" }

// Options are the options for a result. The zero value is usable.
type Options struct {
	Format Format // empty is Auto
	Name   string // of the run; default: the file's name without extension
	// HlogUnit is the unit of a histogram's values: time.Nanosecond, time.Microsecond or
	// time.Millisecond. Zero is nanoseconds for a log; a table of percentiles needs it.
	HlogUnit time.Duration
	// Location is the location of local times in the output; nil is UTC.
	Location *time.Location
	// Modified is the end of a run without times: the file's modification time. Zero is 1970.
	Modified time.Time
	Tool     result.Tool // the importing tool

	part part
}

// Result is another tool's result in our schema.
type Result struct {
	Run       result.Run
	Intervals []result.Interval
	Events    []result.Event

	histograms []hdrEntry // of a histogram log, by start
}

// ErrFormat reports a content of an unknown format.
var ErrFormat = errors.New("not a result that can be imported")

// maxBytes is about ten times a histogram log of a day.
const maxBytes = 256 << 20

// Read reads a file. A file has several runs if outputs of one tool follow one another, or if it is
// a merged log of our runs. Errors name the file and the line; independent errors are reported
// together.
func Read(path string, o Options) ([]*Result, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, fmt.Errorf("cannot read a result: %w", err)
	case info.IsDir():
		return nil, fmt.Errorf("%s is a folder; name a file in it", textfile.Line(path))
	case info.Size() > maxBytes:
		return nil, fmt.Errorf("%s has %d bytes, and a result of more than %d is not read", textfile.Line(path), info.Size(), maxBytes)
	}
	content, err := readAtMost(path, maxBytes+1)
	if err != nil {
		return nil, fmt.Errorf("cannot read a result: %w", err)
	}
	if len(content) > maxBytes { // of a pipe or a device
		return nil, fmt.Errorf("%s: a result of more than %d bytes is not read", textfile.Line(path), maxBytes)
	}
	if o.Modified.IsZero() {
		o.Modified = info.ModTime()
	}
	return ParseAll(path, content, o)
}

func readAtMost(path string, bytes int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, bytes))
}

// Parse reads a content with one run; path is for errors and the run's name.
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

// ParseAll is Read for a content.
func ParseAll(path string, content []byte, o Options) ([]*Result, error) {
	path = textfile.Line(path)
	content, err := readable(path, content)
	if err != nil {
		return nil, err
	}
	if o.Format == "" || o.Format == Auto {
		if o.Format, err = detect(path, content); err != nil {
			return nil, err
		}
	}
	if err := o.Format.Check(); err != nil {
		return nil, err
	}
	parts, err := partsOf(o.Format, content)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var all []*Result
	var faults []error
	for _, p := range parts {
		r, err := parse(path, p.content, o.named(path, p, len(parts)))
		all, faults = append(all, r), append(faults, err)
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	return all, nil
}

// A run of a merged log keeps its name, and other runs of one file are numbered. If there are
// several runs, Options.Name is a prefix.
func (o Options) named(path string, p part, of int) Options {
	o.part = p
	own := p.name
	if own == "" {
		base := filepath.Base(path)
		own = strings.TrimSuffix(base, filepath.Ext(base))
		if p.number > 0 {
			own += "-" + strconv.Itoa(p.number)
			if o.Name != "" {
				own = strconv.Itoa(p.number)
			}
		}
	}
	switch {
	case o.Name == "":
		o.Name = own
	case of > 1:
		o.Name += "-" + own
	}
	return o
}

func parse(path string, content []byte, o Options) (*Result, error) {
	readers := map[Format]func(*draft, []byte) error{
		SSP: readSSP, ProducerPerf: readProducerPerf, ConsumerPerf: readConsumerPerf,
		ShareConsumerPerf: readShareConsumerPerf, E2ELatency: readE2ELatency, OMB: readOMB, HdrLog: readHdrLog,
		Hgrm: readHgrm,
	}
	d := newDraft(path, o)
	if err := readers[o.Format](d, content); err != nil {
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

// Known removes paths from CannotSay, for a caller that filled in these fields.
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
			return err // not reached: it was decoded before
		}
		if err := log.Write(e.start, e.end, e.tag, h); err != nil {
			return err
		}
	}
	r.Run.Run.ID = w.ID()
	return w.Finish(r.Run)
}
