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

// LogEntry is one line of a histogram log: one histogram of an interval of the run's time axis.
type LogEntry struct {
	Start, End time.Duration
	Tag        string
	// Histogram has the recorded counts. The format keeps no clamped values, and only the slot of
	// the minimum.
	Histogram *Histogram
}

// maxLineBytes is more than twice a histogram with a count in each slot.
const maxLineBytes = 1 << 20

// ReadLog reads a LogWriter's log, entry by entry. It skips a last line without its end, which a crash may leave.
// Another mistake ends the sequence with an error that names the line.
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

// LogLines reads a log line by line, also while it is being written. The zero value is at the beginning of a log.
type LogLines struct {
	number     int
	measuredAt time.Duration
}

// Next reads the next line, without its end. ok is false for a line of the head. An error names the line.
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

// The tag is optional: "Tag=tag,start,length,max,histogram".
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

func parseSeconds(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text + "s")
	if err != nil {
		return 0, fmt.Errorf("%q is not a number of seconds", text)
	}
	return d, nil
}
