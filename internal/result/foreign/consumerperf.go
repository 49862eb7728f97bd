package foreign

import (
	"errors"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"kafkabench.example/kafka-bench/internal/result"
)

// readConsumerPerf reads the table of kafka-consumer-perf-test: a header and a row of totals, or
// with --show-detailed-stats a row for each interval. It has no latencies. Before Kafka 2.0 the
// table had no columns from rebalance.time.ms on. With these columns the measured window begins
// when the consumer has its partitions, as in our runs.
func readConsumerPerf(d *draft, content []byte) error {
	t, err := d.consumerTable(content)
	if err != nil {
		return err
	}
	d.Run.Run.Driver = result.Driver{Name: "kafka-consumer-perf-test"}
	d.Run.Consumer = result.Consumer{Members: 1, Workers: 1}
	d.tells("consumer.members", "consumer.workers", "delivery.checked", "delivery.delivered",
		"delivery.delivered_per_s")
	if t.detailed {
		err = t.intervals(d)
	} else {
		err = t.totals(d)
	}
	d.warn("it reads what is there already, as fast as it can: its rate is a closed loop's, and it has no latency")
	d.warn("records are counted and not checked; a record that is missing or comes twice shows nowhere")
	for _, warning := range t.warnings {
		d.condemn("the tool gave up: %s", warning)
	}
	return err
}

type consumerTable struct {
	detailed bool
	columns  []string
	rows     []consumerRow
	warnings []string // of the tool itself
}

type consumerRow struct {
	line  int
	cells []string
}

// Older versions have only the first six columns.
var (
	consumerTotals = []string{"start.time", "end.time", "data.consumed.in.MB", "MB.sec", "data.consumed.in.nMsg",
		"nMsg.sec", "rebalance.time.ms", "fetch.time.ms", "fetch.MB.sec", "fetch.nMsg.sec"}
	consumerDetailed = []string{"time", "threadId", "data.consumed.in.MB", "MB.sec", "data.consumed.in.nMsg",
		"nMsg.sec", "rebalance.time.ms", "fetch.time.ms", "fetch.MB.sec", "fetch.nMsg.sec"}
)

const consumerOlder = 6

// The tool got fewer records than requested.
const consumerGivesUp = "WARNING: Exiting before consuming"

// consumerDate matches a row with the default --date-format.
var consumerDate = regexp.MustCompile(`^\d{4}-\d\d-\d\d `)

const consumerTime = "2006-01-02 15:04:05.000"

func (d *draft) consumerTable(content []byte) (*consumerTable, error) {
	t := &consumerTable{}
	var faults []error
	for number, line := range textLines(content) {
		cells := splitCells(line)
		switch {
		case strings.HasPrefix(line, consumerGivesUp):
			t.warnings = append(t.warnings, line)
		case cells[0] == consumerTotals[0] || cells[0] == consumerDetailed[0] && len(cells) > 1:
			if err := t.header(d, number, cells); err != nil {
				faults = append(faults, err)
			}
		case t.columns != nil && consumerDate.MatchString(line):
			if len(cells) != len(t.columns) {
				faults = append(faults,
					d.fault(number, "the row has %d columns where the header has %d; decimals must have a point, as in 12.5", len(cells), len(t.columns)))
				continue
			}
			t.rows = append(t.rows, consumerRow{number, cells})
		}
	}
	if len(faults) == 0 && t.columns == nil {
		faults = append(faults, d.fault(1,
			"there is no header of kafka-consumer-perf-test; --hide-header leaves out what is needed to read it"))
	}
	if len(faults) == 0 && len(t.rows) == 0 {
		faults = append(faults, d.fault(1+strings.Count(string(content), "\n"),
			"the output ends without a row of figures: the tool did not come to its end"))
	}
	if len(faults) == 0 && !t.detailed && len(t.rows) > 1 {
		faults = append(faults, d.fault(t.rows[1].line,
			"there is a second row of totals; give each run a file of its own"))
	}
	return t, errors.Join(faults...)
}

func splitCells(line string) []string {
	cells := strings.Split(line, ",")
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	return cells
}

func (t *consumerTable) header(d *draft, number int, cells []string) error {
	want := consumerTotals
	if t.detailed = cells[0] == consumerDetailed[0]; t.detailed {
		want = consumerDetailed
	}
	if t.columns != nil {
		return d.fault(number, "there is a second header; give each run a file of its own")
	}
	if !slices.Equal(cells, want) && !slices.Equal(cells, want[:consumerOlder]) {
		return d.fault(number, "the columns are not those of kafka-consumer-perf-test: %s",
			shorten(strings.Join(cells, ", ")))
	}
	t.columns = cells
	return nil
}

// zero if there is no such column
func (t *consumerTable) cell(d *draft, row consumerRow, column string) (float64, error) {
	at := slices.Index(t.columns, column)
	if at < 0 {
		return 0, nil
	}
	if text := row.cells[at]; text == "NaN" || text == "Infinity" {
		return 0, nil // Java's quotient for a time of zero
	}
	v, err := strconv.ParseFloat(row.cells[at], 64)
	if err != nil || math.IsNaN(v) || math.Abs(v) > 1<<53 {
		return 0, d.fault(row.line, "%s: %q is not a number", column, row.cells[at])
	}
	return v, nil
}

// Java prints milliseconds after a colon.
func (t *consumerTable) when(d *draft, row consumerRow, column string) (time.Time, error) {
	text := row.cells[slices.Index(t.columns, column)]
	if at := strings.LastIndexByte(text, ':'); at >= 0 {
		text = text[:at] + "." + text[at+1:]
	}
	location := d.options.Location
	if location == nil {
		location = time.UTC
	}
	v, err := time.ParseInLocation(consumerTime, text, location)
	if err != nil {
		return time.Time{}, d.fault(row.line, "%s: %q is not a time as in 2026-11-21 20:15:00:123", column,
			row.cells[slices.Index(t.columns, column)])
	}
	return v, nil
}

type consumerFigures struct {
	records, perSecond, joiningMs, fetchPerSecond float64
}

func (t *consumerTable) figures(d *draft, row consumerRow) (f consumerFigures, err error) {
	var faults []error
	for _, want := range []struct {
		column string
		into   *float64
	}{
		{"data.consumed.in.nMsg", &f.records}, {"nMsg.sec", &f.perSecond},
		{"rebalance.time.ms", &f.joiningMs}, {"fetch.nMsg.sec", &f.fetchPerSecond},
	} {
		v, err := t.cell(d, row, want.column)
		faults = append(faults, err)
		*want.into = v
	}
	if f.records < 0 {
		faults = append(faults, d.fault(row.line, "data.consumed.in.nMsg: %v cannot be: it must be 0 or above",
			f.records))
	}
	return f, errors.Join(faults...)
}

func (t *consumerTable) totals(d *draft) error {
	row := t.rows[0]
	start, startErr := t.when(d, row, "start.time")
	end, endErr := t.when(d, row, "end.time")
	f, err := t.figures(d, row)
	if err := errors.Join(startErr, endErr, err); err != nil {
		return err
	}
	if end.Before(start) {
		return d.fault(row.line, "end.time is before start.time")
	}
	joining := time.Duration(nanos(f.joiningMs, 1e6))
	perSecond := f.fetchPerSecond
	switch {
	case len(t.columns) == consumerOlder:
		joining, perSecond = 0, f.perSecond
		d.warn("joining the group is in its rate: this version does not tell it apart")
	case joining < 0 || joining >= end.Sub(start) || perSecond <= 0 && f.records > 0:
		d.warn("joining the group took %.0f ms of its %v, as it says, which leaves none for reading (some versions count it wrongly): the rate is over the whole run", f.joiningMs, end.Sub(start))
		joining, perSecond = 0, f.perSecond
	default:
		d.warn("joining the group took %v of its %v and is its warm-up here; with it the rate is %s", joining,
			end.Sub(start), unitPerSecond(f.perSecond))
	}
	d.Run.Delivery = result.Delivery{Delivered: count(f.records), DeliveredPerS: perSecond}
	if joining > 0 {
		d.phase("warm-up", -int64(joining), 0)
	}
	length := end.Sub(start) - joining
	d.phase("measure", 0, int64(length))
	d.Run.Run.StartedAt, d.lengthS = start.Add(joining), length.Seconds()
	d.tells("intervals.start_ns", "intervals.end_ns", "intervals.delivered")
	d.Intervals = []result.Interval{{StartNs: 0, EndNs: int64(length), Phase: "measure", Delivered: count(f.records)}}
	return nil
}

// Records after the last row are missing.
func (t *consumerTable) intervals(d *draft) error {
	var faults []error
	var start, last time.Time
	var before float64
	d.tells("intervals.start_ns", "intervals.end_ns", "intervals.delivered")
	for n, row := range t.rows {
		end, timeErr := t.when(d, row, "time")
		f, err := t.figures(d, row)
		thread, threadErr := t.cell(d, row, "threadId")
		if err := errors.Join(timeErr, err, threadErr); err != nil {
			faults = append(faults, err)
			continue
		}
		if n == 0 {
			start = end
			if f.perSecond > 0 {
				start = end.Add(-time.Duration(nanos(f.records/f.perSecond, 1e9)))
			}
			last = start
		}
		switch {
		case thread != 0:
			faults = append(faults, d.fault(row.line, "threadId: %v; only the output of one thread can be read",
				thread))
		case end.Before(last):
			faults = append(faults, d.fault(row.line, "time: it goes back"))
		case f.records < before:
			faults = append(faults, d.fault(row.line, "data.consumed.in.nMsg: it falls from %v to %v", before,
				f.records))
		}
		d.Intervals = append(d.Intervals, result.Interval{
			StartNs: int64(last.Sub(start)), EndNs: int64(end.Sub(start)), Phase: "measure",
			Delivered: count(f.records - before),
		})
		last, before = end, f.records
	}
	length := last.Sub(start)
	d.Run.Delivery.Delivered = count(before)
	if length > 0 {
		d.Run.Delivery.DeliveredPerS = before / length.Seconds()
	}
	d.phase("measure", 0, int64(length))
	d.Run.Run.StartedAt, d.lengthS = start, length.Seconds()
	d.warn("this form of its output has no totals: what was read after its last row, and joining the group, cannot be told")
	return errors.Join(faults...)
}
