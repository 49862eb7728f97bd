package foreign

import (
	"bytes"
	"fmt"
)

// Each text is in results of one format only. detect searches in this order.
var signs = []struct {
	format Format
	any    []string
}{
	{SSP, []string{`"ack_latency_ms"`, `"lag_timeline"`, `"sysperf_timeline"`}},
	{OMB, []string{`"publishRate"`, `"aggregatedPublishLatencyAvg"`, `"aggregatedPublishLatencyQuantiles"`}},
	{HdrLog, []string{"#[Histogram log format", `"StartTimestamp","Interval_Length"`, ",HISTF"}},
	{ConsumerPerf, []string{"start.time, end.time, data.consumed", "time, threadId, data.consumed"}},
	{ProducerPerf, []string{" records sent, "}},
}

// lookedAt bounds the search, in bytes. Only a JSON object whose first key has a long list needs so
// much.
const lookedAt = 4 << 20

func detect(content []byte) (Format, error) {
	head := content[:min(len(content), lookedAt)]
	for _, s := range signs {
		for _, text := range s.any {
			if bytes.Contains(head, []byte(text)) {
				return s.format, nil
			}
		}
	}
	if len(bytes.TrimSpace(content)) == 0 {
		return "", fmt.Errorf("%w: it is empty", ErrFormat)
	}
	return "", fmt.Errorf("%w: it shows the marks of none of %s; if it is one of them, say so with --format",
		ErrFormat, names(Formats()[1:]))
}
