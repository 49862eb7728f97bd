package ledger

import (
	"cmp"
	"slices"
)

// Both ends are included.
type span struct{ from, to uint64 }

func (s span) len() uint64 { return s.to - s.from + 1 }

// If there is one span too many, the lowest is closed: the set forgets it, and the floor rises above it.
type spans struct {
	list  []span // list[head:] is the set; spans before head are closed
	head  int
	limit int
	floor uint64
}

// live returns the set until the next change.
func (s *spans) live() []span { return s.list[s.head:] }

func (s *spans) from(seq uint64) []span { return s.list[s.find(seq):] }

func (s *spans) find(seq uint64) int {
	i, _ := slices.BinarySearchFunc(s.live(), seq, func(sp span, seq uint64) int {
		if sp.to < seq {
			return -1
		}
		return 1
	})
	return s.head + i
}

func (s *spans) append(added span) (closed span, full bool) {
	s.list = append(s.list, added)
	return s.bound()
}

// add ignores a sequence below the floor.
func (s *spans) add(seq uint64) {
	if seq < s.floor {
		return
	}
	i := s.find(seq)
	joinsRight := i < len(s.list) && s.list[i].from <= seq+1
	joinsLeft := i > s.head && s.list[i-1].to+1 == seq
	switch {
	case joinsRight && s.list[i].from <= seq:
	case joinsRight && joinsLeft:
		s.list[i-1].to = s.list[i].to
		s.list = slices.Delete(s.list, i, i+1)
	case joinsRight:
		s.list[i].from = seq
	case joinsLeft:
		s.list[i-1].to = seq
	default:
		s.list = slices.Insert(s.list, i, span{seq, seq})
		s.bound()
	}
}

func (s *spans) remove(seq uint64) (closed span, full, found bool) {
	i := s.find(seq)
	if i == len(s.list) || s.list[i].from > seq {
		return span{}, false, false
	}
	switch sp := &s.list[i]; {
	case sp.from == sp.to:
		s.list = slices.Delete(s.list, i, i+1)
	case sp.from == seq:
		sp.from++
	case sp.to == seq:
		sp.to--
	default:
		right := span{seq + 1, sp.to}
		sp.to = seq - 1
		s.list = slices.Insert(s.list, i+1, right)
		closed, full = s.bound()
	}
	return closed, full, true
}

// bound moves the list only when a quarter of it is closed, so that each gap costs only nanoseconds.
func (s *spans) bound() (closed span, full bool) {
	if len(s.live()) <= s.limit {
		return span{}, false
	}
	closed = s.list[s.head]
	s.floor = closed.to + 1
	s.head++
	if s.head >= s.limit/4 {
		s.list = slices.Delete(s.list, 0, s.head)
		s.head = 0
	}
	return closed, true
}

func clip(list []span, lo, hi uint64) []span {
	var part []span
	for _, sp := range list {
		if from, end := max(sp.from, lo), min(sp.to+1, hi); from < end {
			part = append(part, span{from, end - 1})
		}
	}
	return part
}

func count(list []span) int64 {
	var n uint64
	for _, sp := range list {
		n += sp.len()
	}
	return int64(n)
}

func union(a, b []span) []span {
	all := slices.Concat(a, b)
	slices.SortFunc(all, func(x, y span) int { return cmp.Compare(x.from, y.from) })
	merged := all[:0]
	for _, sp := range all {
		if last := len(merged) - 1; last >= 0 && sp.from <= merged[last].to+1 {
			merged[last].to = max(merged[last].to, sp.to)
			continue
		}
		merged = append(merged, sp)
	}
	return merged
}

func subtract(a, b []span) []span {
	var rest []span
	for _, sp := range a {
		for len(b) > 0 && b[0].to < sp.from {
			b = b[1:]
		}
		for i := 0; i < len(b) && b[i].from <= sp.to; i++ {
			if b[i].from > sp.from {
				rest = append(rest, span{sp.from, b[i].from - 1})
			}
			sp.from = b[i].to + 1
			if sp.from > sp.to {
				break
			}
		}
		if sp.from <= sp.to {
			rest = append(rest, sp)
		}
	}
	return rest
}
