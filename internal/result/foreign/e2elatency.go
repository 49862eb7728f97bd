package foreign

import (
	"bytes"
	"errors"
	"regexp"
	"strconv"
	"strings"

	"kafkabench.example/kafka-bench/internal/result"
)

// The lines of kafka-e2e-latency (EndToEndLatency), the same since Kafka 0.8.2: for every 1,000th
// record its number from 0 and its milliseconds, and at the end
//
//	Avg latency: 4.6202 ms
//	Percentiles: 50th = 4, 99th = 12, 99.9th = 49
var (
	e2eProgress    = regexp.MustCompile(afterPrefix + `(\d+000|0)\s+(\d\S*)$`)
	e2eMean        = regexp.MustCompile(afterPrefix + `Avg latency: (\S+) ms$`)
	e2ePercentiles = regexp.MustCompile(afterPrefix + `Percentiles: 50th = (\d+), 99th = (\d+), 99\.9th = (\d+)$`)
)

// newE2EOutput: an output ends with its percentiles.
func newE2EOutput() func(line string) bool {
	ended := false
	return func(line string) bool {
		ends := e2ePercentiles.MatchString(line)
		begins := ended && (ends || e2eProgress.MatchString(line) || e2eMean.MatchString(line))
		ended = ended && !begins || ends
		return begins
	}
}

type e2eOutput struct {
	meanMs      float64
	meanAt      int   // its line
	percentiles []int // p50, p99, p99.9 in whole milliseconds
	atLeast     int64 // records, by the progress
	progressAt  int   // the line of the latest progress
}

// readE2ELatency reads the output of kafka-e2e-latency: it sends a record, waits for the ack, polls
// until it has the record, and then sends the next. The time is from before the send until the poll
// has returned.
func readE2ELatency(d *draft, content []byte) error {
	out, err := d.e2eOutput(content)
	if err != nil {
		return err
	}
	ms := func(n int) int64 { return nanos(float64(n), 1e6) }
	d.Run.Load.ClosedLoop = true
	d.Run.Run.Driver = result.Driver{Name: "kafka-e2e-latency"}
	d.metric("e2e_service_time", result.Time{
		MeanNs: float64(nanos(out.meanMs, 1e6)), P50Ns: ms(out.percentiles[0]),
		P99Ns: ms(out.percentiles[1]), P999Ns: ms(out.percentiles[2]),
	}, "mean_ns", "p50_ns", "p99_ns", "p99_9_ns")
	d.tells("load.closed_loop")
	d.lengthS = float64(out.atLeast) * out.meanMs / 1e3
	d.warn("it sends one record at a time and waits for it: a closed loop, whose time has no waiting behind other records")
	d.warn("its percentiles are whole milliseconds, rounded down; one below a millisecond is printed as 0")
	if !bytes.HasSuffix(content, []byte("\n")) {
		d.warn("its last line has no line end: if it was cut, its last percentile is too low")
	}
	if out.atLeast > 0 {
		d.warn("how many records it sent is not in its output: at least %s, by its progress", thousands(out.atLeast))
	} else {
		d.warn("how many records it sent is not in its output")
	}
	return nil
}

func (d *draft) e2eOutput(content []byte) (*e2eOutput, error) {
	out := &e2eOutput{}
	var faults []error
	for number, line := range textLines(content) {
		switch mean, percentiles, progress := e2eMean.FindStringSubmatch(line), e2ePercentiles.FindStringSubmatch(line),
			e2eProgress.FindStringSubmatch(line); {
		case mean != nil && out.meanAt > 0:
			faults = append(faults, d.fault(number,
				"there is a second average, after that of line %d; give each run a file of its own", d.line(out.meanAt)))
		case mean != nil:
			v, err := decimal(mean[1])
			if err != nil {
				faults = append(faults, d.fault(number, "%w", err))
			}
			out.meanMs, out.meanAt = v, number
		case percentiles != nil:
			for _, text := range percentiles[1:] {
				n, err := strconv.Atoi(text)
				if err != nil {
					faults = append(faults, d.fault(number, "%s is too large a number", text))
				}
				out.percentiles = append(out.percentiles, n)
			}
		case progress != nil:
			faults = append(faults, out.progress(d, number, progress[1]))
		case strings.Contains(line, "Percentiles: ") || strings.Contains(line, "Avg latency: "):
			faults = append(faults, d.fault(number, "%q is not a whole line of kafka-e2e-latency; copy it whole, or remove it",
				shorten(line)))
		}
	}
	if len(out.percentiles) == 0 || out.meanAt == 0 {
		faults = append(faults, d.fault(lastLine(content),
			"the output is not whole: it needs the lines \"Avg latency: …\" and \"Percentiles: …\""))
	}
	return out, errors.Join(faults...)
}

func (out *e2eOutput) progress(d *draft, number int, text string) error {
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return d.fault(number, "%s is too large a number of a record", text)
	}
	if out.progressAt > 0 && n < out.atLeast {
		return d.fault(number,
			"record %d comes after record %d of line %d: these are several outputs; give each a file of its own",
			n, out.atLeast-1, d.line(out.progressAt))
	}
	out.atLeast, out.progressAt = n+1, number
	return nil
}
