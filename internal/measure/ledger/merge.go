package ledger

import "slices"

// Merge returns the receiving side of a partition that several processes have read,
// each with a receiver of its own for what came to it. It takes the receivers'
// locks, one after the other, and changes nothing; with one of them that was handed
// anything it returns that one.
//
// The merged receiver says what one would say that had seen all of it: a record
// that came to two processes is one unique record and a duplicate. That is exact
// for what is delivered, unique, duplicate, missing and next, because every
// receiver knows by number what came to it. Two things can't be known:
//
//   - Of corrupt and foreign records the sums are exact, but the book that each of
//     them counts in goes by the record before it, in its own process. Close finds
//     the corrupt a place all the same.
//   - In which order two processes were handed records. Reordered are those that
//     came after a later record of their lane in the same process. One that came
//     late to another process is unique and not reordered; one that came late to
//     its process, and to another before, is a duplicate and reordered. Where any
//     are reordered, the books are approximate and say so.
//
// Where a lane had so many gaps that its receiver has forgotten which (maxSpans),
// what came to others from below that stretch is late beyond the window, as it
// would be in one receiver; the gaps it has closed make the books approximate.
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

// MergeUnordered is Merge for records that come in no order, as those of a queue: none of
// them is late, so the books are exact though several processes took them.
func MergeUnordered(receivers []*Receiver) *Receiver {
	merged := Merge(receivers)
	merged.unordered = 0
	return merged
}

// Empty tells whether nothing ever came. It takes the lock.
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

// takeCounts adds what o counted, and returns its lanes as they stand.
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

// lanesOf are the lanes of one producer, of those that have it.
func lanesOf(lanes [][]receiverLane, producer int) (of []*receiverLane) {
	for i := range lanes {
		if producer < len(lanes[i]) {
			of = append(of, &lanes[i][producer])
		}
	}
	return of
}

// mergeLane merges the lanes of one producer. In the books, which have the sums of
// all, it takes back what counts as unique more than once.
//
// The lane that has forgotten the most says what is below its floor. Above it all
// know what they have by number.
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

// absentFrom are the sequences from a floor on that came to none of the lanes.
func (l *receiverLane) absentFrom(lanes []*receiverLane, floor uint64) []span {
	absent := stretch(floor, l.next)
	for _, one := range lanes {
		gaps := union(one.missing.live(), stretch(one.next, l.next))
		absent = subtract(absent, subtract(absent, gaps))
	}
	return absent
}

// stretch is the sequences [from, to) as a list.
func stretch(from, to uint64) []span {
	if from >= to {
		return nil
	}
	return []span{{from, to - 1}}
}

// sequences returns the sequences of a book, the end exclusive, as far as the lane
// knows: between the books lies what did not come.
func (l *receiverLane) sequences(book int) (from, to uint64) {
	boundary := min(l.measuredFrom, l.next)
	if book == bookWarmup {
		return 0, boundary
	}
	return boundary, l.next
}

// arrived counts what came of [from, to), which is not below the floor.
func (l *receiverLane) arrived(from, to uint64) int64 {
	to = min(to, l.next)
	if from >= to {
		return 0
	}
	return int64(to-from) - count(clip(l.missing.live(), from, to))
}

// arrivedBelow counts what came from below another lane's floor, of the sequences
// [from, to) of a book: by number where this lane knows them, and otherwise as many
// as it has not closed.
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
