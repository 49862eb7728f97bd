package plant

import (
	"math/rand/v2"
	"time"
)

// record is one that is in the log.
type record struct {
	due     time.Duration // when its producer had it
	visible time.Duration // when an idle worker can have it
}

// partition is one partition's log, and the worker who reads it.
type partition struct {
	p     *plant
	rand  *rand.Rand // the work's own, so that every controller meets the same work
	owner int        // -1 while nobody has it

	log       []record
	taken     int64 // handed to the worker, this time
	processed int64 // worked through, this time
	committed int64
	unique    int64 // handed over at least once

	busy bool
	turn int // changes when the worker is stopped: work begun before then is void
}

// append adds a record. It returns its offset.
func (l *partition) append(due time.Duration) int64 {
	l.log = append(l.log, record{due: due, visible: l.p.now + l.p.cfg.Fetch})
	l.wake()
	return int64(len(l.log)) - 1
}

// wake lets an idle worker take the next record, now or when it can have it.
func (l *partition) wake() {
	if l.busy || !l.p.works(l.owner) || l.taken == int64(len(l.log)) {
		return
	}
	l.busy = true
	turn := l.turn
	if next := l.log[l.taken]; next.visible > l.p.now {
		l.p.at(next.visible, func() { l.take(turn) })
		return
	}
	l.take(turn)
}

// take hands one record over and works on it.
func (l *partition) take(turn int) {
	if turn != l.turn {
		return
	}
	if l.taken == l.unique {
		l.unique++
		l.p.measure.deliver(l.log[l.taken].due)
	}
	l.taken++
	l.p.after(l.p.work.draw(l.rand), func() {
		if turn != l.turn {
			return
		}
		l.processed++
		l.busy = false
		l.wake()
	})
}

// stop ends the work at hand without its result.
func (l *partition) stop() {
	l.turn++
	l.busy = false
}

// rewind goes back to what is committed, as a new owner does.
func (l *partition) rewind() {
	l.stop()
	l.taken, l.processed = l.committed, l.committed
}

// commit commits what is processed.
func (l *partition) commit() {
	if l.processed > l.committed {
		l.p.lag -= l.processed - l.committed
		l.committed = l.processed
	}
}

// draw draws what one record costs.
func (w Work) draw(r *rand.Rand) time.Duration {
	if w.Exponential {
		return time.Duration(r.ExpFloat64() * float64(w.Mean))
	}
	return w.Mean + time.Duration((r.Float64()-0.5)*float64(w.Jitter))
}
