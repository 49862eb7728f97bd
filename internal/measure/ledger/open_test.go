package ledger

import "testing"

func TestOpen(t *testing.T) {
	s := NewSender(0, 2)
	for range 10 {
		s.Next(1, true)
	}
	for _, seq := range []uint64{2, 3, 7} {
		s.Failed(1, seq)
	}
	for _, seq := range []uint64{4, 9} {
		s.Unknown(1, seq)
	}
	s.Acked(1, 5, 40)
	for _, c := range []struct {
		from, first uint64
		records     int64
	}{{0, 0, 5}, {1, 1, 4}, {2, 5, 3}, {3, 5, 3}, {4, 5, 3}, {5, 5, 3}, {6, 6, 2}, {7, 8, 1}, {8, 8, 1}, {9, 10, 0}, {10, 10, 0}, {11, 10, 0}} {
		if first, records := s.Open(1, Awaited{Next: c.from}); first != c.first || records != c.records {
			t.Errorf("from %d on, %d are open, the first is %d; want %d, %d", c.from, records, first, c.records, c.first)
		}
	}
	if first, records := s.Open(0, Awaited{}); first != 0 || records != 0 {
		t.Errorf("of a lane without records, %d are open from %d on", records, first)
	}
}

// An unknown record that arrives counts as ended only once.
func TestOpenOfAQueue(t *testing.T) {
	s, r := NewSender(1, 1), NewUnordered(0, 2)
	for range 12 {
		s.Next(0, true)
	}
	s.Failed(0, 3)
	s.Unknown(0, 2)
	s.Unknown(0, 6)
	s.Unknown(0, 11)
	for _, c := range []struct {
		arrives uint64
		open    int64
		first   uint64
	}{{0, 7, 1}, {6, 7, 1}, {4, 6, 1}, {9, 5, 1}, {1, 4, 5}, {10, 3, 5}, {5, 2, 7}, {8, 1, 7}, {7, 0, 12}} {
		r.Deliver(1, c.arrives, true)
		if c.arrives == 7 {
			r.Deliver(1, 6, true)
		}
		if first, open := s.Open(0, r.Missing()[1]); first != c.first || open != c.open {
			t.Errorf("with %d, %d are open from %d on; want %d from %d on", c.arrives, open, first, c.open, c.first)
		}
	}
	if missing := r.Missing(); missing[0].Next != 0 || len(missing[0].Gaps) != 0 || missing[1].Next != 11 || len(missing[1].Gaps) != 1 || missing[1].Gaps[0] != (Gap{2, 3}) {
		t.Errorf("missing are %v", missing)
	}
}

// In a queue, gaps whose failed records were forgotten are not open. In an ordered lane, forgotten
// failed records count as open, so a time lag is never too short.
func TestOpenOfForgotten(t *testing.T) {
	s := newSender(0, 1, 2)
	for range 10 {
		s.Next(0, true)
	}
	for _, seq := range []uint64{1, 3, 5, 7} {
		s.Failed(0, seq)
	}
	gaps := []Gap{{1, 1}, {3, 3}, {5, 5}, {7, 8}}
	if first, open := s.Open(0, Awaited{Next: 9, Gaps: gaps}); first != 8 || open != 2 {
		t.Errorf("of a queue %d are open from %d on, want 8 and 9", open, first)
	}
	if first, open := s.Open(0, Awaited{Next: 1}); first != 1 || open != 7 {
		t.Errorf("in order %d are open from %d on, want all but 5 and 7", open, first)
	}
}
