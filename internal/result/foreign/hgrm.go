package foreign

import (
	"errors"
	"math"
	"regexp"
	"strconv"
	"strings"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
)

// HdrHistogram's table of percentiles (.hgrm) has a header, rows of value, percentile from 0 to 1,
// cumulative count and 1/(1-percentile), and, unless it is CSV, the mean, the standard deviation,
// the maximum and the total count in its last lines.
var (
	hgrmMoments = regexp.MustCompile(`^#\[Mean\s*=\s*(\S+), StdDeviation\s*=\s*(\S+)\]$`)
	hgrmTotals  = regexp.MustCompile(`^#\[Max\s*=\s*(\S+), Total count\s*=\s*(\d+)\]$`)
)

func isHgrmHeader(line string) bool {
	return strings.Contains(line, "Percentile") && strings.Contains(line, "TotalCount")
}

type hgrmRow struct {
	value, percentile float64
	count             int64
}

type hgrmTable struct {
	rows              []hgrmRow
	mean, deviation   float64
	moments           bool
	max               float64
	total             int64
	totalsAt, rowLine int
}

// readHgrm gives the times the name of the file, as readHdrLog does without a tag.
func readHgrm(d *draft, content []byte) error {
	scale := float64(d.options.HlogUnit)
	if scale == 0 {
		return d.fault(1, "the table does not say its unit; say it with --hlog-unit ns, us or ms")
	}
	t, err := d.hgrmTable(content)
	if err != nil {
		return err
	}
	last := t.rows[len(t.rows)-1]
	v := result.Time{Count: last.count, MaxNs: nanos(last.value, scale)}
	told := []string{"count", "max_ns"}
	for _, p := range []struct {
		field string
		part  float64
		into  *int64
	}{
		{"p50_ns", 0.5, &v.P50Ns}, {"p75_ns", 0.75, &v.P75Ns}, {"p90_ns", 0.9, &v.P90Ns}, {"p95_ns", 0.95, &v.P95Ns},
		{"p99_ns", 0.99, &v.P99Ns}, {"p99_5_ns", 0.995, &v.P995Ns}, {"p99_9_ns", 0.999, &v.P999Ns},
		{"p99_99_ns", 0.9999, &v.P9999Ns},
	} {
		*p.into = nanos(t.at(p.part), scale)
		told = append(told, p.field)
	}
	if first := t.rows[0]; first.percentile == 0 {
		v.MinNs = nanos(first.value, scale)
		told = append(told, "min_ns")
	}
	if t.moments {
		v.MeanNs, v.StddevNs = t.mean*scale, t.deviation*scale
		told = append(told, "mean_ns", "stddev_ns")
	}
	metric := d.metricOf("")
	d.metric(metric, v, told...)
	if last.count == 0 {
		d.condemn("it counts no value")
	}
	d.warn("a table of percentiles has only times: no rates, no books, no configuration, and not how long it was measured")
	d.warn("a percentile between two rows is that of the next row, so that none is too low")
	d.warn("whether its times begin when a record was due or when it was sent, and whether a warm-up is among them, depends on the tool that wrote it")
	return nil
}

// at returns the value of the first row at or above a percentile.
func (t *hgrmTable) at(percentile float64) float64 {
	for _, row := range t.rows {
		if row.percentile >= percentile {
			return row.value
		}
	}
	return t.rows[len(t.rows)-1].value
}

func (d *draft) hgrmTable(content []byte) (*hgrmTable, error) {
	t := &hgrmTable{}
	var faults []error
	for number, line := range textLines(content) {
		var err error
		switch moments, totals := hgrmMoments.FindStringSubmatch(line), hgrmTotals.FindStringSubmatch(line); {
		case moments != nil:
			var err2 error
			t.mean, err = decimal(moments[1])
			t.deviation, err2 = decimal(moments[2])
			t.moments, err = true, errors.Join(err, err2)
		case totals != nil:
			t.max, err = decimal(totals[1])
			t.total, _ = strconv.ParseInt(totals[2], 10, 64) // an int64's limit if larger
			t.totalsAt = number
		case line == "" || line[0] == '#' || strings.HasPrefix(line, "```") || isHgrmHeader(line):
		default:
			err = t.row(number, line)
		}
		if err != nil {
			faults = append(faults, d.fault(number, "%w", err))
		}
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	return t, t.whole(d, content)
}

func (t *hgrmTable) row(number int, line string) error {
	cells := strings.Fields(line)
	if len(cells) == 1 {
		cells = strings.Split(line, ",")
	}
	if len(cells) != 3 && len(cells) != 4 {
		return errors.New("a row has value, percentile, count and 1/(1-percentile)")
	}
	var row hgrmRow
	var err, err2, err3 error
	row.value, err = decimal(cells[0])
	row.percentile, err2 = decimal(cells[1])
	row.count, err3 = strconv.ParseInt(cells[2], 10, 64)
	if err := errors.Join(err, err2, err3); err != nil {
		return err
	}
	if row.value < 0 || row.percentile < 0 || row.percentile > 1 || row.count < 0 {
		return errors.New("a value or count below 0, or a percentile that is not between 0 and 1, cannot be")
	}
	if n := len(t.rows); n > 0 {
		before := t.rows[n-1]
		if row.value < before.value || row.percentile < before.percentile || row.count < before.count {
			return errors.New("the row falls below the one before; is it a second table? Give each a file of its own")
		}
	}
	t.rows, t.rowLine = append(t.rows, row), number
	return nil
}

func (t *hgrmTable) whole(d *draft, content []byte) error {
	if len(t.rows) == 0 {
		return d.fault(lastLine(content), "the table ends without a row")
	}
	last := t.rows[len(t.rows)-1]
	switch {
	case last.percentile != 1:
		return d.fault(t.rowLine, "the table ends at the percentile %v and not at 1: it is cut", last.percentile)
	case t.totalsAt > 0 && (t.total != last.count || math.Abs(t.max-last.value) > t.max/100):
		return d.fault(t.totalsAt, "it says %s values and a maximum of %v, and the last row says %s and %v",
			unit.Count(t.total), t.max, unit.Count(last.count), last.value)
	}
	return nil
}
