package latency

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// LogWriter writes histograms as an HdrHistogram interval log (version 1.3, V2
// compressed payloads), a line for each interval and tag, so that Java's
// HistogramLogProcessor and the plotters built on it read a run as it is.
//
// Two customs of that format shape the file. A line whose time is before the
// log's StartTime is dropped by the processor, and times cannot be negative; but
// a run's time axis has its zero at the start of the measured window, and its
// warm-up before it. So the log's StartTime is the start of the first interval
// that is written, line times count from there, and a comment that other tools
// skip says where the measured window starts:
//
//	#[MeasuredStart: 3.000000000 (seconds after StartTime)]
//
// And the Interval_Max column, which people read and programs do not, is in
// milliseconds by convention, whereas the histograms count nanoseconds.
//
// Every line goes out in one Write. A LogWriter is not synchronised.
type LogWriter struct {
	w       io.Writer
	base    time.Time
	encoder encoder
	line    []byte

	started bool
	start   time.Duration // of the first interval, on the run's time axis
}

// NewLogWriter returns a writer of a log whose run's time axis has its zero, the
// start of the measured window, at the wall-clock time base.
func NewLogWriter(w io.Writer, base time.Time) *LogWriter {
	return &LogWriter{w: w, base: base}
}

// Write appends one histogram for the interval [start, end) of the run's time
// axis. The first call also writes the log's head and fixes its StartTime; a
// later interval must not start before it. An empty or nil histogram leaves
// no line.
func (l *LogWriter) Write(start, end time.Duration, tag string, h *Histogram) error {
	switch {
	case tag == "" || strings.ContainsAny(tag, ", \t\r\n"):
		return fmt.Errorf("histogram log: tag %q: a tag has at least one character, no comma and no white space", tag)
	case end < start:
		return fmt.Errorf("histogram log: interval from %v ends before it starts, at %v", start, end)
	case l.started && start < l.start:
		return fmt.Errorf("histogram log: interval from %v is before the log's first, from %v", start, l.start)
	case h == nil || h.count == 0:
		return nil
	}
	if err := l.writeHead(start); err != nil {
		return err
	}
	payload, err := l.encoder.encode(h)
	if err != nil {
		return fmt.Errorf("histogram log: encode %s: %w", tag, err)
	}
	l.line = fmt.Appendf(l.line[:0], "Tag=%s,%s,%s,%.3f,%s\n",
		tag, seconds(start-l.start), seconds(end-start), float64(h.Max())/1e6, payload)
	if _, err := l.w.Write(l.line); err != nil {
		return fmt.Errorf("histogram log: %w", err)
	}
	return nil
}

// WriteInterval appends all that an interval holds, each metric and book under
// the name that Tag gives it.
func (l *LogWriter) WriteInterval(start, end time.Duration, interval Interval) error {
	for _, measured := range []bool{false, true} {
		for m := range Metric(NumMetrics) {
			if err := l.Write(start, end, Tag(measured, m), interval.Histogram(measured, m)); err != nil {
				return err
			}
		}
	}
	return nil
}

// writeHead writes the lines before the first interval. Readers of Java's know
// three kinds: StartTime and BaseTime (what to add to line times), both in
// seconds since the epoch, and the column legend. The rest is comment.
func (l *LogWriter) writeHead(start time.Duration) error {
	if l.started {
		return nil
	}
	wall := l.base.Add(start).UTC()
	epoch := fmt.Sprintf("%d.%03d", wall.Unix(), wall.Nanosecond()/int(time.Millisecond))
	_, err := fmt.Fprintf(l.w, `#[Times of a Kafka Bench run in nanoseconds; tags are metrics]
#[Histogram log format version 1.3]
#[StartTime: %s (seconds since epoch), %s]
#[BaseTime: %s (seconds since epoch)]
%s%s (seconds after StartTime)]
"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"
`, epoch, wall.Format("2006-01-02T15:04:05.000Z"), epoch, measuredStart, seconds(-start))
	if err != nil {
		return fmt.Errorf("histogram log: head: %w", err)
	}
	l.start, l.started = start, true
	return nil
}

// measuredStart begins the comment that a LogReader finds the run's time axis by.
const measuredStart = "#[MeasuredStart: "

// seconds prints d exactly: seconds with nine decimals.
func seconds(d time.Duration) string {
	sign := ""
	if d < 0 {
		sign, d = "-", -d
	}
	return fmt.Sprintf("%s%d.%09d", sign, d/time.Second, d%time.Second)
}
