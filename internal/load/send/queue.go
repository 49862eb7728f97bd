package send

import (
	"cmp"
	"slices"

	"kafkabench.example/kafka-bench/internal/plan/arrival"
)

// The queued records lie between two cursors and take no memory, except refused records that are kept.
type queue struct {
	due, sent arrival.Stream
	chosen    int32 // of the record at sent, or unplaced
	waiting   int64
	kept      kept
}

type dueRecord struct {
	due, index int64
	partition  int32
}

const unplaced = -1

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

func (q *queue) keepFresh() {
	q.kept.push(q.takeFresh())
	q.waiting++
}

func (q *queue) oldestDue() int64 {
	if q.kept.n > 0 {
		return q.kept.oldest().head().due
	}
	return q.sent.Due()
}

// kept holds waiting records by partition, so that a shut partition delays no other.
type kept struct {
	lanes []fifo // of partition p at p+1; 0 is for unplaced records
	n     int
}

func (k *kept) waits(partition int32) bool {
	return int(partition+1) < len(k.lanes) && k.lanes[partition+1].len() > 0
}

func (k *kept) oldest() *fifo {
	var oldest *fifo
	for i := range k.lanes {
		if l := &k.lanes[i]; l.len() > 0 && (oldest == nil || l.head().index < oldest.head().index) {
			oldest = l
		}
	}
	return oldest
}

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

// pop reuses the memory when half of it belongs to removed records.
func (l *fifo) pop() dueRecord {
	r := l.records[l.first]
	l.first++
	if 2*l.first >= len(l.records) {
		n := copy(l.records, l.records[l.first:])
		l.records, l.first = l.records[:n], 0
	}
	return r
}
