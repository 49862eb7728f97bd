package latency

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// LogWriter writes histograms as an HdrHistogram interval log (version 1.3, V2 compressed payloads), a line for each
// interval and tag. Java's HistogramLogProcessor and plotters based on it can read it.
//
// The processor drops lines before the log's StartTime, and times cannot be negative. But the warm-up is before the
// zero of the run's axis. So StartTime is the start of the first written interval, and line times count from there. A
// comment that other tools skip has the start of the measured window:
//
//	#[MeasuredStart: 3.000000000 (seconds after StartTime)]
//
// The Interval_Max column is in milliseconds by convention; the histograms count nanoseconds.
//
// Each line is one Write. A LogWriter is not synchronised.
type LogWriter struct {
	w       io.Writer
	base    time.Time
	encoder encoder
	line    []byte

	started bool
	start   time.Duration // of the first interval, on the run's axis
}

// NewLogWriter returns a writer of a log. base is the wall-clock time of the zero of the run's axis.
func NewLogWriter(w io.Writer, base time.Time) *LogWriter {
	return &LogWriter{w: w, base: base}
}

// Write appends one histogram for the interval [start, end) on the run's axis. The first call fixes StartTime; no
// later interval may start before it. An empty or nil histogram writes no line.
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

// WriteInterval appends all histograms of an interval, with the tags of Tag.
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

// Java's readers use StartTime and BaseTime, in seconds since the epoch, and the column legend.
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

const measuredStart = "#[MeasuredStart: "

func seconds(d time.Duration) string {
	sign := ""
	if d < 0 {
		sign, d = "-", -d
	}
	return fmt.Sprintf("%s%d.%09d", sign, d/time.Second, d%time.Second)
}
