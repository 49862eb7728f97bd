package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"kafka-bench/internal/result"
	"kafka-bench/internal/unit"
)

// rangesShown and errorsShown bound what of a broken run fits a screen.
const (
	rangesShown = 6
	errorsShown = 3
)

// books prints the accounts as equations, each checked on the way: a report
// does not take a sum on trust.
func (p *page) books(r *result.Run) {
	l, d := r.Load, r.Delivery
	p.heading("Books", " of the measured window, in records")
	equations := []equation{
		{"scheduled", l.Scheduled, []term{{l.Admitted, "admitted"}, {l.Deferred, "deferred"}, {l.Shed, "shed"}}},
		{"admitted", l.Admitted, []term{{l.Acked, "acked"}, {l.Failed, "failed"}, {l.Unknown, "unknown"}}},
	}
	if d.Checked {
		equations = append(equations, equation{"acked", l.Acked, []term{
			{d.Unique - d.UnackedDelivered, "delivered"}, {d.Pending, "pending"}, {d.Lost, "lost"}, {d.Corrupt - d.CorruptUnplaced, "corrupt"},
		}})
	}
	p.equations(equations)
	p.rates(r)
	p.oddities(l, d)
	p.line("  ", p.paint(bold, outcome(r)))
}

// term is one addend, by the name that it has in the books.
type term struct {
	n    int64
	name string
}

// equation is a sum and what it should be.
type equation struct {
	name  string
	total int64
	terms []term
}

// equations prints sums in columns, numbers to the right and names to the left.
func (p *page) equations(all []equation) {
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
	for _, e := range all {
		var b strings.Builder
		sum := int64(0)
		for i, t := range e.terms {
			if i > 0 {
				b.WriteString("  +  ")
			}
			b.WriteString(padLeft(unit.Count(t.n), numbers[i]) + " " + pad(t.name, names[i]))
			sum += t.n
		}
		sign, excess := "  =  ", ""
		if sum != e.total {
			sign, excess = "  "+p.paint(red, "≠")+"  ", p.paint(red, "  out by "+unit.Count(sum-e.total))
		}
		p.line(pad("  "+e.name, 16), padLeft(unit.Count(e.total), total), sign, b.String(), excess)
	}
}

// rates prints what the books are in time and bytes.
func (p *page) rates(r *result.Run) {
	l, d := r.Load, r.Delivery
	offered, delivered := unit.PerSecond(l.OfferedPerS)+" offered", unit.PerSecond(d.DeliveredPerS)+" delivered"
	if l.ClosedLoop {
		offered = ""
	}
	if r.Consumer.Members == 0 {
		delivered = ""
	}
	p.labelled("per second", list(offered, unit.PerSecond(l.AckedPerS)+" acked", delivered))
	bytes := unit.Bytes(l.Bytes) + " acked"
	if l.WireBytes != nil {
		bytes = list(bytes, unit.Bytes(*l.WireBytes)+" written to sockets")
	}
	p.labelled("bytes", bytes)
}

// oddities prints what should not be there, and says so when nothing was.
func (p *page) oddities(l result.Load, d result.Delivery) {
	if d.Checked {
		found := list(count(d.Duplicates, "duplicate"), unit.Count(d.Reordered)+" reordered")
		if d.UnackedDelivered > 0 {
			found = list(found, unit.Count(d.UnackedDelivered)+" delivered though failed or unknown")
		}
		if d.Foreign > 0 {
			found = list(found, unit.Count(d.Foreign)+" foreign")
		}
		p.labelled("checks", found)
	}
	if len(d.LostRanges) > 0 {
		p.styled(red, "lost", lostRanges(d.LostRanges))
	}
	if reasons := byCount(l.ShedByReason); len(reasons) > 1 {
		p.labelled("shed", words(list(reasons...)))
	}
	if errors := byCount(l.Errors); len(errors) > 0 {
		p.styled(yellow, "errors", list(errors...))
	}
}

// lostRanges names lost records by producer, partition and sequence.
func lostRanges(ranges []result.LostRange) string {
	var parts []string
	for i, r := range ranges {
		if i == rangesShown {
			return list(append(parts, fmt.Sprintf("and %d more in %s", len(ranges)-i, result.SummaryFile))...)
		}
		sequence := fmt.Sprint(r.From)
		if r.To != r.From {
			sequence = fmt.Sprintf("%d-%d", r.From, r.To)
		}
		parts = append(parts, fmt.Sprintf("producer %d partition %d: %s", r.Producer, r.Partition, sequence))
	}
	return list(parts...)
}

// byCount prints the largest counters with their names, and passes over those
// that counted nothing.
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

// outcome says in one sentence where the scheduled records ended.
func outcome(r *result.Run) string {
	l, d := r.Load, r.Delivery
	delivered := d.Unique
	switch {
	case l.Scheduled == 0:
		return "Nothing was scheduled."
	case r.Consumer.Members == 0:
		return fmt.Sprintf("%s of the scheduled was acked; nobody consumed in this run.", share(l.Acked, l.Scheduled))
	case !d.Checked:
		return fmt.Sprintf("%s were delivered in the window: counted, not checked, as the records carry no stamp.", count(d.Delivered, "record"))
	case delivered == l.Scheduled && d.Lost == 0:
		return "Everything that was scheduled was delivered."
	}
	text := share(delivered, l.Scheduled) + " of the scheduled was delivered"
	for _, t := range []term{
		{l.Shed, "shed at the source"}, {l.Deferred, "still held back at the source"},
		{l.Failed, "failed"}, {l.Unknown, "unknown"},
		{d.Pending, "acked but not delivered in time"}, {d.Lost, "lost"}, {d.Corrupt - d.CorruptUnplaced, "corrupt"},
	} {
		if t.n > 0 {
			text += ", " + share(t.n, l.Scheduled) + " " + t.name
		}
	}
	if columns(text) > Width-3 {
		text = share(delivered, l.Scheduled) + " of the scheduled was delivered; the rest is in the books above"
	}
	return text + "."
}
