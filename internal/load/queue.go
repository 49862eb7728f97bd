package load

import "kafkabench.example/kafka-bench/internal/plan/arrival"

// queue is one worker's queue at the source: what has come due and was not sent yet.
// The schedule is arithmetic, so that what waits is the stretch between two cursors
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
func (q *queue) fresh() int64 { return q.waiting - int64(q.kept.len()) }

// takeFresh takes the record at the sending cursor off the queue.
func (q *queue) takeFresh() dueRecord {
	r := dueRecord{q.sent.Due(), q.sent.Index(), q.chosen}
	q.sent.Advance()
	q.chosen = unplaced
	q.waiting--
	return r
}

// takeKept takes the oldest of the kept off the queue.
func (q *queue) takeKept() dueRecord {
	q.waiting--
	return q.kept.pop()
}

// take takes the oldest record of all off the queue.
func (q *queue) take() dueRecord {
	if q.kept.len() > 0 {
		return q.takeKept()
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
	if q.kept.len() > 0 {
		return q.kept.oldest().due
	}
	return q.sent.Due()
}

// kept are records in the order in which they were kept.
type kept struct {
	records []dueRecord
	first   int
}

func (k *kept) len() int           { return len(k.records) - k.first }
func (k *kept) oldest() *dueRecord { return &k.records[k.first] }
func (k *kept) push(r dueRecord)   { k.records = append(k.records, r) }

// pop takes the oldest away. When half of the memory is of records that are gone, it
// is used again.
func (k *kept) pop() dueRecord {
	r := k.records[k.first]
	k.first++
	if 2*k.first >= len(k.records) {
		n := copy(k.records, k.records[k.first:])
		k.records, k.first = k.records[:n], 0
	}
	return r
}
