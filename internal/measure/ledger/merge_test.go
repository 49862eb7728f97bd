package ledger

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

type arrival struct {
	producer         int
	seq              uint64
	measured         bool
	corrupt, foreign bool
	at               int
}

func (a arrival) comeTo(r *Receiver) {
	switch {
	case a.corrupt:
		r.Corrupt()
	case a.foreign:
		r.Foreign()
	default:
		r.Deliver(a.producer, a.seq, a.measured)
	}
}

type split struct {
	senders []*Sender
	parts   []*Receiver
	one     *Receiver
}

// In newSplit, records come in any order and with duplicates.
func newSplit(t *rapid.T, limit int) *split {
	const records = 30
	s := &split{one: newReceiver(4, 2, maxSpans)}
	for range rapid.IntRange(1, 4).Draw(t, "receivers") {
		s.parts = append(s.parts, newReceiver(4, 2, limit))
	}
	var boundary [2]uint64
	for producer := range boundary {
		boundary[producer] = rapid.Uint64Range(0, records).Draw(t, "measured from")
		sender := NewSender(producer, 5)
		for seq := range uint64(records) {
			sender.Next(4, seq >= boundary[producer])
			sender.Acked(4, seq, -1)
		}
		s.senders = append(s.senders, sender)
	}
	drawn := rapid.Custom(func(t *rapid.T) arrival {
		a := arrival{
			producer: rapid.IntRange(0, 1).Draw(t, "producer"), seq: rapid.Uint64Range(0, records-1).Draw(t, "sequence"),
			at: rapid.IntRange(0, len(s.parts)-1).Draw(t, "comes to"),
		}
		a.measured = a.seq >= boundary[a.producer]
		kind := rapid.IntRange(0, 20).Draw(t, "kind")
		a.corrupt, a.foreign = kind == 19, kind == 20
		return a
	})
	stream := rapid.SliceOfN(drawn, 0, 80).Draw(t, "stream")
	if rapid.Bool().Draw(t, "in order") { // as in Kafka: fewer gaps
		slices.SortStableFunc(stream, func(a, b arrival) int { return int(a.seq) - int(b.seq) })
	}
	for _, a := range stream {
		a.comeTo(s.one)
		a.comeTo(s.parts[a.at])
	}
	return s
}

func (s *split) books(r *Receiver, position int64) Books {
	return Close(s.senders, []*Receiver{r}, func(int32) int64 { return position })
}

func certain(b Book) Book {
	b.Reordered = 0
	return b
}

// Merged books equal those of one receiver, apart from the order.
func TestMergedBooks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newSplit(t, maxSpans)
		merged := Merge(s.parts)
		for _, position := range []int64{-1, ReadToEnd} {
			got, want := s.books(merged, position), s.books(s.one, position)
			for _, b := range []*Books{&got, &want} {
				b.Warmup.Corrupt, b.Measured.Corrupt = 0, b.Warmup.Corrupt+b.Measured.Corrupt
				b.Warmup.Foreign, b.Measured.Foreign = 0, b.Warmup.Foreign+b.Measured.Foreign
			}
			if corrupt := want.Measured.Corrupt; corrupt == 0 {
				if !reflect.DeepEqual(certain(got.Warmup), certain(want.Warmup)) || !reflect.DeepEqual(certain(got.Measured), certain(want.Measured)) {
					t.Fatalf("merged:\n%+v\none:\n%+v", got, want)
				}
			} else if got.Measured.Corrupt != corrupt || got.Warmup.Unique != want.Warmup.Unique || got.Measured.Unique != want.Measured.Unique {
				t.Fatalf("with corrupt records, merged:\n%+v\none:\n%+v", got, want)
			}
			if reordered := got.Warmup.Reordered + got.Measured.Reordered; len(s.touched()) > 1 && (reordered > 0) != got.Approximate {
				t.Fatalf("%d reordered, approximate: %v %q", reordered, got.Approximate, got.Reasons)
			}
		}
		if merged.Arrived() != s.one.Arrived() || !reflect.DeepEqual(merged.Expected(), s.one.Expected()) {
			t.Fatalf("arrived %d up to %v, want %d up to %v", merged.Arrived(), merged.Expected(), s.one.Arrived(), s.one.Expected())
		}
	})
}

func (s *split) touched() (some []*Receiver) {
	for _, r := range s.parts {
		if !r.Empty() {
			some = append(some, r)
		}
	}
	return some
}

// Merged books still balance, have no more records than there were, and say that they are approximate.
func TestMergedBooksOfForgetfulReceivers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newSplit(t, rapid.IntRange(1, 3).Draw(t, "limit"))
		got, want := s.books(Merge(s.parts), ReadToEnd), s.books(s.one, ReadToEnd)
		for _, books := range [][2]Book{{got.Warmup, want.Warmup}, {got.Measured, want.Measured}} {
			got, want := books[0], books[1]
			if faults := got.Imbalance(); len(faults) > 0 {
				t.Fatalf("the merged books don't balance: %q", faults)
			}
			if got.Delivered != want.Delivered || got.Unique > want.Unique || got.Unique+got.LateBeyondWindow < want.Unique {
				t.Fatalf("merged %+v, one %+v", got, want)
			}
		}
		same := got.Warmup.Unique == want.Warmup.Unique && got.Measured.Unique == want.Measured.Unique
		if !same && !got.Approximate {
			t.Fatalf("merged %+v, one %+v, and not approximate", got, want)
		}
	})
}

func TestMergeAgain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newSplit(t, maxSpans)
		first := s.books(Merge(s.parts), ReadToEnd)
		if second := s.books(Merge(s.parts), ReadToEnd); !reflect.DeepEqual(first, second) {
			t.Fatalf("merged again:\n%+v\nbefore:\n%+v", second, first)
		}
	})
}

// The partition's uncommitted records come again in another process.
func TestMergeOfAMove(t *testing.T) {
	a, b := NewReceiver(0, 1), NewReceiver(0, 1)
	for seq := range uint64(100) {
		a.Deliver(0, seq, seq >= 10)
	}
	for seq := uint64(80); seq < 200; seq++ {
		b.Deliver(0, seq, true)
	}
	sender := NewSender(0, 1)
	for seq := range uint64(200) {
		sender.Next(0, seq >= 10)
		sender.Acked(0, seq, int64(seq))
	}
	merged := Merge([]*Receiver{a, b, NewReceiver(0, 1)})
	books := Close([]*Sender{sender}, []*Receiver{merged}, func(int32) int64 { return 200 })
	if want := (Book{Admitted: 190, Acked: 190, Delivered: 210, Unique: 190, Duplicates: 20}); !reflect.DeepEqual(books.Measured, want) {
		t.Errorf("measured %+v, want %+v", books.Measured, want)
	}
	if books.Approximate || books.Warmup.Unique != 10 || books.Warmup.Lost != 0 {
		t.Errorf("warm-up %+v, approximate %v", books.Warmup, books.Approximate)
	}

	b.Deliver(0, 50, true)
	books = Close([]*Sender{sender}, []*Receiver{Merge([]*Receiver{a, b})}, func(int32) int64 { return 200 })
	if !books.Approximate || len(books.Reasons) != 1 || !strings.Contains(books.Reasons[0], "1 records count as reordered") {
		t.Errorf("approximate %v because %q", books.Approximate, books.Reasons)
	}
	if one := Merge([]*Receiver{NewReceiver(0, 1), b}); one != b {
		t.Error("with one that anything came to it is another")
	}
}

func TestTraveledReceiver(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newSplit(t, rapid.SampledFrom([]int{1, 3, maxSpans}).Draw(t, "limit"))
		for i, r := range s.parts {
			data, err := r.MarshalBinary()
			if err != nil {
				t.Fatal(err)
			}
			home := NewReceiver(0, 0)
			if err := home.UnmarshalBinary(data); err != nil {
				t.Fatal(err)
			}
			for _, a := range []arrival{{producer: 1, seq: 35, measured: true}, {seq: 3}, {corrupt: true}} {
				a.comeTo(r)
				a.comeTo(home)
			}
			if got, want := s.books(home, -1), s.books(r, -1); !reflect.DeepEqual(got, want) {
				t.Fatalf("receiver %d has traveled:\n%+v\nwant\n%+v", i, got, want)
			}
		}
	})
}

func TestMalformedReceiver(t *testing.T) {
	r := NewReceiver(1, 2)
	r.Deliver(0, 7, true)
	whole, err := r.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	for cut := range whole {
		if err := r.UnmarshalBinary(whole[:cut]); err == nil {
			t.Errorf("%d of %d bytes were taken for a receiver", cut, len(whole))
		}
	}
	if err := r.UnmarshalBinary(append(whole, 0)); err == nil {
		t.Error("a byte more was taken for a receiver")
	}
	if len(r.lanes) != 2 || r.lanes[0].next != 8 {
		t.Error("a receiver was changed by bytes that are none")
	}
	rapid.Check(t, func(t *rapid.T) {
		_ = NewReceiver(0, 0).UnmarshalBinary(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))
	})
}

func BenchmarkMerge(b *testing.B) {
	const producers = 16
	parts := []*Receiver{NewReceiver(0, producers), NewReceiver(0, producers)}
	for i, r := range parts {
		for producer := range producers {
			for seq := range uint64(100) {
				r.Deliver(producer, uint64(80*i)+seq, true)
			}
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		if Merge(parts).Unique() != producers*180 {
			b.Fatal(math.NaN())
		}
	}
}
