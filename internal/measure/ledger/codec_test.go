package ledger

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

func traveled(t rapid.TB, s *Sender) *Sender {
	t.Helper()
	data, err := s.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	there := NewSender(0, 0)
	if err := there.UnmarshalBinary(data); err != nil {
		t.Fatal(err)
	}
	return there
}

func TestBooksOfTraveledSenders(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newModel(t)
		steps := []func(*rapid.T){m.admit, m.settle, m.deliver}
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			rapid.SampledFrom(steps).Draw(t, "step")(t)
		}
		positions := rapid.SliceOfN(rapid.Int64Range(-1, 52), len(m.position), len(m.position)).Draw(t, "positions")
		read := func(partition int32) int64 { return positions[partition] }
		want := Close(m.senders, m.receivers, read)
		home := make([]*Sender, len(m.senders))
		for i, s := range m.senders {
			home[i] = traveled(t, s)
		}
		if got := Close(home, m.receivers, read); !reflect.DeepEqual(got, want) {
			t.Fatalf("the books of traveled senders are\n%+v\nwant\n%+v", got, want)
		}
	})
}

func TestTraveledSenderGoesOn(t *testing.T) {
	s := NewSender(3, 2)
	for range 5 {
		s.Next(1, false)
	}
	s.Acked(1, 0, 17)
	s.Failed(1, 2)
	s.Unknown(1, 4)
	s = traveled(t, s)
	if seq := s.Next(1, true); seq != 5 {
		t.Errorf("the next sequence is %d, want 5", seq)
	}
	s.Acked(1, 5, 18)
	books := Close([]*Sender{s}, nil, nil)
	want := Book{Admitted: 5, Acked: 1, Failed: 1, Unknown: 1, InFlight: 2, Pending: 1}
	if !reflect.DeepEqual(books.Warmup, want) {
		t.Errorf("warm-up %+v, want %+v", books.Warmup, want)
	}
	if want := (Book{Admitted: 1, Acked: 1, Pending: 1}); !reflect.DeepEqual(books.Measured, want) {
		t.Errorf("measured %+v, want %+v", books.Measured, want)
	}
}

func TestMalformedSender(t *testing.T) {
	s := NewSender(1, 2)
	s.Next(0, true)
	s.Failed(0, 0)
	whole, err := s.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	for cut := range whole {
		if err := s.UnmarshalBinary(whole[:cut]); err == nil {
			t.Errorf("%d of %d bytes were taken for a sender", cut, len(whole))
		}
	}
	if err := s.UnmarshalBinary(append(whole, 0)); err == nil {
		t.Error("a byte more was taken for a sender")
	}
	if len(s.lanes) != 2 || s.lanes[0].next != 1 {
		t.Error("a sender was changed by bytes that are none")
	}
	rapid.Check(t, func(t *rapid.T) {
		_ = NewSender(0, 0).UnmarshalBinary(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))
	})
}

func TestUnorderedTravels(t *testing.T) {
	r := NewUnordered(3, 1)
	for seq := uint64(0); seq < 3*maxSpans; seq += 2 {
		r.Deliver(0, seq, true)
	}
	data, err := r.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	var read Receiver
	if err := read.UnmarshalBinary(data); err != nil {
		t.Fatal(err)
	}
	if read.Unique() != r.Unique() || read.Has(0, 1) || !read.Has(0, 2) {
		t.Errorf("of %d unique records %d were read", r.Unique(), read.Unique())
	}
}
