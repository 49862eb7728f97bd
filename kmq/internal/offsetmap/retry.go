package offsetmap

import (
	"slices"
	"time"

	"kafkabench.example/kafka-bench/kmq/internal/lease"
)

// movesAfter reports whether a record that is to be delivered again after a delay moves to the retry topic meanwhile.
func (e *Engine) movesAfter(l *lease.Lease, delay time.Duration) bool {
	return e.cfg.RetryTopic != "" && l.Private.(*slot).marks&stuck == 0 && (delay > e.cfg.InPlace || e.endangered(l))
}

// endangered reports whether retention may soon delete a record.
func (e *Engine) endangered(l *lease.Lease) bool {
	return e.watch != nil && !lease.IsRetry(l.At.Partition) &&
		e.watch.Endangered(e.cfg.Topic, l.At.Partition, l.At.Offset, l.Timestamp())
}

// relieve moves waiting records to the retry topic if their partition's map is nearly full: those that are due last
// first, until it is half full. In the retry topic itself it moves none, since a record that is not due there would be
// copied again and again. A record whose dead letter was refused stays too: its copy would be delivered once more.
func (e *Engine) relieve(p *partition) {
	if e.cfg.RetryTopic == "" || lease.IsRetry(p.id) || p.fitsMoved(e.limit*3/4) {
		return
	}
	var all []*slot
	for _, r := range p.runs {
		for i := range r.slots {
			s := &r.slots[i]
			if s.phase == waiting && s.marks&stuck == 0 && s.lease.Limited() && !e.isLast(s.lease.Attempt) {
				all = append(all, s)
			}
		}
	}
	slices.SortFunc(all, func(a, b *slot) int { return b.lease.Deadline().Compare(a.lease.Deadline()) })
	for _, s := range all {
		if p.fitsMoved(e.limit / 2) {
			return
		}
		until := s.lease.Deadline()
		if e.set.Extend(s.lease, time.Time{}) != nil {
			continue // it is due now
		}
		s.lease.Attempt++
		e.enqueue(s, move{until: until})
	}
}

// isLast reports whether no delivery follows an attempt.
func (e *Engine) isLast(attempt int) bool {
	return e.cfg.MaxDeliveries > 0 && attempt >= e.cfg.MaxDeliveries
}

// fitsMoved reports whether the map fits a limit once the moving records are done.
func (p *partition) fitsMoved(limit int) bool { return p.fit(p.window.End()-1, -p.moving, limit) }
