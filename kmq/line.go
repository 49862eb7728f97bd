package kmq

import (
	"hash/maphash"
	"slices"
	"sync"

	"kafkabench.example/kafka-bench/kmq/internal/engine"
	"kafkabench.example/kafka-bench/kmq/internal/lease"
)

// A line is the records of one partition or key, in their order. Its first record has a worker, or is blocked.
type line struct {
	name uint64
	at   lease.ID // the first record
	// blocked: a later take has the first record again. Without an engine.Parker no line is blocked.
	blocked bool
	waiting []*lease.Lease // behind it
}

// lines are the lines of a run that have a first record.
type lines struct {
	order    Order
	seed     maphash.Seed
	parker   engine.Parker
	giveBack func([]*lease.Lease)

	mu      sync.Mutex
	of      map[uint64]*line
	stopped bool
}

// newLines begins with the lines that a run before this one has left blocked.
func newLines(q *Queue) *lines {
	s := &lines{order: q.order, seed: q.seed, parker: q.parker, giveBack: q.engine.Return, of: make(map[uint64]*line)}
	q.blocking.Lock()
	defer q.blocking.Unlock()
	for name, at := range q.blocked {
		s.of[name] = &line{name: name, at: at, blocked: true}
	}
	return s
}

// leave notes the blocked lines for the next run.
func (s *lines) leave(q *Queue) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q.blocking.Lock()
	defer q.blocking.Unlock()
	q.blocked = make(map[uint64]lease.ID)
	for name, ln := range s.of {
		if ln.blocked {
			q.blocked[name] = ln.at
		}
	}
}

// stop lets no further record begin, and returns those that wait.
func (s *lines) stop() (waiting []*lease.Lease) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopped = true
	for _, ln := range s.of {
		waiting = append(waiting, ln.waiting...)
		ln.waiting = nil
	}
	return waiting
}

// nameOf returns the name of a record's line. Keys with the same hash share a line.
func (s *lines) nameOf(l *lease.Lease) (name uint64, ordered bool) {
	switch {
	case s.order == ByPartition:
		return uint64(l.At.Partition), true
	case s.order == ByKey && l.Record.Key != nil:
		return maphash.Bytes(s.seed, l.Record.Key), true
	}
	return 0, false
}

// join runs before the handler, which may change the record's key and partition. It returns false if the record waits in
// its line; the line is nil if the record may be processed beside any other.
func (s *lines) join(l *lease.Lease) (ln *line, first bool) {
	name, ordered := s.nameOf(l)
	if !ordered {
		return nil, true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	ln = s.of[name]
	switch {
	case ln == nil:
		ln = &line{name: name, at: l.At}
		s.of[name] = ln
		return ln, true
	case ln.at == l.At && ln.blocked:
		ln.blocked = false
		return ln, true
	case ln.at == l.At: // the attempt before has not quite ended
		ln.waiting = slices.Insert(ln.waiting, 0, l)
		return ln, false
	}
	ln.waiting = append(ln.waiting, l)
	if ln.blocked {
		s.parker.Park([]*lease.Lease{l})
	}
	return ln, false
}

// next returns the record behind one that has ended. Its line ends if there is none, or if the run is stopped. If the run
// has been halted, stop gives back the waiting records in their order.
func (s *lines) next(ln *line, ended *lease.Lease, halted bool) *lease.Lease {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.block(ln, ended):
		return nil
	case len(ln.waiting) == 0 || s.stopped:
		delete(s.of, ln.name)
		return nil
	case halted:
		return nil
	}
	l := ln.pop()
	if s.parker != nil && !s.parker.Unpark(l) {
		ln.blocked = true
		return nil
	}
	return l
}

// pop makes the first waiting record the first of its line.
func (ln *line) pop() *lease.Lease {
	l := ln.waiting[0]
	ln.waiting[0] = nil
	ln.waiting, ln.at = ln.waiting[1:], l.At
	return l
}

// block blocks the line of a record that will be delivered again. The records behind it do not count against MaxInFlight
// meanwhile.
func (s *lines) block(ln *line, ended *lease.Lease) bool {
	if s.parker == nil {
		return false
	}
	switch ended.State() {
	case lease.Accepted, lease.Rejected, lease.Lost:
		return false
	}
	if len(ln.waiting) > 0 && ln.waiting[0].At == ln.at {
		return false // it came again already
	}
	ln.blocked = true
	s.parker.Park(ln.waiting)
	return true
}

// resume lets lines go on whose first record does not come again: it became a dead letter, is no longer in the log, or its
// partition was given away.
func (s *lines) resume() {
	if s.parker == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, ln := range s.of {
		if s.stopped || !ln.blocked || s.parker.IsOpen(ln.at) {
			continue
		}
		ln.waiting = slices.DeleteFunc(ln.waiting, func(l *lease.Lease) bool { return l.State() != lease.Open })
		if len(ln.waiting) == 0 {
			delete(s.of, name)
			continue
		}
		s.giveBack([]*lease.Lease{ln.pop()}) // a later take has it again
	}
}
