package plant

import (
	"math/rand/v2"
	"time"
)

type record struct {
	due     time.Duration // when its producer had it
	visible time.Duration // when an idle worker can have it
}

type partition struct {
	p     *plant
	rand  *rand.Rand // only for the work, so that every controller gets the same work
	owner int        // -1 without one

	log       []record
	taken     int64 // delivered to the worker, since the last rewind
	processed int64 // processed since the last rewind
	committed int64
	unique    int64 // delivered at least once

	busy bool
	turn int // changes when the worker stops; work of an older turn is void
}

func (l *partition) append(due time.Duration) int64 {
	l.log = append(l.log, record{due: due, visible: l.p.now + l.p.cfg.Fetch})
	l.wake()
	return int64(len(l.log)) - 1
}

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

func (l *partition) stop() {
	l.turn++
	l.busy = false
}

// rewind returns to the committed offset, as a new owner does.
func (l *partition) rewind() {
	l.stop()
	l.taken, l.processed = l.committed, l.committed
}

func (l *partition) commit() {
	if l.processed > l.committed {
		l.p.lag -= l.processed - l.committed
		l.committed = l.processed
	}
}

func (w Work) draw(r *rand.Rand) time.Duration {
	if w.Exponential {
		return time.Duration(r.ExpFloat64() * float64(w.Mean))
	}
	return w.Mean + time.Duration((r.Float64()-0.5)*float64(w.Jitter))
}
