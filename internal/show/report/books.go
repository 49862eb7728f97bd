package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/show/analysis"
	"kafkabench.example/kafka-bench/internal/show/layout"
)

const (
	rangesShown = 6
	errorsShown = 3
)

func printBooks(p *layout.Page, r *result.Run) {
	l, d := r.Load, r.Delivery
	of := ""
	if r.PartMissing() {
		of = ", of the parts that were handed in"
	}
	if reads(r) {
		p.Heading("Read", " in the measured window"+of)
		p.Labelled("per second", unit.PerSecond(d.DeliveredPerS))
		p.Labelled("bytes", layout.List(unit.Bytes(d.Bytes), inBytes(r, "delivered_bytes_per_s", "")))
		printFilled(p, r)
		printReadFill(p, r)
		p.Painted(layout.Bold, 2, sumUp(r, p.Width-3))
		return
	}
	if !r.Says("load.acked_per_s") && !r.Says("delivery.delivered_per_s") {
		return // an imported run that has only times
	}
	p.Heading("Books", " of the measured window, in records"+of)
	equations := []equation{
		{"scheduled", l.Scheduled, []term{{l.Admitted, "admitted"}, {l.Deferred, "deferred"}, {l.Shed, "shed"}}},
		{"admitted", l.Admitted, []term{{l.Acked, "acked"}, {l.Failed, "failed"}, {l.Unknown, "unknown"}}},
	}
	if d.Checked {
		equations = append(equations, equation{"acked", copies(r) * l.Acked, []term{
			{d.Unique - d.UnackedDelivered, "delivered"}, {d.Pending, "pending"}, {d.Lost, "lost"},
			{d.Corrupt - d.CorruptUnplaced, "corrupt"},
		}})
	}
	equations = told(r, equations)
	for i, e := range equations {
		if e.name == "acked" && copies(r) > 1 { // each group reads every record
			equations[i].name = fmt.Sprintf("acked × %d", copies(r))
		}
	}
	printEquations(p, equations)
	printRates(p, r)
	if each := unevenly(r.Producers); each != "" {
		p.Labelled("producers", each)
	}
	if warm := warmedUp(r); warm != "" {
		p.Labelled("warm-up", warm)
	}
	printBounded(p, "volume", l.VolumeBoundedBytes, l.VolumeBoundedRecords, r,
		"load.volume", "load.records", "load.records_each")
	printFilled(p, r)
	printOddities(p, l, d)
	p.Painted(layout.Bold, 2, sumUp(r, p.Width-3))
}

func copies(r *result.Run) int64 { return int64(max(1, r.Delivery.Copies)) }

type term struct {
	n    int64
	name string
}

type equation struct {
	name  string
	total int64
	terms []term
}

// String returns the equation, and says by how much a wrong sum is out.
func (e equation) String() string {
	text, sum := unit.Count(e.total), int64(0)
	for i, t := range e.terms {
		text += []string{" = ", " + "}[min(i, 1)] + unit.Count(t.n) + " " + t.name
		sum += t.n
	}
	if sum != e.total {
		text += "; out by " + unit.Count(sum-e.total)
	}
	return text
}

// told keeps the equations whose numbers are all known; an imported run seldom has all.
func told(r *result.Run, all []equation) []equation {
	return slices.DeleteFunc(all, func(e equation) bool {
		return !r.Says("load."+e.name) ||
			slices.ContainsFunc(e.terms, func(t term) bool { return !r.Says("load." + t.name) })
	})
}

func printEquations(p *layout.Page, all []equation) {
	var total int
	var numbers, names []int
	for _, e := range all {
		total = max(total, len(unit.Count(e.total)))
		for i, t := range e.terms {
			if i == len(numbers) {
				numbers, names = append(numbers, 0), append(names, 0)
			}
			numbers[i] = max(numbers[i], len(unit.Count(t.n)))
			names[i] = max(names[i], len(t.name))
		}
	}
	const label, sign = 16, "  =  "
	for _, e := range all {
		p.Record(layout.Block{Kind: layout.BlockLabelled, Label: e.name, Text: e.String()})
		b := strings.Builder{}
		b.WriteString(layout.Pad("  "+e.name, label) + layout.PadLeft(unit.Count(e.total), total) + sign)
		sum, used := int64(0), label+total+layout.Columns(sign)
		for i, t := range e.terms {
			text := layout.PadLeft(unit.Count(t.n), numbers[i]) + " " + layout.Pad(t.name, names[i])
			if i > 0 {
				text = "  +  " + text
			}
			if used += layout.Columns(text); used > p.Width {
				p.Line(b.String())
				b.Reset()
				b.WriteString(strings.Repeat(" ", label+total))
				used = label + total + layout.Columns(text)
			}
			b.WriteString(text)
			sum += t.n
		}
		p.Line(b.String())
		if sum != e.total {
			p.Line(strings.Repeat(" ", label), p.Paint(layout.Red, "≠ out by "+unit.Count(sum-e.total)))
		}
	}
}

func printRates(p *layout.Page, r *result.Run) {
	l, d := r.Load, r.Delivery
	offered, acked, delivered := unit.PerSecond(l.OfferedPerS)+" offered", unit.PerSecond(l.AckedPerS)+" acked", unit.PerSecond(d.DeliveredPerS)+" delivered"
	if l.ClosedLoop || !r.Says("load.offered_per_s") {
		offered = ""
	}
	if !r.Says("load.acked_per_s") {
		acked = ""
	}
	if r.Consumer.Members == 0 && (r.Run.Imported == nil || !r.Says("delivery.delivered_per_s")) {
		delivered = ""
	}
	p.Labelled("per second", layout.List(offered, acked, delivered, deliveredToAcked(d)))
	bytes := ""
	if r.Says("load.bytes") {
		bytes = unit.Bytes(l.Bytes) + " acked"
	}
	if l.WireBytes != nil {
		bytes = layout.List(bytes, unit.Bytes(*l.WireBytes)+" written to sockets")
	}
	bytes = layout.List(bytes, inBytes(r, "acked_bytes_per_s", " acked"))
	if delivered != "" {
		bytes = layout.List(bytes, inBytes(r, "delivered_bytes_per_s", " delivered"))
	}
	if bytes != "" {
		p.Labelled("bytes", bytes)
	}
}

// Both rates are of the same window, so their ratio stands beside them.
func deliveredToAcked(d result.Delivery) string {
	if d.DeliveredToAcked == nil {
		return ""
	}
	text := unit.Percent(*d.DeliveredToAcked)
	if *d.DeliveredToAcked > 1 && text != unit.Percent(1) {
		return text + " delivered ÷ acked: a backlog from before the window was read too"
	}
	return text + " delivered ÷ acked"
}

func inBytes(r *result.Run, name, of string) string {
	text, known := analysis.FigureCalled(name).Text(r)
	if !known {
		return ""
	}
	return text + of
}

// warmedUp is "" without a warm-up. If the consumers read a fill, the warm-up's book includes the
// fill's records, so only the rates are printed.
func warmedUp(r *result.Run) string {
	l, phase := r.Warmup.Load, analysis.Phase(r, "warm-up")
	length := float64(phase.EndNs-phase.StartNs) / 1e9
	if length <= 0 || l.OfferedPerS == 0 || reads(r) {
		return ""
	}
	scheduled, d := int64(math.Round(l.OfferedPerS*length)), r.Warmup.Delivery
	text := layout.List(seconds(phase.EndNs-phase.StartNs)+": "+unit.Count(scheduled)+" due",
		unit.PerSecond(l.AckedPerS)+" acked")
	switch {
	case d.DeliveredPerS != nil:
		text = layout.List(text, unit.PerSecond(*d.DeliveredPerS)+" delivered")
	case r.Consumer.Members > 0:
		text = layout.List(text, "delivered/s not recorded")
	}
	if scheduled != l.Scheduled {
		return text
	}
	if l.Acked < l.Admitted {
		text = layout.List(text, unit.Count(l.Acked)+" acked in the end")
	}
	if d.Checked && d.Unique < copies(r)*l.Acked {
		text = layout.List(text, unit.Count(d.Unique)+" delivered in the end")
	}
	if l.Failed+l.Unknown > 0 {
		text = layout.List(text, unit.Count(l.Failed)+" failed", unit.Count(l.Unknown)+" unknown")
	}
	if errors := byCount(l.Errors); len(errors) > 0 {
		return layout.List(append([]string{text}, errors...)...)
	}
	return layout.List(text, "no errors")
}

// printOddities also prints zero counts.
func printOddities(p *layout.Page, l result.Load, d result.Delivery) {
	if d.Checked {
		found := layout.List(unit.Things(d.Duplicates, "duplicate"), unit.Count(d.Reordered)+" reordered")
		if d.UnackedDelivered > 0 {
			found = layout.List(found, unit.Count(d.UnackedDelivered)+" delivered though failed or unknown")
		}
		if d.Foreign > 0 {
			found = layout.List(found, unit.Count(d.Foreign)+" foreign")
		}
		p.Labelled("checks", found)
	}
	if len(d.LostRanges) > 0 {
		p.Styled(layout.Red, "lost", lostRanges(d.LostRanges))
	}
	if reasons := byCount(l.ShedByReason); len(reasons) > 1 {
		p.Labelled("shed", layout.Words(layout.List(reasons...)))
	}
	if errors := byCount(l.Errors); len(errors) > 0 {
		p.Styled(layout.Yellow, "errors", layout.List(errors...))
	}
}

func lostRanges(ranges []result.LostRange) string {
	var parts []string
	for i, r := range ranges {
		if i == rangesShown {
			return layout.List(append(parts, fmt.Sprintf("and %d more in %s", len(ranges)-i, result.SummaryFile))...)
		}
		sequence := fmt.Sprint(r.From)
		if r.To != r.From {
			sequence = fmt.Sprintf("%d-%d", r.From, r.To)
		}
		parts = append(parts, fmt.Sprintf("producer %d partition %d: %s", r.Producer, r.Partition, sequence))
	}
	return layout.List(parts...)
}

// byCount prints the largest counters and skips zeros.
func byCount(counts result.Counts) []string {
	var names []string
	for name, n := range counts {
		if n > 0 {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	var parts []string
	for i, name := range names {
		if i == errorsShown {
			return append(parts, fmt.Sprintf("and %d more in %s", len(names)-i, result.SummaryFile))
		}
		parts = append(parts, unit.Count(counts[name])+" × "+name)
	}
	return parts
}

// The sentence has at most width columns.
func sumUp(r *result.Run, width int) string {
	l, d := r.Load, r.Delivery
	due := copies(r) * l.Scheduled
	switch {
	case r.Run.Imported != nil:
		return "The outcome of each record is not known: the figures are counts of the other tool."
	case r.PartMissing():
		return "These are the parts that were handed in: what the missing ones did is not known."
	case reads(r) && !r.Says("lag.drained"): // others still wrote: the topic had no end
		return unit.Things(d.Delivered, "record") + " were read in the window."
	case reads(r):
		return read(d)
	case l.Scheduled == 0:
		return "Nothing was scheduled."
	case r.Consumer.Members == 0:
		return fmt.Sprintf("%s of the scheduled was acked; this run had no consumers.", share(l.Acked, l.Scheduled))
	case !d.Checked:
		return fmt.Sprintf("%s were delivered in the window: counted, not checked, as the records carry no stamp.",
			unit.Things(d.Delivered, "record"))
	case d.Unique == due && d.Lost == 0 && due > l.Scheduled:
		return "Everything that was scheduled was delivered, to each group."
	case d.Unique == due && d.Lost == 0:
		return "Everything that was scheduled was delivered."
	}
	text := share(d.Unique, due) + " of the scheduled was delivered"
	for _, t := range []struct {
		n, of int64
		name  string
	}{
		{l.Shed, l.Scheduled, "shed at the source"}, {l.Deferred, l.Scheduled, "still held back at the source"},
		{l.Failed, l.Scheduled, "failed"}, {l.Unknown, l.Scheduled, "unknown"},
		{d.Pending, due, "acked but not delivered in time"}, {d.Lost, due, "lost"},
		{d.Corrupt - d.CorruptUnplaced, due, "corrupt"},
	} {
		if t.n > 0 {
			text += ", " + share(t.n, t.of) + " " + t.name
		}
	}
	if layout.Columns(text) > width {
		text = share(d.Unique, due) + " of the scheduled was delivered; the rest is in the books above"
	}
	return text + "."
}

func reads(r *result.Run) bool {
	return r.Finished() && r.Run.Imported == nil && r.Scenario.Get("load.producers") == "0"
}

func read(d result.Delivery) string {
	if d.Pending > 0 {
		return fmt.Sprintf("%s were read in the window; %s of the topic were left.",
			unit.Things(d.Delivered, "record"), unit.Count(d.Pending))
	}
	return fmt.Sprintf("All %s that the topic held were read.", unit.Things(d.Delivered, "record"))
}
