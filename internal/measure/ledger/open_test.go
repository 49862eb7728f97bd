package ledger

import "testing"

// TestOpen: what failed or is unknown has ended, wherever it lies.
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
	s.Acked(1, 5, 40) // and has not arrived, as far as from says
	for _, c := range []struct {
		from, first uint64
		records     int64
	}{{0, 0, 5}, {1, 1, 4}, {2, 5, 3}, {3, 5, 3}, {4, 5, 3}, {5, 5, 3}, {6, 6, 2}, {7, 8, 1}, {8, 8, 1}, {9, 10, 0}, {10, 10, 0}, {11, 10, 0}} {
		if first, records := s.Open(1, c.from); first != c.first || records != c.records {
			t.Errorf("from %d on, %d are open, the first is %d; want %d, %d", c.from, records, first, c.records, c.first)
		}
	}
	if first, records := s.Open(0, 0); first != 0 || records != 0 {
		t.Errorf("of a lane without records, %d are open from %d on", records, first)
	}
}

func TestMissing(t *testing.T) {
	r := NewUnordered(0, 2)
	for _, seq := range []uint64{0, 1, 4, 6, 3} {
		r.Deliver(1, seq, true)
	}
	if lowest := r.Missing(); lowest[0] != 0 || lowest[1] != 2 {
		t.Errorf("the lowest missing are %d, want 0 and 2", lowest)
	}
}
