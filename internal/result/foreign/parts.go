package foreign

import (
	"bytes"
	"fmt"
)

// A part is the content of one run in a file.
type part struct {
	name, id string // of a run of kafka-bench, in a merged log
	shared   bool   // the header is that of several runs
	content  []byte
	number   int // from 1, if the file has several outputs of a tool
	before   int // lines of the file before the content
}

// maxParts bounds memory: a merged log's parts have as many lines as the log.
const maxParts = 1000

// beginnings has, for each format whose outputs may follow one another in a file, what returns a
// function that reports whether a line begins a further output. The function sees all lines.
var beginnings = map[Format]func() func(line string) bool{
	ProducerPerf:      newProducerOutput,
	ConsumerPerf:      secondHeader(isConsumerHeader),
	ShareConsumerPerf: secondHeader(isConsumerHeader),
	E2ELatency:        newE2EOutput,
	HdrLog:            newHdrLog,
	Hgrm:              secondHeader(isHgrmHeader),
}

func secondHeader(isHeader func(line string) bool) func() func(string) bool {
	return func() func(string) bool {
		seen := false
		return func(line string) bool {
			header := isHeader(line)
			second := header && seen
			seen = seen || header
			return second
		}
	}
}

// partsOf returns the runs in a content, in their order.
func partsOf(format Format, content []byte) ([]part, error) {
	parts := []part{{content: content}}
	if begin := beginnings[format]; begin != nil {
		parts = split(content, begin())
	}
	if n := len(parts); format == ProducerPerf && n > 1 && !bytes.Contains(parts[n-1].content, []byte(" records sent, ")) {
		parts = parts[:n-1] // an exception after the last output
	}
	if len(parts) > 1 {
		for i := range parts {
			parts[i].number = i + 1
		}
	}
	if format == HdrLog {
		var logs []part
		for _, log := range parts {
			runs, err := mergedRuns(log)
			if err != nil {
				return nil, err
			}
			logs = append(logs, runs...)
		}
		parts = logs
	}
	if len(parts) > maxParts {
		return nil, fmt.Errorf("there are more than the %d runs in it that are read", maxParts)
	}
	return parts, nil
}

func split(content []byte, begins func(line string) bool) []part {
	parts := []part{{}}
	start, at := 0, 0
	for number, line := range textLines(content) {
		if begins(line) {
			parts[len(parts)-1].content = content[start:at]
			parts, start = append(parts, part{before: number - 1}), at
		}
		if end := bytes.IndexByte(content[at:], '\n'); end >= 0 {
			at += end + 1
		}
	}
	parts[len(parts)-1].content = content[start:]
	return parts
}

func lastLine(content []byte) int {
	return max(1, bytes.Count(content, []byte("\n"))+1)
}
