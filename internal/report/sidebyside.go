package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"kafka-bench/internal/result"
	"kafka-bench/internal/unit"
)

// SideBySide writes several runs beside each other: a column for each name of
// a run, with the median and the range where a name was run more than once,
// what the figures show in words, and the lag of each over time on one scale.
func SideBySide(w io.Writer, runs []*result.Recorded, o Options) error {
	p := newPage(o)
	compared := variants(runs)
	for i, block := range blocks(compared, p.width) {
		if i > 0 {
			p.line()
		}
		p.comparison(block)
	}
	p.footnotes(runs)
	p.heading("What it shows", "")
	for _, sentence := range findings(compared) {
		for i, part := range wrap(sentence, p.width-4) {
			p.line([]string{"  - ", "    "}[min(i, 1)], part)
		}
	}
	p.pictures(compared)
	return p.writeTo(w)
}

// comparedRow is one row of the table.
type comparedRow struct {
	label   string
	reading reading
	format  func(float64) string
}

var comparedRows = []comparedRow{
	{"offered", offeredPerS, unit.PerSecond},
	{"scheduled", scheduled, records},
	{"  shed", shed, records},
	{"  shed, of scheduled", shedShare, unit.Percent},
	{"  deferred at the end", deferred, records},
	{"acked", ackedPerS, unit.PerSecond},
	{"delivered", deliveredPerS, unit.PerSecond},
	{"delivered in the end, of scheduled", deliveredPart, unit.Percent},
	{"lost", lostRecords, records},
	{},
	{"consumer lag peak, records", peakLag, records},
	{"  ÷ max_lag", peakLagOfBound, times},
	{"time lag peak", timeLagPeak, nanos},
	{"drained in time", drained, yesNo},
	{},
	{"e2e response p50, admitted", taking("e2e_response_time", "p50"), nanos},
	{"e2e response p90, admitted", taking("e2e_response_time", "p90"), nanos},
	{"e2e response p99, admitted", taking("e2e_response_time", "p99"), nanos},
	{"e2e response p99.9, admitted", taking("e2e_response_time", "p99_9"), nanos},
	{"e2e service p99, admitted", taking("e2e_service_time", "p99"), nanos},
	{"send response p99, admitted", taking("send_response_time", "p99"), nanos},
	{"send service p99, admitted", taking("send_service_time", "p99"), nanos},
	{"consumers busy", utilisation, unit.Percent},
	{"gate closed, of the window", gateClosed, unit.Percent},
}

func records(v float64) string { return unit.Count(int64(v + 0.5)) }
func nanos(v float64) string   { return unit.Nanos(int64(v)) }
func times(v float64) string   { return decimals(v, 2) + " ×" }

// yesNo prints the share of runs that did.
func yesNo(v float64) string {
	if v >= 0.5 {
		return "yes"
	}
	return "no"
}

// comparison is the table of one block of variants.
func (p *page) comparison(block []variant) {
	t := tableOf(block)
	for i, line := range t.lines() {
		if i == 0 {
			line = p.paint(bold, line)
		}
		p.line(strings.ReplaceAll(line, notValid, p.paint(red, notValid)))
	}
	p.line(repeats(block))
}

// tableOf has a row for each figure, and below it one with the range where
// repeats differ.
func tableOf(block []variant) table {
	head, verdicts := []string{""}, []string{"verdict"}
	for _, v := range block {
		head = append(head, v.name)
		verdicts = append(verdicts, verdictOf(v))
	}
	t := table{gap: 3, rows: [][]string{head, verdicts}}
	for _, row := range comparedRows {
		if row.reading == nil {
			if len(t.rows[len(t.rows)-1]) > 0 { // a group that no run has leaves no gap
				t.add()
			}
			continue
		}
		medians, ranges, known, differ := []string{row.label}, []string{""}, false, false
		for _, v := range block {
			s := v.of(row.reading)
			median, extent := cells(s, row.format)
			known = known || s.n > 0
			medians, ranges = append(medians, median), append(ranges, extent)
			differ = differ || extent != ""
		}
		if !known {
			continue // no run has it
		}
		t.add(medians...)
		if differ {
			t.add(ranges...)
		}
	}
	return t
}

// blocks splits variants so that each table keeps within the width.
func blocks(all []variant, width int) [][]variant {
	var split [][]variant
	for _, v := range all {
		last := len(split) - 1
		if last >= 0 && fits(append(slices.Clone(split[last]), v), width) {
			split[last] = append(split[last], v)
			continue
		}
		split = append(split, []variant{v})
	}
	return split
}

func fits(block []variant, width int) bool {
	t := tableOf(block)
	for _, line := range t.lines() {
		if columns(line) > width {
			return false
		}
	}
	return true
}

// cells prints a spread: the median, and the range if there is one.
func cells(s spread, format func(float64) string) (median, extent string) {
	if s.n == 0 {
		return absent, ""
	}
	median = format(s.median)
	low, top := format(s.low), format(s.top)
	if low == top {
		return median, ""
	}
	// The unit is said once where both have the same.
	if number, suffix, found := strings.Cut(low, " "); found && strings.HasSuffix(top, " "+suffix) {
		low = number
	}
	return median, strings.TrimSuffix(low, "/s") + ".." + top
}

// notValid is the verdict of a name that has no valid run.
const notValid = "INVALID"

func verdictOf(v variant) string {
	switch {
	case len(v.runs) == 0:
		return notValid // none has finished
	case v.valid == v.all && v.all == 1:
		return Standing(&v.runs[0].Run)
	case v.valid == v.all:
		return fmt.Sprintf("%s, all %d", standingOf(v.runs), v.all)
	case v.valid == 0:
		return notValid
	}
	return fmt.Sprintf("%d of %d valid", v.valid, v.all)
}

// standingOf is the standing that all of several valid runs have in common.
func standingOf(runs []*result.Recorded) string {
	word := Standing(&runs[0].Run)
	for _, r := range runs[1:] {
		if Standing(&r.Run) != word {
			return result.Valid + " or " + word
		}
	}
	return word
}

// repeats says how much the table rests on.
func repeats(block []variant) string {
	most := slices.MaxFunc(block, func(a, b variant) int { return a.all - b.all })
	if most.all == 1 {
		return "One run of each. Repeat them before a claim is made of a difference."
	}
	return "The median of the valid runs of each name, and lowest..highest below it."
}
