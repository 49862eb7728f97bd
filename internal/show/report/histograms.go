package report

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"kafkabench.example/kafka-bench/internal/measure/latency"
	"kafkabench.example/kafka-bench/internal/plan/textfile"
	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/figure"
	"kafkabench.example/kafka-bench/internal/show/layout"
)

// Histograms holds each tag's values from the histogram logs of runs, added up over
// the intervals. It is their JSON document.
type Histograms struct {
	Head
	Runs []RunHistograms `json:"runs"`
}

// RunHistograms are the tags of one run's log. A tag is a metric, or "warmup_" and
// a metric (see latency.Tag); the two books are never added up.
type RunHistograms struct {
	Dir  string      `json:"dir"`
	ID   string      `json:"id"`
	Name string      `json:"name"`
	Tags []TagValues `json:"tags"`
	// Differences lists where the log differs from run.json by more than the
	// resolution of a histogram. The log of a crashed run may differ.
	Differences []string `json:"differences"`

	run *result.Recorded
}

// TagValues are all values of one tag.
type TagValues struct {
	Tag string `json:"tag"`
	// StartNs and EndNs bound the tag's book on the run's time axis. The measured
	// book begins with the measured window, at 0. Both books end with the last
	// interval that has a value of any of their tags.
	StartNs int64 `json:"start_ns"`
	EndNs   int64 `json:"end_ns"`
	// Time has only the percentiles that the count supports.
	Time SupportedTime `json:"time"`

	values    result.Time
	histogram *latency.Histogram
}

// ReadHistograms reads histograms.hlog of each run, once.
func ReadHistograms(runs []*result.Recorded) (*Histograms, error) {
	h := &Histograms{Head: NewHead(KindHistograms, nil), Runs: []RunHistograms{}}
	for _, r := range h.once(runs) {
		read, err := readHistograms(r)
		if err != nil {
			return nil, err
		}
		h.Runs = append(h.Runs, *read)
	}
	return h, nil
}

func readHistograms(r *result.Recorded) (*RunHistograms, error) {
	path := filepath.Join(r.Dir, result.HistogramsFile)
	f, err := result.OpenOS(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s has no %s: there are no histograms to read", r.Dir, result.HistogramsFile)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read histograms: %w", err)
	}
	defer f.Close()
	h := &RunHistograms{Dir: r.Dir, ID: r.Run.Run.ID, Name: r.Run.Run.Name, Tags: []TagValues{}, run: r}
	for entry, err := range latency.ReadLog(f) {
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if err := h.add(entry); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	if i := r.Run.Run.Imported; i != nil && len(h.Tags) == 0 {
		return nil, fmt.Errorf("%s has no histograms to read: it was imported from %s (%s), which has none", r.Dir,
			i.File, i.Format)
	}
	slices.SortStableFunc(h.Tags, func(a, b TagValues) int { return tagOrder(a.Tag) - tagOrder(b.Tag) })
	for i := range h.Tags {
		t := &h.Tags[i]
		t.values = result.TimeOf(t.histogram.Distribution())
		t.Time = supportedTime(t.values,
			figure.Independent(&r.Run, strings.TrimPrefix(t.Tag, warmupTag), t.values.Count))
	}
	h.bound()
	h.Differences = h.disagreements()
	return h, nil
}

// bound gives all tags of a book the same start and end, because a tag may have its first value
// long after its book began.
func (h *RunHistograms) bound() {
	for _, warmup := range []bool{false, true} {
		var tags []*TagValues
		start, end := int64(0), int64(0)
		for i := range h.Tags {
			if t := &h.Tags[i]; strings.HasPrefix(t.Tag, warmupTag) == warmup {
				tags, end = append(tags, t), max(end, t.EndNs)
				if warmup {
					start = min(start, t.StartNs)
				}
			}
		}
		for _, t := range tags {
			t.StartNs, t.EndNs = start, end
		}
	}
}

// maxTags is several times the number of all metrics.
const maxTags = 100

func (h *RunHistograms) add(entry latency.LogEntry) error {
	i := slices.IndexFunc(h.Tags, func(t TagValues) bool { return t.Tag == entry.Tag })
	if textfile.Line(entry.Tag) != entry.Tag {
		return fmt.Errorf("the log has the tag %q, which no run's has", entry.Tag)
	}
	if i < 0 && len(h.Tags) == maxTags {
		return fmt.Errorf("the log has more than %d tags, which no run's has", maxTags)
	}
	if i < 0 {
		i = len(h.Tags)
		h.Tags = append(h.Tags, TagValues{Tag: entry.Tag, StartNs: int64(entry.Start),
			histogram: latency.NewHistogram()})
	}
	t := &h.Tags[i]
	t.StartNs, t.EndNs = min(t.StartNs, int64(entry.Start)), max(t.EndNs, int64(entry.End))
	t.histogram.Merge(entry.Histogram)
	return nil
}

const warmupTag = "warmup_"

func tagOrder(tag string) int {
	metric, warmup := strings.CutPrefix(tag, warmupTag)
	order := slices.Index(result.TimeMetrics, metric)
	if order < 0 {
		order = len(result.TimeMetrics)
	}
	if warmup {
		order += 2 * len(result.TimeMetrics)
	}
	return order
}

// SupportedTime is a result.Time as documents have it: a percentile is null if
// fewer than ten values lie beyond it.
type SupportedTime struct {
	Count    int64   `json:"count"`
	MinNs    int64   `json:"min_ns"`
	MeanNs   float64 `json:"mean_ns"`
	StddevNs float64 `json:"stddev_ns"`
	MADNs    *int64  `json:"mad_ns"`
	P50Ns    *int64  `json:"p50_ns"`
	P75Ns    *int64  `json:"p75_ns"`
	P90Ns    *int64  `json:"p90_ns"`
	P95Ns    *int64  `json:"p95_ns"`
	P99Ns    *int64  `json:"p99_ns"`
	P995Ns   *int64  `json:"p99_5_ns"`
	P999Ns   *int64  `json:"p99_9_ns"`
	P9999Ns  *int64  `json:"p99_99_ns"`
	MaxNs    int64   `json:"max_ns"`
	// Negative and OutOfRange are those of result.Time.
	Negative   int64 `json:"negative,omitempty"`
	OutOfRange int64 `json:"out_of_range,omitempty"`
}

func supportedTime(t result.Time, independent int64) SupportedTime {
	s := SupportedTime{Count: t.Count, MinNs: t.MinNs, MeanNs: t.MeanNs, StddevNs: t.StddevNs, MADNs: t.MADNs, MaxNs: t.MaxNs,
		Negative: t.Negative, OutOfRange: t.OutOfRange}
	for key, place := range map[string]**int64{
		"p50": &s.P50Ns, "p75": &s.P75Ns, "p90": &s.P90Ns, "p95": &s.P95Ns,
		"p99": &s.P99Ns, "p99_5": &s.P995Ns, "p99_9": &s.P999Ns, "p99_99": &s.P9999Ns,
	} {
		statistic := statistics[slices.IndexFunc(statistics, func(of statistic) bool { return of.Key == key })]
		if statistic.supported(independent) {
			ns := int64(statistic.Ns(t))
			*place = &ns
		}
	}
	return s
}

// resolution is the width of a histogram's slot, relative to its values.
const resolution = 1.0 / 1024

func (h *RunHistograms) disagreements() []string {
	found := []string{}
	if !h.run.Run.Finished() {
		return append(found, "the run did not finish: run.json has no figures to agree with")
	}
	for _, metric := range result.TimeMetrics {
		recorded, inRun := h.run.Run.Time[metric]
		i := slices.IndexFunc(h.Tags, func(t TagValues) bool { return t.Tag == metric })
		switch {
		case !inRun || recorded.Count == 0:
			continue
		case i < 0:
			found = append(found, fmt.Sprintf("%s: the log has none of its %s values", metric,
				unit.Count(recorded.Count)))
			continue
		}
		if text := disagreement(&h.Tags[i], recorded); text != "" {
			found = append(found, metric+": "+text)
		}
	}
	return found
}

// disagreement describes the first figure that differs. Unlike run.json, the log does not count
// values that had not ended. A negative minimum in run.json counts as 0, because the log's format
// cannot hold one.
func disagreement(log *TagValues, run result.Time) string {
	if log.values.Count != run.Count {
		return fmt.Sprintf("the log has %s values, run.json %s", unit.Count(log.values.Count), unit.Count(run.Count))
	}
	for _, s := range statistics {
		if s.AtLeast(run) || !s.Taken(run) {
			continue
		}
		a, b := s.Ns(log.values), max(s.Ns(run), 0)
		if s.Percentile > 0 {
			ns, _ := log.histogram.Among(s.Percentile, nil, run.NotEnded, 0)
			a = float64(ns)
		}
		if math.Abs(a-b) > b*resolution+1 {
			return fmt.Sprintf("%s is %s in the log and %s in run.json", s.name, unit.Nanos(int64(a)),
				unit.Nanos(int64(b)))
		}
	}
	return ""
}

// Write writes the summary in the format of o.
func (h *Histograms) Write(w io.Writer, o Options) error {
	return Forms{Head: h.Head, Text: h.text, Markdown: h.markdown, Sheets: Sheets{"histograms": h.table},
		Sheet: "histograms", Document: h}.Write(w, o)
}

func (h *Histograms) text(w io.Writer, o Options) error {
	p := layout.NewPage(o.Width, o.Colour)
	for i, r := range h.Runs {
		if i > 0 {
			p.Line()
		}
		p.Line(p.Paint(layout.Bold, r.Name), "  ", r.ID, "  ", filepath.Join(r.Dir, result.HistogramsFile))
		if len(r.Tags) == 0 {
			p.Line("  it holds no values")
		}
		for _, book := range r.books() {
			p.Heading(book.name, "")
			printDistributions(p, book.times)
			if thin(book.times) {
				p.Line("  ", unsupported)
			}
		}
		p.Line()
		if len(r.Differences) == 0 {
			p.Line("The log agrees with run.json, within the resolution of a histogram (0.1 %).")
		}
		for _, text := range r.Differences {
			p.Item(layout.Yellow, text)
		}
	}
	return p.Print(w)
}

type book struct {
	name  string
	times []distribution
}

func (r *RunHistograms) books() (all []book) {
	measured, warmup := book{name: "Measured"}, book{name: "Warm-up"}
	for _, t := range r.Tags {
		if metric, ok := strings.CutPrefix(t.Tag, warmupTag); ok {
			warmup.times = append(warmup.times, distributionOf(&r.run.Run, metric, t.values))
			continue
		}
		measured.times = append(measured.times, distributionOf(&r.run.Run, t.Tag, t.values))
	}
	for _, b := range []book{measured, warmup} {
		if len(b.times) > 0 {
			all = append(all, b)
		}
	}
	return all
}

func (h *Histograms) markdown(w io.Writer) error {
	m := &layout.Markdown{}
	for i, r := range h.Runs {
		if i > 0 {
			m.Line()
		}
		m.Line("### ", layout.Prose(r.Name), " ", layout.Code(r.ID))
		for _, book := range r.books() {
			m.Paragraph("**", book.name, "**")
			markdownDistributions(m, book.times)
		}
		if len(r.Differences) == 0 {
			m.Paragraph("The log agrees with run.json, within the resolution of a histogram (0.1 %).")
		}
		var items []string
		for _, text := range r.Differences {
			items = append(items, "⚠️ "+layout.Prose(text))
		}
		m.List(items)
	}
	return m.Print(w)
}

func (h *Histograms) table() layout.Table {
	s := layout.Table{Rows: [][]string{{"run", "name", "tag", "start_ns", "end_ns", "count",
		"highest_supported_percentile"}}}
	for _, statistic := range statistics {
		s.Rows[0] = append(s.Rows[0], statistic.Key+"_ns")
	}
	for _, r := range h.Runs {
		for _, t := range r.Tags {
			d := distributionOf(&r.run.Run, strings.TrimPrefix(t.Tag, warmupTag), t.values)
			row := []string{r.ID, r.Name, t.Tag, integer(t.StartNs), integer(t.EndNs), integer(d.Count),
				highest(d.independent)}
			for _, statistic := range statistics {
				cell := ""
				if statistic.supported(d.independent) {
					cell = layout.Raw(statistic.Ns(d.Time))
				}
				row = append(row, cell)
			}
			s.Add(row...)
		}
	}
	return s
}

// MergedTag returns the name of a run's tag in a merged log.
func MergedTag(r *result.Recorded, tag string) string {
	name := strings.Map(func(c rune) rune {
		if c == ',' || c <= ' ' {
			return '-'
		}
		return c
	}, r.Run.Run.Name)
	return name + "-" + r.Run.Run.ID + "_" + tag
}

// WriteMerged writes one histogram log with a line for each run and tag, in the order of time.
// HistogramLogProcessor reads it with -tag.
func (h *Histograms) WriteMerged(w io.Writer) error {
	type line struct {
		tag        string
		start, end time.Duration
		histogram  *latency.Histogram
	}
	var lines []line
	var base time.Time
	for _, r := range h.Runs {
		if at := r.run.Run.Run.StartedAt; base.IsZero() || at.Before(base) {
			base = at
		}
	}
	for _, r := range h.Runs {
		after := r.run.Run.Run.StartedAt.Sub(base)
		for _, t := range r.Tags {
			lines = append(lines, line{MergedTag(r.run, t.Tag), after + time.Duration(t.StartNs),
				after + time.Duration(t.EndNs), t.histogram})
		}
	}
	slices.SortStableFunc(lines, func(a, b line) int { return int(min(max(a.start-b.start, -1), 1)) })
	log := latency.NewLogWriter(w, base)
	for _, l := range lines {
		if err := log.Write(l.start, l.end, l.tag, l.histogram); err != nil {
			return err
		}
	}
	return nil
}
