package ledger

import (
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"unsafe"
)

type fixture struct {
	*Sender
	*Receiver
	position int64
}

func newFixture() *fixture {
	return &fixture{NewSender(0, 1), NewReceiver(0, 1), 0}
}

// ack acks n records, at the offsets of their sequences.
func (f *fixture) ack(n int, measured bool) {
	for range n {
		seq := f.Next(0, measured)
		f.Acked(0, seq, int64(seq))
	}
}

func (f *fixture) deliver(measured bool, seqs ...uint64) {
	for _, seq := range seqs {
		f.Deliver(0, seq, measured)
	}
}

func (f *fixture) close() Books {
	return Close([]*Sender{f.Sender}, []*Receiver{f.Receiver}, func(int32) int64 { return f.position })
}

func TestFindings(t *testing.T) {
	r := NewReceiver(0, 1)
	for i, arrival := range []struct {
		producer int
		seq      uint64
		want     Finding
	}{
		{0, 0, First},
		{0, 1, First},
		{0, 1, Duplicate},
		{0, 5, First}, // 2, 3 and 4 are missing
		{0, 3, Late},
		{0, 3, Duplicate},
		{0, 2, Late},
		{0, 5, Duplicate},
		{0, 4, Late},
		{0, 6, First},
		{1, 0, Stray},
		{-1, 0, Stray},
		{0, maxSequence, Stray},
	} {
		if got := r.Deliver(arrival.producer, arrival.seq, true); got != arrival.want {
			t.Errorf("arrival %d, sequence %d: %v, want %v", i, arrival.seq, got, arrival.want)
		}
	}
	if got := r.Unique(); got != 7 {
		t.Errorf("%d unique, want 7", got)
	}
}

// A forgotten record that arrives stays lost.
func TestLateBeyondWindow(t *testing.T) {
	f := &fixture{NewSender(0, 1), newReceiver(0, 1, 2), 0}
	f.ack(8, true)
	f.deliver(true, 1, 3, 5, 7) // 0, 2, 4 and 6 are missing; 0 and 2 are forgotten
	for seq, want := range []Finding{LateBeyondWindow, LateBeyondWindow, LateBeyondWindow, Duplicate, Late} {
		if got := f.Deliver(0, uint64(seq), true); got != want {
			t.Errorf("sequence %d is %v, want %v", seq, got, want)
		}
	}
	books := f.close()
	got := books.Measured
	if got.Lost != 3 || got.LateBeyondWindow != 3 || got.Reordered != 1 || got.Imbalance() != nil {
		t.Errorf("books %+v, want 3 lost, 3 late beyond the window, 1 reordered", got)
	}
	if !books.Approximate || len(books.Reasons) != 1 || !strings.HasPrefix(books.Reasons[0], "2 missing records") {
		t.Errorf("approximate %v, reasons %q; want the 2 records that were forgotten", books.Approximate, books.Reasons)
	}
}

func TestNeverSettled(t *testing.T) {
	f := newFixture()
	f.ack(5, true)
	f.deliver(true, 0, 2, 3)
	f.Next(0, true)
	books := f.close()
	got := books.Measured
	if got.InFlight != 1 || got.Lost != 1 || got.Pending != 1 || got.Imbalance() != nil {
		t.Errorf("books %+v, want 1 in flight, 1 lost, 1 pending", got)
	}
	if !books.Approximate || !strings.HasPrefix(books.Reasons[0], "1 records were never settled") {
		t.Errorf("approximate %v, reasons %q; want the record that was never settled", books.Approximate, books.Reasons)
	}
}

func TestLanesFillCacheLines(t *testing.T) {
	const line = 64
	if size := unsafe.Sizeof(senderLane{}); size%line != 0 {
		t.Errorf("a sender's lane takes %d bytes, not whole lines of %d", size, line)
	}
	if size := unsafe.Sizeof(receiverLane{}); size%line != 0 {
		t.Errorf("a receiver's lane takes %d bytes, not whole lines of %d", size, line)
	}
}

func TestFindingWords(t *testing.T) {
	words := []string{"first", "late", "duplicate", "late beyond window", "stray"}
	for f, want := range words {
		if got := Finding(f).String(); got != want {
			t.Errorf("finding %d is %q, want %q", f, got, want)
		}
	}
}

func TestCloseExample(t *testing.T) {
	f := newFixture()
	f.ack(10, true)
	f.Failed(0, f.Next(0, true))  // 10
	f.Unknown(0, f.Next(0, true)) // 11
	f.Unknown(0, f.Next(0, true)) // 12
	f.deliver(true, 0, 2, 1, 3, 3, 6, 11)
	f.Corrupt() // replaces 4
	f.Receiver.Foreign()

	got := f.close().Measured
	want := Book{
		Admitted: 13, Acked: 10, Failed: 1, Unknown: 2,
		Delivered: 7, Unique: 6, Duplicates: 1, Reordered: 1, Corrupt: 1, Foreign: 1,
		Lost: 4, UnackedDelivered: 1,
		LostRanges: []LostRange{{0, 0, 5, 5}, {0, 0, 7, 9}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("books\n got %+v\nwant %+v", got, want)
	}
	if faults := got.Imbalance(); faults != nil {
		t.Errorf("the books do not balance: %q", faults)
	}
}

func TestPendingOrLost(t *testing.T) {
	for name, test := range map[string]struct {
		offset, position int64
		lost, pending    int64
	}{
		"behind":         {offset: 7, position: 7, pending: 1},
		"past":           {offset: 7, position: 8, lost: 1},
		"offset unknown": {offset: -1, position: 8, pending: 1},
		"no position":    {offset: 7, position: -1, pending: 1},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture()
			f.position = test.position
			f.Acked(0, f.Next(0, true), test.offset)
			got := f.close().Measured
			if got.Lost != test.lost || got.Pending != test.pending {
				t.Errorf("lost %d, pending %d; want %d, %d", got.Lost, got.Pending, test.lost, test.pending)
			}
		})
	}
}

func TestCloseWithoutReceivers(t *testing.T) {
	f := newFixture()
	f.ack(5, true)
	got := Close([]*Sender{f.Sender}, nil, nil).Measured
	if got.Acked != 5 || got.Pending != 5 || got.Imbalance() != nil {
		t.Errorf("nobody consumes: %+v, want 5 pending", got)
	}
}

// The gap belongs to both books.
func TestGapOverTheBoundary(t *testing.T) {
	f := newFixture()
	f.ack(10, false)
	f.ack(10, true)
	f.deliver(false, 0, 1, 2, 3, 4, 5, 6)
	f.deliver(true, 12, 13, 14, 15, 16, 17, 18, 19)
	books := f.close()
	if books.Warmup.Lost != 3 || books.Measured.Lost != 2 {
		t.Errorf("lost %d and %d, want 3 of the warm-up and 2 measured", books.Warmup.Lost, books.Measured.Lost)
	}
	if got, want := books.Warmup.LostRanges, []LostRange{{0, 0, 7, 9}}; !reflect.DeepEqual(got, want) {
		t.Errorf("lost of the warm-up: %v, want %v", got, want)
	}
}

func TestImbalanceShows(t *testing.T) {
	for name, test := range map[string]struct {
		mistake func(f *fixture)
		want    string
	}{
		"acked twice":          {func(f *fixture) { f.Acked(0, 0, 0) }, "admitted"},
		"acked and failed":     {func(f *fixture) { f.Failed(0, 0) }, "admitted"},
		"never admitted":       {func(f *fixture) { f.deliver(true, 10) }, "acked"},
		"delivered as warm-up": {func(f *fixture) { f.deliver(false, 9) }, "acked"},
		"a producer not closed": {func(f *fixture) {
			f.Receiver.lanes = append(f.Receiver.lanes, f.Receiver.lanes[0])
			f.Deliver(1, 9, true)
		}, "acked"},
		"a delivery not found": {func(f *fixture) { f.Receiver.books[bookMeasured].delivered++ }, "delivered"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture()
			f.ack(10, true)
			f.deliver(true, 0, 1, 2, 3, 4, 5, 6, 7, 8)
			if faults := f.close().Measured.Imbalance(); faults != nil {
				t.Fatalf("before the mistake: %q", faults)
			}
			test.mistake(f)
			faults := f.close().Measured.Imbalance()
			if len(faults) == 0 || !strings.HasPrefix(faults[0], test.want) {
				t.Errorf("faults %q, want the equation of %s", faults, test.want)
			}
		})
	}
}

func TestCorruptTwice(t *testing.T) {
	f := newFixture()
	f.ack(3, true)
	f.deliver(true, 0)
	f.Corrupt()
	f.deliver(true, 2)
	f.Corrupt()
	got := f.close().Measured
	if got.Corrupt != 2 || got.CorruptUnplaced != 1 || got.Lost != 0 || got.Imbalance() != nil {
		t.Errorf("books %+v, want 2 corrupt, 1 of them without a place, none lost", got)
	}
}

func TestCorruptInAPartitionWithoutLanes(t *testing.T) {
	r := NewReceiver(3, 1)
	r.Corrupt()
	books := Close(nil, []*Receiver{r}, func(int32) int64 { return 0 })
	if got := books.Warmup; got.Corrupt != 1 || got.CorruptUnplaced != 1 || got.Imbalance() != nil {
		t.Errorf("books %+v, want 1 corrupt without a place", got)
	}
}

func TestLostRangesAreBounded(t *testing.T) {
	f := newFixture()
	f.ack(1000, true)
	for seq := uint64(1); seq < 1000; seq += 2 {
		f.deliver(true, seq)
	}
	got := f.close().Measured
	if got.Lost != 500 || len(got.LostRanges) != maxLostRanges {
		t.Errorf("lost %d in %d ranges, want 500 and the first %d", got.Lost, len(got.LostRanges), maxLostRanges)
	}
}

func lose(drop func(seq uint64) bool) *fixture {
	f := newFixture()
	for seq := range uint64(2_000_000) {
		measured := seq >= 999_999
		f.Acked(0, f.Next(0, measured), int64(seq))
		if !drop(seq) {
			f.deliver(measured, seq)
		}
	}
	f.position = 2_000_000
	return f
}

func TestMillionLost(t *testing.T) {
	for name, test := range map[string]struct {
		drop        func(seq uint64) bool
		approximate bool
	}{
		"contiguous":    {func(seq uint64) bool { return seq >= 500_000 && seq < 1_500_000 }, false},
		"at the end":    {func(seq uint64) bool { return seq >= 1_000_000 }, false},
		"even":          {func(seq uint64) bool { return seq%2 == 0 }, true},
		"odd":           {func(seq uint64) bool { return seq%2 == 1 }, true},
		"runs of three": {func(seq uint64) bool { return seq%6 < 3 }, true},
	} {
		t.Run(name, func(t *testing.T) {
			before := heapBytes()
			f := lose(test.drop)
			grown := heapBytes() - before
			t.Logf("%s: %d bytes", name, grown)
			if grown > maxLaneBytes {
				t.Errorf("the books of one lane take %d bytes, want at most %d", grown, maxLaneBytes)
			}
			var want [numBooks]int64
			for seq := range uint64(2_000_000) {
				if test.drop(seq) {
					want[bookOf(seq >= 999_999)]++
				}
			}
			books := f.close()
			for book, got := range []Book{books.Warmup, books.Measured} {
				if got.Lost != want[book] || got.Pending != 0 || got.Imbalance() != nil {
					t.Errorf("book %d: lost %d, pending %d, want %d lost; faults %q",
						book, got.Lost, got.Pending, want[book], got.Imbalance())
				}
			}
			if books.Approximate != test.approximate {
				t.Errorf("approximate: %v, for the reasons %q", books.Approximate, books.Reasons)
			}
		})
	}
}

func TestMillionUnknown(t *testing.T) {
	before := heapBytes()
	f := newFixture()
	for range 1_000_000 {
		f.ack(1, true)
		f.Unknown(0, f.Next(0, true))
	}
	if grown := heapBytes() - before; grown > maxLaneBytes {
		t.Errorf("the books of one lane take %d bytes, want at most %d", grown, maxLaneBytes)
	}
	for seq := uint64(0); seq < 2_000_000; seq += 2 {
		f.deliver(true, seq)
	}
	books := f.close()
	got := books.Measured
	if got.Unknown != 1_000_000 || got.Unique != 1_000_000 || got.Lost != 0 || got.Imbalance() != nil {
		t.Errorf("books %+v, want a million unknown, a million unique, none lost", got)
	}
	if !books.Approximate || len(books.Reasons) != 2 {
		t.Errorf("approximate %v, reasons %q; want both bounds named", books.Approximate, books.Reasons)
	}
}

// a full set of spans and other allocations
const maxLaneBytes = 96 << 10

// The second collection sweeps what the first marked.
func heapBytes() int64 {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

func TestCloseWhileRunning(t *testing.T) {
	const records = 20_000
	f := newFixture()
	var wg sync.WaitGroup
	wg.Go(func() {
		for range records {
			f.Sender.Lock()
			f.ack(1, true)
			f.Sender.Unlock()
		}
	})
	wg.Go(func() {
		for seq := range uint64(records) {
			f.Receiver.Lock()
			f.deliver(true, seq)
			f.Receiver.Unlock()
		}
	})
	for range 100 {
		f.close()
	}
	wg.Wait()
	if got := f.close().Measured; got.Unique != records || got.Lost+got.Pending != 0 || got.Imbalance() != nil {
		t.Errorf("books %+v, want %d unique and nothing missing", got, records)
	}
}
