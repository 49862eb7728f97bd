package latency

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"
)

// LogEntry is one line of a histogram log: one histogram of one interval of the
// run's time axis, whose zero is the start of the measured window.
type LogEntry struct {
	Start, End time.Duration
	Tag        string
	// Histogram has the counts as they were recorded. The true minimum and the
	// numbers of clamped values are not part of the format: the minimum is that
	// of its slot, and nothing counts as negative or out of range.
	Histogram *Histogram
}

// maxLineBytes bounds a line of a log. A histogram with a count in each slot
// takes less than half of it.
const maxLineBytes = 1 << 20

// ReadLog reads a log that a LogWriter wrote, entry by entry. A last line that
// lacks its end is passed over: it is what a crash leaves of a line that was
// being written. Any other fault ends the sequence with an error that names the
// line.
func ReadLog(r io.Reader) iter.Seq2[LogEntry, error] {
	return func(yield func(LogEntry, error) bool) {
		lines := bufio.NewScanner(r)
		lines.Buffer(nil, maxLineBytes)
		lines.Split(wholeLines)
		var log LogLines
		for lines.Scan() {
			entry, ok, err := log.Next(lines.Bytes())
			if err != nil {
				yield(LogEntry{}, err)
				return
			}
			if ok && !yield(entry, nil) {
				return
			}
		}
		if err := lines.Err(); err != nil {
			yield(LogEntry{}, fmt.Errorf("histogram log: %w", err))
		}
	}
}

// LogLines reads a log line by line, for whoever reads one that is still being written. The
// zero value is at the beginning of a log.
type LogLines struct {
	number     int
	measuredAt time.Duration
}

// Next reads the next line, which comes without its end. It has no entry if it is one of the
// head. An error names the line.
func (l *LogLines) Next(line []byte) (entry LogEntry, ok bool, err error) {
	l.number++
	switch {
	case bytes.HasPrefix(line, []byte(measuredStart)):
		l.measuredAt, err = parseMeasuredStart(string(line))
	case len(line) == 0 || line[0] == '#' || line[0] == '"':
	default:
		entry, err = parseEntry(string(line), l.measuredAt)
		ok = err == nil
	}
	if err != nil {
		return LogEntry{}, false, fmt.Errorf("histogram log: line %d: %w", l.number, err)
	}
	return entry, ok, nil
}

// wholeLines splits as bufio.ScanLines does, without a line that has no end.
func wholeLines(data []byte, atEOF bool) (advance int, token []byte, err error) {
	if atEOF && bytes.IndexByte(data, '\n') < 0 {
		return len(data), nil, nil
	}
	return bufio.ScanLines(data, atEOF)
}

func parseMeasuredStart(line string) (time.Duration, error) {
	value, _, _ := strings.Cut(strings.TrimPrefix(line, measuredStart), " ")
	return parseSeconds(value)
}

// parseEntry reads "Tag=tag,start,length,max,histogram"; the tag may be missing.
func parseEntry(line string, measuredAt time.Duration) (LogEntry, error) {
	var entry LogEntry
	if rest, tagged := strings.CutPrefix(line, "Tag="); tagged {
		entry.Tag, line, _ = strings.Cut(rest, ",")
	}
	fields := strings.Split(line, ",")
	if len(fields) != 4 {
		return LogEntry{}, fmt.Errorf("%d fields after the tag, want start, length, max and histogram", len(fields))
	}
	start, err := parseSeconds(fields[0])
	if err != nil {
		return LogEntry{}, err
	}
	length, err := parseSeconds(fields[1])
	if err != nil {
		return LogEntry{}, err
	}
	entry.Start = start - measuredAt
	entry.End = entry.Start + length
	entry.Histogram, err = decode([]byte(fields[3]))
	return entry, err
}

// parseSeconds reads decimal seconds, to the nanosecond.
func parseSeconds(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text + "s")
	if err != nil {
		return 0, fmt.Errorf("%q is not a number of seconds", text)
	}
	return d, nil
}
