package send

import "kafkabench.example/kafka-bench/internal/plan/arrival"

// The queued records lie between two cursors and take no memory, except refused records that are kept.
type queue struct {
	due, sent arrival.Stream
	waiting   int64
	kept      fifo // older than the records at sent
}

type dueRecord struct{ due, index int64 }

func (q *queue) fresh() int64 { return q.waiting - int64(q.kept.len()) }

func (q *queue) takeFresh() dueRecord {
	r := dueRecord{q.sent.Due(), q.sent.Index()}
	q.sent.Advance()
	q.waiting--
	return r
}

func (q *queue) take() dueRecord {
	if q.kept.len() == 0 {
		return q.takeFresh()
	}
	q.waiting--
	return q.kept.pop()
}

func (q *queue) keepFresh() {
	q.kept.records = append(q.kept.records, q.takeFresh())
	q.waiting++
}

func (q *queue) oldestDue() int64 {
	if q.kept.len() > 0 {
		return q.kept.records[q.kept.first].due
	}
	return q.sent.Due()
}

type fifo struct {
	records []dueRecord
	first   int
}

func (l *fifo) len() int { return len(l.records) - l.first }

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
