package send

import (
	"cmp"
	"slices"

	"kafkabench.example/kafka-bench/internal/plan/arrival"
)

// queue is one worker's queue at the source: records that are due and not sent. They lie between two cursors on the
// schedule and take no memory. Only refused records that are kept while their neighbours are shed are stored.
type queue struct {
	due, sent arrival.Stream // the two cursors
	chosen    int32          // partition of the record at sent, or unplaced
	waiting   int64          // all waiting records
	kept      kept           // those of them before sent
}

type dueRecord struct {
	due, index int64
	partition  int32 // or unplaced
}

// unplaced is the partition of a record whose partition is not chosen.
const unplaced = -1

// fresh returns how many records wait between the cursors.
func (q *queue) fresh() int64 { return q.waiting - int64(q.kept.n) }

func (q *queue) takeFresh() dueRecord {
	r := dueRecord{q.sent.Due(), q.sent.Index(), q.chosen}
	q.sent.Advance()
	q.chosen = unplaced
	q.waiting--
	return r
}

func (q *queue) takeKept(l *fifo) dueRecord {
	q.waiting--
	return q.kept.pop(l)
}

func (q *queue) take() dueRecord {
	if q.kept.n > 0 {
		return q.takeKept(q.kept.oldest())
	}
	return q.takeFresh()
}

// keepFresh keeps the record at the sending cursor and moves the cursor.
func (q *queue) keepFresh() {
	q.kept.push(q.takeFresh())
	q.waiting++
}

// oldestDue returns the due time of the oldest record; the queue must not be empty.
func (q *queue) oldestDue() int64 {
	if q.kept.n > 0 {
		return q.kept.oldest().head().due
	}
	return q.sent.Due()
}

// kept holds waiting records by partition, so that a shut partition delays no other.
type kept struct {
	lanes []fifo // of partition p at p+1; 0 is for unplaced records
	n     int    // records in all lanes
}

func (k *kept) waits(partition int32) bool {
	return int(partition+1) < len(k.lanes) && k.lanes[partition+1].len() > 0
}

// oldest returns the lane with the oldest record; there must be one.
func (k *kept) oldest() *fifo {
	var oldest *fifo
	for i := range k.lanes {
		if l := &k.lanes[i]; l.len() > 0 && (oldest == nil || l.head().index < oldest.head().index) {
			oldest = l
		}
	}
	return oldest
}

// byAge returns the lanes with records, ordered by their oldest record.
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

type fifo struct {
	records []dueRecord
	first   int
}

func (l *fifo) len() int         { return len(l.records) - l.first }
func (l *fifo) head() *dueRecord { return &l.records[l.first] }

// pop removes the oldest record. It reuses the memory when half of it belongs to removed records.
func (l *fifo) pop() dueRecord {
	r := l.records[l.first]
	l.first++
	if 2*l.first >= len(l.records) {
		n := copy(l.records, l.records[l.first:])
		l.records, l.first = l.records[:n], 0
	}
	return r
}
