package lease

import "iter"

// byDeadline keeps leases so that the first deadline is at hand. Most come in the order of
// their deadlines, since all are lent for as long, and leave in about that order: they
// stand in a line, where each step is O(1). Those that come out of order (extended, or
// lent for less) are in a heap, and those without a deadline in a line of their own.
type byDeadline struct {
	rising line
	never  line
	heap   []*Lease
	n      int
}

// add takes a lease in; at is 0 for one without a deadline.
func (b *byDeadline) add(l *Lease, at int64) {
	l.deadline.Store(at)
	b.n++
	switch {
	case at == 0:
		b.never.push(l)
	case b.rising.last == nil || b.rising.last.deadline.Load() <= at:
		b.rising.push(l)
	default:
		b.heap = append(b.heap, l)
		l.in = &inHeap
		b.up(len(b.heap) - 1)
	}
}

// remove takes a lease out, if it is in.
func (b *byDeadline) remove(l *Lease) {
	switch l.in {
	case nil:
		return
	case &inHeap:
		b.cut(l.index)
	default:
		l.in.cut(l)
	}
	l.in = nil
	b.n--
}

// move gives a lease another deadline, whether it is in or not.
func (b *byDeadline) move(l *Lease, at int64) {
	if l.in == nil {
		l.deadline.Store(at)
		return
	}
	b.remove(l)
	b.add(l, at)
}

// first is the lease with the first deadline; nil if none has one.
func (b *byDeadline) first() *Lease {
	l := b.rising.first
	if len(b.heap) > 0 && (l == nil || b.heap[0].earlier(l)) {
		return b.heap[0]
	}
	return l
}

// all are the leases, in no order. They must stay while it runs.
func (b *byDeadline) all() iter.Seq[*Lease] {
	return func(yield func(*Lease) bool) {
		for _, first := range []*Lease{b.rising.first, b.never.first} {
			for l := first; l != nil; l = l.next {
				if !yield(l) {
					return
				}
			}
		}
		for _, l := range b.heap {
			if !yield(l) {
				return
			}
		}
	}
}

// line is a list of leases.
type line struct{ first, last *Lease }

// inHeap is what leases in the heap have for a line.
var inHeap line

func (s *line) push(l *Lease) {
	l.in, l.before = s, s.last
	if s.last == nil {
		s.first = l
	} else {
		s.last.next = l
	}
	s.last = l
}

func (s *line) cut(l *Lease) {
	if l.before == nil {
		s.first = l.next
	} else {
		l.before.next = l.next
	}
	if l.next == nil {
		s.last = l.before
	} else {
		l.next.before = l.before
	}
	l.before, l.next = nil, nil
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

func (b *byDeadline) put(i int, l *Lease) { b.heap[i], l.index = l, i }
