package foreign

import (
	"errors"
	"regexp"
	"strconv"
	"strings"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
)

// The lines of kafka-producer-perf-test. Every few seconds it prints
//
//	49932 records sent, 9984.4 records/sec (4.88 MB/sec), 1.9 ms avg latency, 215.0 ms max latency.
//
// and at the end
//
//	300000 records sent, 9995.002499 records/sec (4.88 MB/sec), 1.42 ms avg latency, 318.00 ms max
//	latency, 1 ms 50th, 3 ms 95th, 21 ms 99th, 90 ms 99.9th.
//
// With warm-up records there is a second such line of the "steady state", and in newer versions the
// line "In steady state." where the warm-up ended. A log may put a prefix in front of each line.
var (
	producerLine = regexp.MustCompile(afterPrefix + `(\d+)( steady state)? records sent, (\S+) records/sec \((\S+) MB/sec\), (\S+) ms avg latency, (\S+) (?:ms )?max latency(.*)$`)
	producerTail = regexp.MustCompile(`^, (\d+) ms 50th, (\d+) ms 95th, (\d+) ms 99th, (\d+) ms 99\.9th\.$`)
	steadyLine   = "In steady state."
	warmupLine   = regexp.MustCompile(afterPrefix + `Warmup first (\d+) records\.`)
	failureLine  = regexp.MustCompile(`^(?:\S+\s+\|\s+)?((?:org\.apache\.kafka\.|java\.)[\w.$]*(?:Exception|Error)\b.*)$`)
)

type producerRow struct {
	line          int
	steady        bool
	records       int64
	perSecond     float64
	mbPerSecond   float64 // of 2^20 bytes, with two decimals
	meanMs, maxMs float64
	percentiles   [4]float64 // p50, p95, p99, p99.9, in milliseconds
	isTotal       bool
}

func (r producerRow) lengthNs() int64 {
	if r.perSecond == 0 {
		return 0
	}
	return nanos(float64(r.records)/r.perSecond, 1e9)
}

// bytes is 0 if the figure is too small for its two decimals.
func (r producerRow) bytes() int64 { return mebibytes(r.mbPerSecond * float64(r.lengthNs()) / 1e9) }

func mebibytes(n float64) int64 { return count(n * (1 << 20)) }

// newProducerOutput: an output ends with its line of totals, or with a second one of the steady
// state. What failed is printed before the totals.
func newProducerOutput() func(line string) bool {
	ended := false
	return func(line string) bool {
		m := producerLine.FindStringSubmatch(line)
		begins := ended && (m != nil && m[2] == "" || warmupLine.MatchString(line) || failureLine.MatchString(line))
		ended = ended && !begins
		if m != nil {
			ended = producerTail.MatchString(m[7])
		}
		return begins
	}
}

// readProducerPerf reads the output of kafka-producer-perf-test. Its latency is from the call of
// send to the callback: a service time, in whole milliseconds. If a send blocks, the tool sends
// later records late and measures them from their late send.
func readProducerPerf(d *draft, content []byte) error {
	out, err := d.producerOutput(content)
	if err != nil {
		return err
	}
	total := out.total
	d.lengthS = float64(total.lengthNs()) / 1e9
	d.Run.Load = result.Load{
		Scheduled: total.records, Admitted: total.records, Acked: total.records,
		OfferedPerS: total.perSecond, AckedPerS: total.perSecond, Errors: out.failures, Bytes: total.bytes(),
	}
	d.tells("load.acked", "load.acked_per_s")
	if total.bytes() > 0 || total.records == 0 {
		d.tells("load.bytes")
	}
	for _, n := range out.failures {
		d.Run.Load.Failed += n
		d.Run.Load.Admitted, d.Run.Load.Scheduled = d.Run.Load.Admitted+n, d.Run.Load.Scheduled+n
	}
	if total.records == 0 {
		d.condemn("no record was acknowledged")
	}
	d.metric("send_service_time", result.Time{
		Count: total.records, MeanNs: float64(nanos(total.meanMs, 1e6)), MaxNs: nanos(total.maxMs, 1e6),
		P50Ns: nanos(total.percentiles[0], 1e6), P95Ns: nanos(total.percentiles[1], 1e6),
		P99Ns: nanos(total.percentiles[2], 1e6), P999Ns: nanos(total.percentiles[3], 1e6),
	}, "count", "mean_ns", "max_ns", "p50_ns", "p95_ns", "p99_ns", "p99_9_ns")
	d.Run.Run.Driver = result.Driver{Name: "kafka-producer-perf-test"}
	out.series(d)
	d.producerCaveats(out)
	return nil
}

type producerOutput struct {
	rows     []producerRow // of intervals
	whole    producerRow   // the first line of totals: of all records
	total    producerRow   // of the measured records
	warmup   int64         // in no figure of total
	steadyAt int           // line of the warm-up's end, or 0
	failures result.Counts
}

func (d *draft) producerOutput(content []byte) (*producerOutput, error) {
	out := &producerOutput{failures: result.Counts{}}
	var faults []error
	for number, line := range textLines(content) {
		if m := warmupLine.FindStringSubmatch(line); m != nil {
			out.warmup, _ = strconv.ParseInt(m[1], 10, 64) // an int64's limit if larger
		}
		if strings.HasSuffix(line, steadyLine) {
			out.steadyAt = number
		}
		if m := failureLine.FindStringSubmatch(line); m != nil {
			out.failures[m[1]]++
		}
		if !strings.Contains(line, "records sent,") {
			continue // Kafka's log, or the table of --print-metrics
		}
		row, err := d.producerRow(number, line)
		switch {
		case err != nil:
			faults = append(faults, err)
		case row.isTotal: // the last one counts: after a warm-up, that of the steady state
			if !out.whole.isTotal {
				out.whole = row
			}
			out.total = row
		default:
			out.rows = append(out.rows, row)
		}
	}
	if len(faults) == 0 && !out.total.isTotal {
		faults = append(faults, d.fault(lastLine(content),
			"the output ends without its line of totals (… ms 50th, … ms 99.9th.): the tool did not come to its end"))
	}
	if len(faults) == 0 {
		faults = append(faults, out.alone(d))
	}
	if !out.total.steady {
		out.warmup = 0
	}
	return out, errors.Join(faults...)
}

// alone returns an error if the lines are of several outputs, as of producers that write to one
// file, or of one that was killed before another began.
func (out *producerOutput) alone(d *draft) error {
	var records int64
	for _, row := range out.rows {
		records += row.records
		if records > out.whole.records || row.maxMs > out.whole.maxMs+1 {
			return d.fault(row.line, "up to here the lines have %s records and a maximum of %v ms, and the totals of line %d have %s and %v ms: they are of several outputs; give each a file of its own",
				thousands(records), row.maxMs, d.line(out.whole.line), thousands(out.whole.records), out.whole.maxMs)
		}
	}
	return nil
}

func (d *draft) producerRow(number int, line string) (producerRow, error) {
	m := producerLine.FindStringSubmatch(line)
	if m == nil {
		return producerRow{}, d.fault(number,
			"%q is not a whole line of kafka-producer-perf-test; copy it whole, or remove it", shorten(line))
	}
	row := producerRow{line: number, steady: m[2] != ""}
	var err error
	if row.records, err = strconv.ParseInt(m[1], 10, 64); err != nil {
		return producerRow{}, d.fault(number, "%q is too large a number of records", m[1])
	}
	figures := []*float64{&row.perSecond, &row.mbPerSecond, &row.meanMs, &row.maxMs}
	texts := []string{m[3], m[4], m[5], m[6]}
	if t := producerTail.FindStringSubmatch(m[7]); t != nil {
		row.isTotal = true
		texts = append(texts, t[1:]...)
		for i := range row.percentiles {
			figures = append(figures, &row.percentiles[i])
		}
	} else if m[7] != "." {
		return producerRow{}, d.fault(number, "%q is not the end of a line of kafka-producer-perf-test", shorten(m[7]))
	}
	for i, text := range texts {
		if text == "NaN" { // Java's quotient of nothing
			continue
		}
		if *figures[i], err = decimal(text); err != nil {
			return producerRow{}, d.fault(number, "%w", err)
		}
	}
	if row.records > 0 && row.perSecond == 0 {
		return producerRow{}, d.fault(number, "%d records at 0 records/sec", row.records)
	}
	return row, nil
}

// The tool does not print the intervals' times. The warm-up ends at zero.
func (out *producerOutput) series(d *draft) {
	d.tells("intervals.start_ns", "intervals.end_ns", "intervals.acked", "intervals.time.count",
		"intervals.time.max_ns")
	warm, warmNs := out.warm()
	if out.warmup > 0 {
		d.phase("warm-up", -warmNs, 0)
	}
	length := out.total.lengthNs()
	d.phase("measure", 0, length)
	at := -warmNs
	left := out.total.records
	for n, row := range out.rows {
		phase := "measure"
		if n < warm {
			phase = "warm-up"
		} else {
			left -= row.records
		}
		d.Intervals = append(d.Intervals, row.interval(phase, at, at+row.lengthNs()))
		at += row.lengthNs()
	}
	if at < length && left > 0 { // records without an interval line
		d.Intervals = append(d.Intervals, result.Interval{StartNs: at, EndNs: length, Phase: "measure", Acked: left})
	}
}

// warm is the number of rows of the warm-up, and their length.
func (out *producerOutput) warm() (rows int, ns int64) {
	var records int64
	for _, row := range out.rows {
		records += row.records
		if out.steadyAt > 0 && row.line > out.steadyAt || out.steadyAt == 0 && records > out.warmup {
			break
		}
		ns += row.lengthNs()
		rows++
	}
	return rows, ns
}

func (r producerRow) interval(phase string, start, end int64) result.Interval {
	var acked *int64
	if bytes := r.bytes(); bytes > 0 {
		acked = &bytes
	}
	return result.Interval{
		AckedBytes: acked,
		StartNs:    start, EndNs: end, Phase: phase, Acked: r.records,
		Time: map[string]result.IntervalTime{"send_service_time": {Count: r.records, MaxNs: nanos(r.maxMs, 1e6)}},
	}
}

// percentileSamples is how many latencies the tool keeps.
const percentileSamples = 500_000

func (d *draft) producerCaveats(out *producerOutput) {
	d.warn("its latency begins when send is called: it is a service time, and what a record waited before because an earlier send blocked is in no figure (coordinated omission)")
	d.warn("whether a load was to be offered it does not say; --throughput is a ceiling, and what stays below it is counted nowhere")
	d.warn("its times are whole milliseconds; one below a millisecond is printed as 0")
	switch total := out.total; {
	case total.bytes() > 0:
		d.warn("its bytes are its MB/sec, which has two decimals, times its length: within %s", unit.ShortPercent(0.005/total.mbPerSecond))
	case total.records > 0:
		d.warn("its bytes are not known: 0.00 MB/sec is too few for two decimals")
	}
	if out.total.records > percentileSamples {
		d.warn("its percentiles are of %s of the %s records, its mean and maximum of all",
			thousands(percentileSamples), thousands(out.total.records))
	}
	placed := ""
	if len(out.rows) > 0 {
		placed = "; its interval lines were put one after another"
	}
	if out.warmup > 0 {
		d.warn("the first %s records, its warm-up, are in no figure%s", thousands(out.warmup), placed)
	} else {
		d.warn("there is no warm-up: connecting, the first batches and the JVM's compiling are in the figures%s", placed)
	}
	if len(out.failures) > 0 {
		d.warn("sends failed: %s exceptions were printed; a failed send has no latency", thousands(d.Run.Load.Failed))
	}
}
