package foreign

import (
	"bytes"
	"fmt"
	"strings"
)

// A text of the JSON formats is in results of one format only.
var jsonSigns = []struct {
	format Format
	any    []string
}{
	{SSP, []string{`"ack_latency_ms"`, `"lag_timeline"`, `"sysperf_timeline"`}},
	{OMB, []string{`"publishRate"`, `"aggregatedPublishLatencyAvg"`, `"aggregatedPublishLatencyQuantiles"`}},
}

// lineSigns are searched in each line, in this order.
var lineSigns = []struct {
	format Format
	any    []string
}{
	{HdrLog, []string{"#[Histogram log format", `"StartTimestamp","Interval_Length"`, ",HIST"}},
	{ShareConsumerPerf, []string{"MB.sec, nMsg.sec, data.consumed.in.nMsg"}},
	{ConsumerPerf, []string{"start.time, end.time, data.consumed", "time, threadId, data.consumed"}},
	{Hgrm, []string{"TotalCount 1/(1-Percentile)", `"Value","Percentile","TotalCount"`}},
	{E2ELatency, []string{"Percentiles: 50th = "}},
	{ProducerPerf, []string{" records sent, "}},
}

// lookedAt bounds the search, in bytes. Only a JSON object whose first key has a long list needs so
// much.
const lookedAt = 4 << 20

// detect refuses results of several formats in one file: one of them would be lost.
func detect(path string, content []byte) (Format, error) {
	head := content[:min(len(content), lookedAt)]
	for _, s := range jsonSigns {
		for _, text := range s.any {
			if bytes.Contains(head, []byte(text)) {
				return s.format, nil
			}
		}
	}
	var found Format
	for number, line := range textLines(head) {
		switch format := formatOf(line); {
		case format == "" || format == found:
		case found == "":
			found = format
		default:
			return "", fmt.Errorf("%s:%d: here begins a result of %s after one of %s; give each a file of its own",
				path, number, format, found)
		}
	}
	switch {
	case found != "":
		return found, nil
	case len(bytes.TrimSpace(content)) == 0:
		return "", fmt.Errorf("%s: %w: it is empty", path, ErrFormat)
	}
	return "", fmt.Errorf("%s: %w: it shows the marks of none of %s; if it is one of them, say so with --format",
		path, ErrFormat, names(Formats()[1:]))
}

func formatOf(line string) Format {
	for _, s := range lineSigns {
		for _, text := range s.any {
			if strings.Contains(line, text) {
				return s.format
			}
		}
	}
	return ""
}
