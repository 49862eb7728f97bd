package kmq

import (
	"hash/maphash"
	"maps"
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

// newLines begins with the lines that a run before this one has left.
func newLines(q *Queue) *lines {
	s := &lines{order: q.order, seed: q.seed, parker: q.parker, giveBack: q.engine.Return, of: make(map[uint64]*line)}
	q.leaving.Lock()
	maps.Copy(s.of, q.left)
	clear(q.left)
	q.leaving.Unlock()
	s.resume()
	return s
}

// leave keeps the lines for the next run, with the records that wait in them: a record that was given back and had to be
// read again would come behind those that had not.
func (s *lines) leave(q *Queue) {
	if s.parker == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	q.leaving.Lock()
	defer q.leaving.Unlock()
	for name, ln := range s.of {
		s.parker.Park(ln.waiting)
		q.left[name] = &line{name: name, at: ln.at, blocked: true, waiting: ln.waiting}
		ln.waiting = nil
	}
}

// giveBackLeft lets Receive have the records that wait in the lines of the last run.
func (q *Queue) giveBackLeft() {
	q.leaving.Lock()
	defer q.leaving.Unlock()
	for _, ln := range q.left {
		q.engine.Return(ln.waiting)
	}
	clear(q.left)
}

// stop lets no further record begin, and returns those that wait, unless leave keeps them.
func (s *lines) stop() (waiting []*lease.Lease) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopped = true
	if s.parker != nil {
		return nil
	}
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
	case ln.blocked && (l.At == ln.at || isBehind(ln.at, l.At)): // a partition may begin anew below what it had
		ln.at, ln.blocked = l.At, false
		return ln, true
	}
	i := len(ln.waiting)
	for i > 0 && (ln.waiting[i-1].State() != lease.Open || isBehind(ln.waiting[i-1].At, l.At)) {
		i-- // the attempt before has not quite ended
	}
	ln.waiting = slices.Insert(ln.waiting, i, l)
	if ln.blocked {
		s.parker.Park([]*lease.Lease{l})
	}
	return ln, false
}

func isBehind(at, other lease.ID) bool {
	return at.Partition == other.Partition && at.Offset > other.Offset
}

// next returns the record behind one that has ended. Its line ends if there is none. If the run has been stopped or
// halted, none begins.
func (s *lines) next(ln *line, ended *lease.Lease, halted bool) *lease.Lease {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.block(ln, ended):
		return nil
	case len(ln.waiting) == 0:
		delete(s.of, ln.name)
		return nil
	case s.stopped || halted:
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

// block blocks the line of a record that will be delivered again: its attempt has failed, or its dead letter is refused.
// The records behind it do not count against MaxInFlight meanwhile.
func (s *lines) block(ln *line, ended *lease.Lease) bool {
	if s.parker == nil || ended.State() == lease.Accepted || !s.parker.IsOpen(ended.At) {
		return false
	}
	if slices.ContainsFunc(ln.waiting, func(l *lease.Lease) bool { return l.At == ln.at && l.State() == lease.Open }) {
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
