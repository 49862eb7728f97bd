package ledger

import "slices"

// Merge merges the receivers of a partition that several processes have read. It takes the receivers' locks, one after
// the other, and changes nothing. If only one receiver has records, Merge returns that receiver.
//
// The result is that of one receiver that saw all records: a record that came to two processes is one unique record
// and one duplicate. That is exact for delivered, unique, duplicates, missing and next, because every receiver knows
// its sequences. Two figures are uncertain:
//
//   - Corrupt and foreign records: their sums are exact, but the record before them, in the same process, decides
//     their book.
//   - Reordered: Merge does not know the order of records between processes. A record is reordered if it came after a
//     later record of its lane in the same process. If any are reordered, the books are approximate.
//
// If a receiver has forgotten gaps of a lane (maxSpans), other receivers' records from that range are late beyond the
// window, as in one receiver. The closed gaps make the books approximate.
func Merge(receivers []*Receiver) *Receiver {
	with := make([]*Receiver, 0, len(receivers))
	for _, r := range receivers {
		if !r.Empty() {
			with = append(with, r)
		}
	}
	switch {
	case len(with) == 1:
		return with[0]
	case len(with) == 0:
		return receivers[0]
	}
	merged := &Receiver{partition: with[0].partition}
	var lanes [][]receiverLane
	for _, r := range with {
		lanes = append(lanes, merged.takeCounts(r))
	}
	for producer := range longest(lanes) {
		merged.lanes = append(merged.lanes, mergeLane(lanesOf(lanes, producer), &merged.books))
	}
	for book := range merged.books {
		merged.unordered += merged.books[book].reordered
	}
	return merged
}

// MergeUnordered is Merge for records without an order, like those of a queue. No record is late, so the books are
// exact.
func MergeUnordered(receivers []*Receiver) *Receiver {
	merged := Merge(receivers)
	merged.unordered = 0
	return merged
}

// Empty reports whether nothing ever arrived. It takes the lock.
func (r *Receiver) Empty() bool {
	r.Lock()
	defer r.Unlock()
	for book := range r.books {
		if b := &r.books[book]; b.delivered != 0 || b.corrupt != 0 || b.foreign != 0 {
			return false
		}
	}
	return true
}

func (r *Receiver) takeCounts(o *Receiver) []receiverLane {
	o.Lock()
	defer o.Unlock()
	for book := range r.books {
		mine, others := r.books[book].counts(), o.books[book].counts()
		for i := range mine {
			*mine[i] += *others[i]
		}
	}
	r.latest = max(r.latest, o.latest)
	lanes := slices.Clone(o.lanes)
	for i := range lanes {
		lanes[i].missing.list, lanes[i].missing.head = slices.Clone(lanes[i].missing.live()), 0
	}
	return lanes
}

func longest(lanes [][]receiverLane) (n int) {
	for _, l := range lanes {
		n = max(n, len(l))
	}
	return n
}

func lanesOf(lanes [][]receiverLane, producer int) (of []*receiverLane) {
	for i := range lanes {
		if producer < len(lanes[i]) {
			of = append(of, &lanes[i][producer])
		}
	}
	return of
}

// Below the highest floor, mergeLane uses only the counts of the lane that has this floor.
func mergeLane(lanes []*receiverLane, books *[numBooks]received) receiverLane {
	base := lanes[0]
	merged := receiverLane{measuredFrom: never}
	for _, l := range lanes {
		merged.next, merged.measuredFrom = max(merged.next, l.next), min(merged.measuredFrom, l.measuredFrom)
		if l.missing.floor > base.missing.floor {
			base = l
		}
	}
	floor := base.missing.floor
	merged.closed, merged.straddle, merged.straddles = base.closed, base.straddle, base.straddles
	merged.missing = spans{limit: base.missing.limit, floor: floor, list: merged.absentFrom(lanes, floor)}
	for book := range books {
		from, to := merged.sequences(book)
		again := -merged.arrived(max(from, floor), to)
		var forgotten int64
		for _, l := range lanes {
			again += l.arrived(max(from, floor), to)
			if l != base {
				forgotten += l.arrivedBelow(floor, book, from, to)
			}
		}
		b := &books[book]
		b.unique -= again + forgotten
		b.duplicates += again
		b.lateBeyondWindow += forgotten
	}
	return merged
}

func (l *receiverLane) absentFrom(lanes []*receiverLane, floor uint64) []span {
	absent := stretch(floor, l.next)
	for _, one := range lanes {
		gaps := union(one.missing.live(), stretch(one.next, l.next))
		absent = subtract(absent, subtract(absent, gaps))
	}
	return absent
}

func stretch(from, to uint64) []span {
	if from >= to {
		return nil
	}
	return []span{{from, to - 1}}
}

func (l *receiverLane) sequences(book int) (from, to uint64) {
	boundary := min(l.measuredFrom, l.next)
	if book == bookWarmup {
		return 0, boundary
	}
	return boundary, l.next
}

// from must not be below the lane's floor.
func (l *receiverLane) arrived(from, to uint64) int64 {
	to = min(to, l.next)
	if from >= to {
		return 0
	}
	return int64(to-from) - count(clip(l.missing.live(), from, to))
}

// arrivedBelow counts arrivals of a book in [from, to) below another lane's floor. Below the lane's
// own floor, all sequences count as arrived except those in closed gaps.
func (l *receiverLane) arrivedBelow(floor uint64, book int, from, to uint64) int64 {
	own := l.missing.floor
	n := l.arrived(max(from, own), min(to, floor))
	if end := min(to, own); from < end {
		n += int64(end-from) - l.closed[book]
		if l.straddles {
			n -= count(clip([]span{l.straddle}, from, end))
		}
	}
	return n
}
