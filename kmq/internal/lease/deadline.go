package lease

import "iter"

// byDeadline keeps leases so that the first deadline is at hand. Most come in the order of
// their deadlines, since all are lent for as long, and leave in about that order: they
// stand in a line, where each step is O(1), and so do those without a deadline. Those that
// come out of order (extended, or lent for less) are in a heap.
type byDeadline struct {
	line line
	heap []*Lease
	n    int
}

// place is where a lease is in a byDeadline.
type place uint8

const (
	nowhere place = iota
	inLine
	inHeap
)

// add takes a lease in; at is 0 for one without a deadline.
func (b *byDeadline) add(l *Lease, at int64) {
	l.until(at)
	b.n++
	switch {
	case at == 0:
		l.place = inLine
		b.line.push(l)
	case b.line.rises(at):
		l.place = inLine
		b.line.push(l)
		b.line.lend(l)
	default:
		l.place = inHeap
		b.heap = append(b.heap, l)
		b.up(len(b.heap) - 1)
	}
}

// remove takes a lease out, if it is in.
func (b *byDeadline) remove(l *Lease) {
	switch l.place {
	case nowhere:
		return
	case inLine:
		b.line.cut(l)
	case inHeap:
		b.cut(int(l.index))
	}
	l.place = nowhere
	b.n--
}

// move gives a lease another deadline, whether it is in or not.
func (b *byDeadline) move(l *Lease, at int64) {
	switch {
	case l.place == nowhere:
		l.until(at)
	case l.place == inLine && l.deadline.Load() == 0 && at != 0 && b.line.rises(at):
		l.until(at)
		b.line.lend(l)
	default:
		b.remove(l)
		b.add(l, at)
	}
}

// until sets the deadline. Most leases are new and have none yet, and to store one that
// all may read costs far more than to look.
func (l *Lease) until(at int64) {
	if l.deadline.Load() != at {
		l.deadline.Store(at)
	}
}

// first is the lease with the first deadline; nil if none has one.
func (b *byDeadline) first() *Lease {
	l := b.line.first()
	if len(b.heap) > 0 && (l == nil || b.heap[0].earlier(l)) {
		return b.heap[0]
	}
	return l
}

// all are the leases, in no order. They must stay while it runs.
func (b *byDeadline) all() iter.Seq[*Lease] {
	return func(yield func(*Lease) bool) {
		for _, some := range [][]*Lease{b.line.items, b.heap} {
			for _, l := range some {
				if l != nil && !yield(l) {
					return
				}
			}
		}
	}
}

// line is leases with deadlines, which rise, and behind them those without one, in any
// order. Since leases are lent in the order in which they came, one that is lent stays
// where it is as a rule, and only becomes the last of those that have a deadline:
//
//	gaps | 3 3 – 5 7 | 0 0 – 0 0
//	     head        lent
//
// It is a slice and not a list, since every record goes through it: a list writes eight
// pointers, in the memory of three leases, where this writes two in its own. What leaves
// is a gap until it is at an end of the line, or until the memory is full.
type line struct {
	items []*Lease // nil is a gap; the last is none, nor is that at head, nor that before lent
	head  int      // where those with a deadline begin: what is before is gaps
	lent  int      // where those without begin
	from  int32    // the index of items[0]: a lease keeps its own while others leave at the front
	n     int      // leases
}

// first is the lease with the first deadline; nil if none has one.
func (s *line) first() *Lease {
	if s.lent == s.head {
		return nil
	}
	return s.items[s.head]
}

// rises is whether no deadline of the line is after this one.
func (s *line) rises(at int64) bool {
	return s.lent == s.head || s.items[s.lent-1].deadline.Load() <= at
}

// push takes in a lease among those without a deadline.
func (s *line) push(l *Lease) {
	if len(s.items) == cap(s.items) {
		s.shrink()
	}
	l.index = s.from + int32(len(s.items))
	s.items = append(s.items, l)
	s.n++
}

// lend puts a lease that had no deadline behind those that have one. If it is not there
// already, it changes places with what is.
func (s *line) lend(l *Lease) {
	if i := int(l.index - s.from); i != s.lent {
		other := s.items[s.lent]
		if s.items[i] = other; other != nil {
			other.index = l.index
		}
		s.items[s.lent], l.index = l, s.from+int32(s.lent)
	}
	s.lent++
	s.trim()
}

func (s *line) cut(l *Lease) {
	s.items[l.index-s.from] = nil
	s.n--
	if s.n == 0 {
		s.items, s.head, s.lent = s.items[:0], 0, 0
		return
	}
	for s.items[s.head] == nil {
		s.head++
	}
	s.lent = max(s.lent, s.head)
	for s.lent > s.head && s.items[s.lent-1] == nil {
		s.lent--
	}
	s.trim()
}

// trim takes off the gaps at the end of a line that has a lease.
func (s *line) trim() {
	for s.items[len(s.items)-1] == nil {
		s.items = s.items[:len(s.items)-1]
	}
}

// shrink makes room at the end, if that frees half of the memory: so each lease is moved
// O(1) times on average, and the memory is at most eight times what was needed at once.
func (s *line) shrink() {
	kept := s.items[:0]
	switch {
	case s.head*2 >= len(s.items):
		kept = append(kept, s.items[s.head:]...)
		s.from += int32(s.head)
		s.lent -= s.head
	case s.n*2 <= len(s.items):
		lent := 0
		for i, l := range s.items {
			if l == nil {
				continue
			}
			if i < s.lent {
				lent++
			}
			l.index = s.from + int32(len(kept))
			kept = append(kept, l)
		}
		s.lent = lent
	default:
		return
	}
	clear(s.items[len(kept):])
	s.items, s.head = kept, 0
}

// The heap.

func (l *Lease) earlier(o *Lease) bool { return l.deadline.Load() < o.deadline.Load() }

// cut takes out what is at i.
func (b *byDeadline) cut(i int) {
	last := len(b.heap) - 1
	moved := b.heap[last]
	b.heap[last] = nil
	b.heap = b.heap[:last]
	if i != last {
		b.heap[i] = moved
		if !b.down(i) {
			b.up(i)
		}
	}
}

func (b *byDeadline) up(i int) {
	l := b.heap[i]
	for i > 0 {
		parent := (i - 1) / 2
		if !l.earlier(b.heap[parent]) {
			break
		}
		b.put(i, b.heap[parent])
		i = parent
	}
	b.put(i, l)
}

// down reports whether anything moved.
func (b *byDeadline) down(i int) bool {
	l, from := b.heap[i], i
	for {
		child := 2*i + 1
		if child >= len(b.heap) {
			break
		}
		if right := child + 1; right < len(b.heap) && b.heap[right].earlier(b.heap[child]) {
			child = right
		}
		if !b.heap[child].earlier(l) {
			break
		}
		b.put(i, b.heap[child])
		i = child
	}
	b.put(i, l)
	return i != from
}

func (b *byDeadline) put(i int, l *Lease) { b.heap[i], l.index = l, int32(i) }
