package foreign

import (
	"errors"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"kafkabench.example/kafka-bench/internal/result"
)

// readConsumerPerf reads the table of kafka-consumer-perf-test: a header and a row of totals, or
// with --show-detailed-stats a row for each interval. It has no latencies. Before Kafka 2.0 the
// table had no columns from rebalance.time.ms on. With these columns the measured window begins
// when the consumer has its partitions, as in our runs.
func readConsumerPerf(d *draft, content []byte) error {
	t, err := d.consumerTable(content, consumerTotals, consumerDetailed, consumerTotals[:consumerOlder],
		consumerDetailed[:consumerOlder])
	if err != nil {
		return err
	}
	d.Run.Run.Driver = result.Driver{Name: "kafka-consumer-perf-test"}
	d.Run.Consumer = result.Consumer{Members: 1, Workers: 1}
	d.tells("consumer.members", "consumer.workers")
	if t.columns[0] == consumerDetailed[0] {
		err = t.intervals(d)
	} else {
		err = t.totals(d)
	}
	d.warn("records are counted and not checked; a record that is missing or comes twice shows nowhere")
	return t.finish(d, err)
}

// readShareConsumerPerf reads the table of kafka-share-consumer-perf-test: a header and a row of
// totals of the share group, after rows of single consumers if they were asked for.
func readShareConsumerPerf(d *draft, content []byte) error {
	t, err := d.consumerTable(content, shareConsumerTotals)
	if err != nil {
		return err
	}
	d.Run.Run.Driver = result.Driver{Name: "kafka-share-consumer-perf-test"}
	if n := len(t.consumers); n > 0 {
		d.Run.Consumer = result.Consumer{Members: n, Workers: n}
		d.tells("consumer.members", "consumer.workers")
		d.warn("the figures of its single consumers are left out")
	}
	err = t.totals(d)
	d.warn("a share group may deliver a record more than once; each delivery is counted, and none is checked")
	return t.finish(d, err)
}

func (t *consumerTable) finish(d *draft, err error) error {
	d.tells("delivery.checked", "delivery.delivered", "delivery.delivered_per_s", "delivery.bytes")
	d.warn("it reads what is there already, as fast as it can: its rate is a closed loop's, and it has no latency")
	for _, warning := range t.warnings {
		d.condemn("the tool gave up: %s", warning)
	}
	if d.Run.Delivery.Delivered == 0 {
		d.condemn("no record was read")
	}
	return err
}

type consumerTable struct {
	columns   []string
	separator string // of the columns
	rows      []consumerRow
	consumers map[string]bool // of a share group, by number
	warnings  []string        // of the tool itself
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
	shareConsumerTotals = []string{"start.time", "end.time", "data.consumed.in.MB", "MB.sec", "nMsg.sec",
		"data.consumed.in.nMsg", "fetch.time.ms"}
)

const consumerOlder = 6

// The tool got fewer records than requested.
const consumerGivesUp = "WARNING: Exiting before consuming"

// consumerDate matches the time of a row with the default --date-format at the end of a cell. A log
// may put a prefix in front of it.
var consumerDate = regexp.MustCompile(afterPrefix + `(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d:\d{3})$`)

// shareConsumerRow matches a row of a single consumer of a share group.
var shareConsumerRow = regexp.MustCompile(`Share consumer (\d+) .*consumption metrics- |for share consumer (\d+)$`)

const consumerTime = "2006-01-02 15:04:05.000"

func isConsumerHeader(line string) bool {
	return strings.Contains(line, "data.consumed.in.") && strings.Contains(line, "nMsg.sec")
}

func (d *draft) consumerTable(content []byte, known ...[]string) (*consumerTable, error) {
	t := &consumerTable{consumers: make(map[string]bool)}
	var faults []error
	for number, line := range textLines(content) {
		_, rest, givesUp := strings.Cut(line, consumerGivesUp)
		switch m := shareConsumerRow.FindStringSubmatch(line); {
		case givesUp:
			t.warnings = append(t.warnings, consumerGivesUp+rest)
		case m != nil:
			t.consumers[m[1]+m[2]] = true
		case strings.Contains(line, "data.consumed."):
			faults = append(faults, t.header(d, number, line, known))
		case t.columns != nil:
			faults = append(faults, t.row(d, number, line))
		}
	}
	err := errors.Join(faults...)
	switch {
	case err != nil:
		return nil, err
	case t.columns == nil:
		return nil, d.fault(1,
			"there is no header of %s; run it without --hide-header, which leaves out what is needed to read it",
			d.options.Format.tool())
	case len(t.rows) == 0:
		return nil, d.fault(lastLine(content),
			"the output ends without a row of figures: the tool did not come to its end")
	case t.columns[0] == consumerTotals[0] && len(t.rows) > 1:
		return nil, d.fault(t.rows[1].line, "there is a second row of totals; give each run a file of its own")
	}
	return t, nil
}

// header finds the columns after a log's prefix. If a comma and a blank separate them, a comma in a
// number is a decimal comma.
func (t *consumerTable) header(d *draft, number int, line string, known [][]string) error {
	t.separator = ","
	if strings.Contains(line, ", ") {
		t.separator = ", "
	}
	cells := splitCells(line, t.separator)
	cells[0] = cells[0][1+strings.LastIndexAny(cells[0], " \t]|>:"):]
	if !slices.ContainsFunc(known, func(columns []string) bool { return slices.Equal(columns, cells) }) {
		return d.fault(number, "the columns are not those of %s: %s; copy the header as it was printed",
			d.options.Format.tool(), shorten(strings.Join(cells, ", ")))
	}
	t.columns = cells
	return nil
}

func splitCells(line, separator string) []string {
	cells := strings.Split(line, separator)
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	return cells
}

// row adds a row of figures, and skips other lines. Commas in a log's prefix come before the row's
// own cells.
func (t *consumerTable) row(d *draft, number int, line string) error {
	cells := splitCells(line, t.separator)
	first := slices.IndexFunc(cells, consumerDate.MatchString)
	switch {
	case first < 0:
		return nil
	case len(cells)-first != len(t.columns):
		return d.fault(number,
			"the row has %d columns where the header has %d; copy the row whole, with its commas as they were printed",
			len(cells)-first, len(t.columns))
	}
	cells = cells[first:]
	cells[0] = consumerDate.FindStringSubmatch(cells[0])[1]
	t.rows = append(t.rows, consumerRow{number, cells})
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
	v, err := decimal(row.cells[at])
	switch {
	case err != nil:
		return 0, d.fault(row.line, "%s: %w", column, err)
	case math.Abs(v) > 1<<53:
		return 0, d.fault(row.line, "%s: %v is too large", column, v)
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
	records, megabytes, perSecond, joiningMs, fetchPerSecond float64
}

func (t *consumerTable) figures(d *draft, row consumerRow) (f consumerFigures, err error) {
	var faults []error
	for _, want := range []struct {
		column string
		into   *float64
	}{
		{"data.consumed.in.nMsg", &f.records}, {"data.consumed.in.MB", &f.megabytes}, {"nMsg.sec", &f.perSecond},
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
	case !slices.Contains(t.columns, "rebalance.time.ms"):
		joining, perSecond = 0, f.perSecond
		d.warn("joining the group is in its rate: it is not told apart")
	case joining < 0 || joining >= end.Sub(start) || perSecond <= 0 && f.records > 0:
		d.warn("joining the group took %.0f ms of its %v, as it says, which leaves none for reading (some versions count it wrongly): the rate is over the whole run", f.joiningMs, end.Sub(start))
		joining, perSecond = 0, f.perSecond
	default:
		d.warn("joining the group took %v of its %v and is its warm-up here; with it the rate is %s", joining,
			end.Sub(start), unitPerSecond(f.perSecond))
	}
	d.Run.Delivery = result.Delivery{Delivered: count(f.records), DeliveredPerS: perSecond,
		Bytes: mebibytes(f.megabytes)}
	if joining > 0 {
		d.phase("warm-up", -int64(joining), 0)
	}
	length := end.Sub(start) - joining
	if byTime := f.records / length.Seconds(); length > 0 && math.Abs(perSecond-byTime) > byTime/100+0.1 {
		return d.fault(row.line, "%v records in %v are %s, and the row says %s: it is cut, or a number was changed",
			f.records, length, unitPerSecond(byTime), unitPerSecond(perSecond))
	}
	d.phase("measure", 0, int64(length))
	d.Run.Run.StartedAt, d.lengthS = start.Add(joining), length.Seconds()
	d.tells("intervals.start_ns", "intervals.end_ns", "intervals.delivered")
	d.Intervals = []result.Interval{{EndNs: int64(length), Phase: "measure", Delivered: count(f.records),
		DeliveredBytes: &d.Run.Delivery.Bytes}}
	return nil
}

// Records after the last row are missing.
func (t *consumerTable) intervals(d *draft) error {
	var faults []error
	var start, last time.Time
	var before consumerFigures
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
		case f.records < before.records:
			faults = append(faults, d.fault(row.line, "data.consumed.in.nMsg: it falls from %v to %v", before.records,
				f.records))
		}
		bytes := mebibytes(f.megabytes - before.megabytes)
		d.Intervals = append(d.Intervals, result.Interval{
			StartNs: int64(last.Sub(start)), EndNs: int64(end.Sub(start)), Phase: "measure",
			Delivered: count(f.records - before.records), DeliveredBytes: &bytes,
		})
		last, before = end, f
	}
	length := last.Sub(start)
	d.Run.Delivery.Delivered, d.Run.Delivery.Bytes = count(before.records), mebibytes(before.megabytes)
	if length > 0 {
		d.Run.Delivery.DeliveredPerS = before.records / length.Seconds()
	}
	d.phase("measure", 0, int64(length))
	d.Run.Run.StartedAt, d.lengthS = start, length.Seconds()
	d.warn("this form of its output has no totals: what was read after its last row, and joining the group, cannot be told")
	return errors.Join(faults...)
}
