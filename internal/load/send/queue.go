package send

import (
	"cmp"
	"slices"

	"kafkabench.example/kafka-bench/internal/plan/arrival"
)

// queue is one worker's queue at the source: what has come due and was not sent yet.
// The schedule is arithmetic, so that what waits lies between two cursors
// on it and takes no memory. Only the records that a gate has refused and that are to
// wait nevertheless while those around them are shed have to be remembered.
type queue struct {
	due, sent arrival.Stream // the two cursors
	chosen    int32          // the partition of the record at sent, or unplaced
	waiting   int64          // all that wait
	kept      kept           // of these, the ones before sent
}

// dueRecord is a record that has come due.
type dueRecord struct {
	due, index int64
	partition  int32 // or unplaced
}

// unplaced: the partition of a record is not chosen yet.
const unplaced = -1

// fresh is how many records wait between the cursors.
func (q *queue) fresh() int64 { return q.waiting - int64(q.kept.n) }

// takeFresh takes the record at the sending cursor off the queue.
func (q *queue) takeFresh() dueRecord {
	r := dueRecord{q.sent.Due(), q.sent.Index(), q.chosen}
	q.sent.Advance()
	q.chosen = unplaced
	q.waiting--
	return r
}

// takeKept takes the oldest of a partition's kept records off the queue.
func (q *queue) takeKept(l *fifo) dueRecord {
	q.waiting--
	return q.kept.pop(l)
}

// take takes the oldest record of all off the queue.
func (q *queue) take() dueRecord {
	if q.kept.n > 0 {
		return q.takeKept(q.kept.oldest())
	}
	return q.takeFresh()
}

// keepFresh leaves the record at the sending cursor in the queue and goes on behind
// it.
func (q *queue) keepFresh() {
	q.kept.push(q.takeFresh())
	q.waiting++
}

// oldestDue is when the record was due that waits for the longest; there must be one.
func (q *queue) oldestDue() int64 {
	if q.kept.n > 0 {
		return q.kept.oldest().head().due
	}
	return q.sent.Due()
}

// kept are records that wait, by partition, so that one whose partition is shut holds up
// no others.
type kept struct {
	lanes []fifo // that of a partition p is p+1, and the first is of those without one
	n     int    // in all
}

// waits tells whether a record of the partition is kept.
func (k *kept) waits(partition int32) bool {
	return int(partition+1) < len(k.lanes) && k.lanes[partition+1].len() > 0
}

// oldest is the lane of the oldest record of all; there must be one.
func (k *kept) oldest() *fifo {
	var oldest *fifo
	for i := range k.lanes {
		if l := &k.lanes[i]; l.len() > 0 && (oldest == nil || l.head().index < oldest.head().index) {
			oldest = l
		}
	}
	return oldest
}

// byAge are the lanes with records, that of the oldest first.
func (k *kept) byAge() []*fifo {
	var all []*fifo
	for i := range k.lanes {
		if l := &k.lanes[i]; l.len() > 0 {
			all = append(all, l)
		}
	}
	slices.SortFunc(all, func(a, b *fifo) int { return cmp.Compare(a.head().index, b.head().index) })
	return all
}

func (k *kept) push(r dueRecord) {
	for len(k.lanes) <= int(r.partition+1) {
		k.lanes = append(k.lanes, fifo{})
	}
	l := &k.lanes[r.partition+1]
	l.records = append(l.records, r)
	k.n++
}

func (k *kept) pop(l *fifo) dueRecord {
	k.n--
	return l.pop()
}

// fifo is a partition's kept records, in the order in which they were kept.
type fifo struct {
	records []dueRecord
	first   int
}

func (l *fifo) len() int         { return len(l.records) - l.first }
func (l *fifo) head() *dueRecord { return &l.records[l.first] }

// pop takes the oldest away. When half of the memory is of records that are gone, it
// is used again.
func (l *fifo) pop() dueRecord {
	r := l.records[l.first]
	l.first++
	if 2*l.first >= len(l.records) {
		n := copy(l.records, l.records[l.first:])
		l.records, l.first = l.records[:n], 0
	}
	return r
}
