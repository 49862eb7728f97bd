package snapshot_test

import (
	"bytes"
	"encoding"
	"errors"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"kafkabench.example/kafka-bench/internal/measure/latency"
	"kafkabench.example/kafka-bench/internal/measure/ledger"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
)

type record struct {
	worker    int
	partition int32
	measured  bool
	dueNs     int64
	fate      fate
	tookNs    int64
	reader    int // none without an ack
}

type fate int

const (
	acked fate = iota
	failed
	unknown
	inFlight
	waiting
	shed
	fates
)

type schedule struct {
	workers, partitions, readers int
	records                      []record
}

func schedules(t *rapid.T) schedule {
	s := schedule{
		workers: rapid.IntRange(1, 5).Draw(t, "workers"), partitions: rapid.IntRange(1, 3).Draw(t, "partitions"),
		readers: rapid.IntRange(1, 4).Draw(t, "readers"),
	}
	owners := make([]int, s.partitions)
	n := rapid.IntRange(0, 80).Draw(t, "records")
	warmup := rapid.IntRange(0, n).Draw(t, "warm-up")
	for i := range n {
		p := rapid.IntRange(0, s.partitions-1).Draw(t, "partition")
		if rapid.IntRange(0, 9).Draw(t, "moves") == 0 {
			owners[p] = rapid.IntRange(0, s.readers-1).Draw(t, "reader")
		}
		s.records = append(s.records, record{
			worker: i % s.workers, partition: int32(p), measured: i >= warmup, dueNs: int64(i-warmup) * 1e6, reader: owners[p],
			fate: fate(rapid.IntRange(0, int(fates)-1).Draw(t, "fate")), tookNs: rapid.Int64Range(0, 2e10).Draw(t, "took"),
		})
	}
	return s
}

func (s schedule) part(number int, sends, reads func(int) bool) snapshot.Snapshot {
	w := newPart(s, number)
	for _, r := range s.records {
		if sends(r.worker) {
			w.send(r)
		}
		if offset := w.offsets[r.partition]; r.fate == acked {
			w.offsets[r.partition]++
			if reads(r.reader) {
				w.read(r, offset)
			}
		}
	}
	return w.snapshot(sends)
}

func (s schedule) whole() snapshot.Snapshot {
	all := func(int) bool { return true }
	return s.part(0, all, all)
}

func (s schedule) split(t *rapid.T, n int) []snapshot.Snapshot {
	divide := func(things int, name string) func(part int) func(int) bool {
		in := rapid.SliceOfN(rapid.IntRange(0, n-1), things, things).Draw(t, name)
		return func(part int) func(int) bool { return func(thing int) bool { return in[thing] == part } }
	}
	sends, reads := divide(s.workers, "workers in parts"), divide(s.readers, "readers in parts")
	parts := make([]snapshot.Snapshot, n)
	for i := range parts {
		parts[i] = s.part(i, sends(i), reads(i))
	}
	return parts
}

type worked struct {
	schedule  schedule
	snap      snapshot.Snapshot
	senders   []*ledger.Sender
	acks      [][][]int64
	receivers []*ledger.Receiver
	offsets   []int64
	recorder  *latency.Recorder
}

func newPart(s schedule, number int) *worked {
	w := &worked{
		schedule: s, offsets: make([]int64, s.partitions),
		recorder: latency.NewRecorder(latency.SendServiceTime, latency.E2EServiceTime),
	}
	w.snap = snapshot.Snapshot{Version: snapshot.Version, Part: number}
	w.snap.Behind = snapshot.NewBehind(make([]int64, s.partitions))
	w.snap.Groups = []snapshot.Group{{Arrived: true, Reached: make([]snapshot.Reached, s.partitions)}}
	w.snap.Last = &snapshot.Last{Errors: [2]map[string]int64{{}, {}}}
	for p := range s.partitions {
		w.receivers = append(w.receivers, ledger.NewReceiver(int32(p), s.workers))
		w.snap.Groups[0].Reached[p].At = snapshot.NeverHanded
	}
	for worker := range s.workers {
		w.senders = append(w.senders, ledger.NewSender(worker, s.partitions))
		w.acks = append(w.acks, make([][]int64, s.partitions))
	}
	return w
}

func (w *worked) send(r record) {
	phase := 0
	if r.measured {
		phase = 1
	}
	sent, behind := &w.snap.Sent[phase], &w.snap.Behind
	sent.Scheduled++
	switch r.fate {
	case shed:
		sent.ShedByGate++
		return
	case waiting:
		behind.WaitingRecords, behind.WaitingDueNs = snapshot.MergeWaiting(
			behind.WaitingRecords, behind.WaitingDueNs, 1, r.dueNs)
		w.snap.DeferredPeak++
		return
	}
	sent.Admitted++
	books := w.senders[r.worker]
	sequence := books.Next(r.partition, r.measured)
	switch r.fate {
	case acked:
		sent.Acked++
		books.Acked(r.partition, sequence, -1)
		behind.AckedIn[r.partition]++
		w.acks[r.worker][r.partition] = append(w.acks[r.worker][r.partition], r.dueNs+r.tookNs)
		w.recorder.Record(r.measured, latency.SendServiceTime, r.tookNs)
	case failed:
		sent.Failed++
		books.Failed(r.partition, sequence)
		w.snap.Last.Errors[phase]["refused"]++
	case unknown:
		sent.Unknown++
		books.Unknown(r.partition, sequence)
		w.snap.Last.Errors[phase]["timed out"]++
	default:
		behind.OpenRecords[r.partition]++
		behind.OldestDueNs[r.partition] = min(behind.OldestDueNs[r.partition], r.dueNs)
	}
}

// A record's sequence is the number of earlier records of its worker in the partition.
func (w *worked) read(r record, offset int64) {
	g := &w.snap.Groups[0]
	at := &g.Reached[r.partition]
	at.Position, at.At, at.Delivered = offset+1, r.dueNs+r.tookNs, at.Delivered+1
	g.Received.Delivered++
	g.Received.Unique++
	w.receivers[r.partition].Deliver(r.worker, w.schedule.sequenceOf(r), r.measured)
	w.recorder.Record(r.measured, latency.E2EServiceTime, r.tookNs)
}

func (s schedule) sequenceOf(r record) (n uint64) {
	for _, before := range s.records {
		if before == r {
			break
		}
		if before.worker == r.worker && before.partition == r.partition && before.fate != waiting && before.fate != shed {
			n++
		}
	}
	return n
}

func (w *worked) snapshot(sends func(int) bool) snapshot.Snapshot {
	var collector latency.Collector
	collector.Add(w.recorder)
	w.snap.Times = collector.Collect().Encode()
	for worker, books := range w.senders {
		if !sends(worker) {
			continue
		}
		w.snap.Last.Books = append(w.snap.Last.Books, books)
		own := make([]snapshot.Gaps, w.schedule.partitions)
		for p := range own {
			own[p] = gapsBetween(w.acks[worker][p])
		}
		w.snap.Last.AckGaps = snapshot.MergeGaps(w.snap.Last.AckGaps, own)
	}
	g := &w.snap.Groups[0]
	g.Books = make(map[int32]*ledger.Receiver)
	for p, r := range w.receivers {
		g.Reached[p].Arrived, g.Reached[p].Awaited = r.Arrived(), r.Expected()
		if !r.Empty() {
			g.Books[int32(p)] = r
		}
	}
	return w.snap
}

func gapsBetween(acks []int64) (gaps snapshot.Gaps) {
	last := snapshot.BeforeAll
	for _, at := range append(slices.Sorted(slices.Values(acks)), snapshot.AfterAll) {
		if at > last {
			gaps.All = append(gaps.All, snapshot.Gap{LastNs: last, FromNs: last, ToNs: at})
		}
		last = at
	}
	return gaps
}

type fataler interface {
	Helper()
	Fatal(...any)
}

// encoded sorts the senders' books, which Merge keeps in order of the parts.
func encoded(t fataler, s snapshot.Snapshot) []byte {
	t.Helper()
	if s.Last != nil {
		last := *s.Last
		last.Books = slices.Clone(last.Books)
		slices.SortFunc(last.Books, func(a, b *ledger.Sender) int { return bytes.Compare(marshaled(t, a), marshaled(t, b)) })
		s.Last = &last
	}
	return marshaled(t, s)
}

func marshaled(t fataler, m encoding.BinaryMarshaler) []byte {
	t.Helper()
	b, err := m.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func traveled[T encoding.BinaryUnmarshaler](t fataler, from encoding.BinaryMarshaler, to T) T {
	t.Helper()
	if err := to.UnmarshalBinary(marshaled(t, from)); err != nil {
		t.Fatal(err)
	}
	return to
}

func merged(t fataler, all ...snapshot.Snapshot) snapshot.Snapshot {
	s, err := snapshot.Merge(all)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func wantSame(t *rapid.T, what string, got, want snapshot.Snapshot) {
	t.Helper()
	if !bytes.Equal(encoded(t, got), encoded(t, want)) {
		t.Fatalf("%s:\n%+v\nwant\n%+v", what, got, want)
	}
}

// Merged parts equal one part that did everything, byte by byte.
func TestMergeIsTheWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := schedules(t)
		parts := s.split(t, rapid.IntRange(1, 5).Draw(t, "parts"))
		before := make([][]byte, len(parts))
		arrived := make([]snapshot.Snapshot, len(parts))
		for i := range parts {
			before[i] = encoded(t, parts[i])
			arrived[i] = *traveled(t, parts[i], new(snapshot.Snapshot))
		}
		order := rapid.Permutation(arrived).Draw(t, "order")
		wantSame(t, "merged", merged(t, order...), s.whole())
		for i := range parts {
			if !bytes.Equal(encoded(t, arrived[i]), before[i]) {
				t.Fatalf("part %d was changed", i)
			}
		}
	})
}

func extras(t *rapid.T, s *snapshot.Snapshot) {
	n := func() int64 { return rapid.Int64Range(0, 1000).Draw(t, "n") }
	d := func() time.Duration { return time.Duration(n()) }
	some := func() bool { return rapid.Bool().Draw(t, "some") }
	s.Seq, s.FromNs, s.ToNs = uint64(n()), n(), n()
	s.Instance, s.Told = uint64(n()), []byte{1}
	if some() {
		bound := n()
		s.Gate = &snapshot.Gate{
			Refused: n(), Changes: n(), Closed: d(), Blind: d(), MaxAge: d(), Open: some(),
			InWindow: &snapshot.Bound{Min: n(), Max: n(), Last: n()},
		}
		if some() {
			s.Gate.Bound = &bound
		} else {
			s.Gate.InWindow = nil
		}
	}
	if some() {
		s.Usage = &snapshot.Usage{
			Known: some(), User: d(), System: d(), RSS: n(), GCCycles: n(), GCCPU: d(), AllocBytes: n(), AllocObjects: n(),
			GCPause: d(), HeapBytes: n(), Goroutines: n(),
		}
		s.Pauses = &snapshot.Pauses{GC: snapshot.Quantiles{Count: n(), P50: d(), P99: d(), Max: d()}}
	}
	s.Traffic = snapshot.Traffic{
		Wire: snapshot.Wire{WrittenBytes: n(), Batches: n()}, Counted: some(),
		Fetch: snapshot.RequestSum{Count: n(), Time: d(), Connections: 1}, Timed: some(),
	}
	s.Failed = rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "failed")
	if some() {
		s.Groups[0].Queue = &snapshot.Queue{
			Total:      snapshot.QueueTotal{Acked: n()},
			Deliveries: [2]snapshot.DeliveryCounts{{Received: n()}, {Dead: n()}},
		}
	}
	if some() {
		s.Last.DeliveryGaps = [][]snapshot.Gaps{make([]snapshot.Gaps, len(s.Groups[0].Reached))}
		for p := range s.Last.DeliveryGaps[0] {
			s.Last.DeliveryGaps[0][p] = gapsBetween([]int64{n(), n(), n()})
		}
	}
	switch rapid.IntRange(0, 5).Draw(t, "sides") {
	case 0:
		s.Behind, s.Last.AckGaps = snapshot.Behind{}, nil
	case 1:
		s.Groups, s.Last.DeliveryGaps = nil, nil
	case 2:
		s.Last = nil
	}
}

func TestMergeInAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := schedules(t)
		parts := s.split(t, 3)
		for i := range parts {
			extras(t, &parts[i])
		}
		want := merged(t, parts...)
		wantSame(t, "in another order", merged(t, rapid.Permutation(parts).Draw(t, "order")...), want)
		wantSame(t, "the first two before", merged(t, merged(t, parts[0], parts[1]), parts[2]), want)
		wantSame(t, "the last two before", merged(t, parts[0], merged(t, parts[2], parts[1])), want)
		wantSame(t, "the outer two before", merged(t, merged(t, parts[0], parts[2]), parts[1]), want)
		alone := parts[1]
		alone.Instance, alone.Told = 0, nil
		wantSame(t, "alone", merged(t, parts[1]), alone)
		idle := snapshot.Snapshot{Version: snapshot.Version, Part: 9, FromNs: want.FromNs, ToNs: want.ToNs}
		wantSame(t, "with one that has nothing", merged(t, want, idle), want)
	})
	if s := merged(t); !reflect.DeepEqual(s, snapshot.Snapshot{}) {
		t.Errorf("of nothing there is %+v", s)
	}
}

func TestMergeRefuses(t *testing.T) {
	sends := func(part, partitions int) snapshot.Snapshot {
		return snapshot.Snapshot{Version: snapshot.Version, Part: part, Behind: snapshot.NewBehind(make([]int64, partitions))}
	}
	reads := func(part, groups, partitions int) snapshot.Snapshot {
		s := snapshot.Snapshot{Version: snapshot.Version, Part: part}
		for range groups {
			s.Groups = append(s.Groups, snapshot.Group{Reached: make([]snapshot.Reached, partitions)})
		}
		return s
	}
	ends := func(part, partitions int) snapshot.Snapshot {
		last := &snapshot.Last{AckGaps: make([]snapshot.Gaps, partitions)}
		return snapshot.Snapshot{Version: snapshot.Version, Part: part, Last: last}
	}
	other := sends(1, 3)
	other.Version++
	torn := sends(1, 3)
	torn.Times = latency.Encoded{1}
	for name, all := range map[string][]snapshot.Snapshot{
		"a part twice": {sends(0, 3), sends(1, 3), sends(1, 3)}, "another version": {sends(0, 3), other},
		"other partitions": {sends(0, 3), sends(1, 2)}, "other groups": {reads(0, 1, 3), reads(1, 2, 3)},
		"other partitions to read": {reads(0, 1, 3), reads(1, 1, 2)}, "other partitions at the end": {ends(0, 1), ends(1, 2)},
	} {
		if s, err := snapshot.Merge(all); !errors.Is(err, snapshot.ErrMismatch) {
			t.Errorf("%s: %+v, %v", name, s, err)
		}
	}
	if _, err := snapshot.Merge([]snapshot.Snapshot{torn, {Version: snapshot.Version, Times: torn.Times}}); err == nil {
		t.Error("histograms that are none were merged")
	}
}

func TestFurthest(t *testing.T) {
	nothing := snapshot.Reached{Position: 5, At: snapshot.NeverHanded}
	at := func(position, at, records int64) snapshot.Reached {
		return snapshot.Reached{Position: position, At: at, Delivered: records, Arrived: records}
	}
	for name, c := range map[string]struct{ a, b, want snapshot.Reached }{
		"nobody was handed anything":         {nothing, nothing, nothing},
		"one was":                            {nothing, at(15, 100, 10), at(15, 100, 10)},
		"the other was":                      {at(15, 100, 10), nothing, at(15, 100, 10)},
		"it moved":                           {at(15, 100, 10), at(25, 200, 10), at(25, 200, 20)},
		"it moved back":                      {at(25, 200, 10), at(15, 100, 10), at(25, 200, 20)},
		"the end came twice":                 {at(25, 200, 10), at(25, 300, 20), at(25, 200, 30)},
		"the end came twice, by the other":   {at(25, 300, 20), at(25, 200, 10), at(25, 200, 30)},
		"what came again was not as far yet": {at(25, 200, 10), at(20, 300, 5), at(25, 200, 15)},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.a.Furthest(c.b); !reflect.DeepEqual(got, c.want) {
				t.Errorf("%+v, want %+v", got, c.want)
			}
		})
	}
}

// A queue's record that two parts received or acknowledged counts as one record.
func TestMergeOfAQueue(t *testing.T) {
	const producers = 1
	part := func(number int, delivered, acked []uint64, dead ...uint64) snapshot.Snapshot {
		books, settled, of := ledger.NewUnordered(0, producers), ledger.NewUnordered(0, producers), ledger.NewUnordered(0, producers)
		q := &snapshot.Queue{OldestUnackedNs: new(int64(10 - number))}
		for _, sequence := range delivered {
			books.Deliver(0, sequence, true)
		}
		for _, sequence := range acked {
			of.Deliver(0, sequence, true)
			settled.Deliver(0, sequence, true)
		}
		for _, sequence := range dead {
			settled.Deliver(0, sequence, true)
		}
		q.Deliveries[1] = snapshot.DeliveryCounts{
			Received: int64(len(delivered)), Unique: int64(len(delivered)), Acked: int64(len(acked)), Dead: int64(len(dead)),
		}
		q.Settled, q.Acked = snapshot.BooksOf([]*ledger.Receiver{settled}), snapshot.BooksOf([]*ledger.Receiver{of})
		return snapshot.Snapshot{Version: snapshot.Version, Part: number, Groups: []snapshot.Group{{
			Arrived: true, Queue: q, Books: snapshot.BooksOf([]*ledger.Receiver{books}),
			Reached: []snapshot.Reached{{Position: settled.Arrived(), At: int64(number), Settled: true}},
		}}}
	}
	all, err := snapshot.Merge([]snapshot.Snapshot{part(0, []uint64{0, 1, 2, 3}, []uint64{0, 1}), part(1, []uint64{1, 2, 4}, []uint64{1, 2}, 2, 3)})
	if err != nil {
		t.Fatal(err)
	}
	g := all.Groups[0]
	want := snapshot.DeliveryCounts{Received: 7, Unique: 5, Acked: 3, AckedAgain: 1, Dead: 2, DeadAcked: 1}
	if got := g.Queue.Deliveries[1]; got != want {
		t.Errorf("the deliveries are %+v, want %+v", got, want)
	}
	if r := g.Reached[0]; r.Position != 4 || r.At != 1 || r.Arrived != 5 || *g.Queue.OldestUnackedNs != 9 {
		t.Errorf("reached %+v, the oldest was due at %d", r, *g.Queue.OldestUnackedNs)
	}
	if all, err = snapshot.Merge([]snapshot.Snapshot{part(0, []uint64{0, 1}, nil), part(1, []uint64{1}, nil)}); err != nil {
		t.Fatal(err)
	}
	if got := all.Groups[0].Queue.Deliveries[1]; got.Unique != 2 || got.Received != 3 {
		t.Errorf("before anything is settled: %+v", got)
	}
}

func TestSinceKeepsWhatWasKnown(t *testing.T) {
	books := map[int32]*ledger.Receiver{0: ledger.NewReceiver(0, 1)}
	before := snapshot.Snapshot{
		Seq: 1, Usage: &snapshot.Usage{RSS: 1}, Pauses: &snapshot.Pauses{}, Last: &snapshot.Last{},
		Told:   []byte{1},
		Behind: snapshot.NewBehind([]int64{5}),
		Groups: []snapshot.Group{{Arrived: true, Books: books, Reached: []snapshot.Reached{
			{Position: 5, Arrived: 4, Awaited: []ledger.Awaited{{Next: 4}}},
		}}},
	}
	now := snapshot.Snapshot{
		Seq: 2, Behind: snapshot.Behind{AckedIn: []int64{7}},
		Groups: []snapshot.Group{{Reached: []snapshot.Reached{{Position: 7}}}},
	}
	got := now.Since(before)
	r := got.Groups[0].Reached[0]
	if r.Position != 7 || r.Arrived != 4 || len(r.Awaited) != 1 || len(got.Groups[0].Books) != 1 {
		t.Errorf("it has come to %+v", got.Groups[0])
	}
	if got.Seq != 2 || got.Usage == nil || got.Last == nil || got.Pauses != nil || got.Told != nil ||
		got.Behind.AckedIn[0] != 7 || len(got.Behind.OpenRecords) != 1 {
		t.Errorf("it is %+v", got)
	}
	if now.Groups[0].Reached[0].Arrived != 0 || before.Groups[0].Reached[0].Position != 5 {
		t.Error("one of the two was changed")
	}
	if all := before.Since(now); all.Groups[0].Reached[0].Arrived != 4 || all.Behind.AckedIn[0] != 5 {
		t.Errorf("one that has everything became %+v", all)
	}
}

func TestFits(t *testing.T) {
	reads := func(n int) []snapshot.Group { return []snapshot.Group{{Reached: make([]snapshot.Reached, n)}} }
	behind := func(acked, open int) snapshot.Snapshot {
		return snapshot.Snapshot{Behind: snapshot.Behind{AckedIn: make([]int64, acked), OpenRecords: make([]int64, open)}}
	}
	foreign := reads(3)
	foreign[0].Books = map[int32]*ledger.Receiver{3: nil}
	gaps := &snapshot.Last{DeliveryGaps: make([][]snapshot.Gaps, 2)}
	for name, c := range map[string]struct {
		s    snapshot.Snapshot
		fits bool
	}{
		"nothing":               {snapshot.Snapshot{}, true},
		"all of it":             {snapshot.Snapshot{Behind: snapshot.NewBehind(make([]int64, 3)), Groups: reads(3)}, true},
		"too few to send to":    {behind(2, 2), false},
		"too few that are open": {behind(3, 2), false},
		"too many to read":      {snapshot.Snapshot{Groups: reads(4)}, false},
		"books of another":      {snapshot.Snapshot{Groups: foreign}, false},
		"gaps of a few":         {snapshot.Snapshot{Last: &snapshot.Last{AckGaps: make([]snapshot.Gaps, 1)}}, false},
		"gaps of more groups":   {snapshot.Snapshot{Groups: reads(3), Last: gaps}, false},
	} {
		if err := c.s.Fits(3); (err == nil) != c.fits || err != nil && !errors.Is(err, snapshot.ErrMismatch) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
