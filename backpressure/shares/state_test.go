package shares_test

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"kafkabench.example/kafka-bench/backpressure/shares"
)

func first(id string) shares.Record {
	return shares.Record{Kind: shares.Beat, Member: id, Seq: 1, First: true}
}

func wants(id string, seq int64, want shares.Part) shares.Record {
	return shares.Record{Kind: shares.Beat, Member: id, Seq: seq, Want: want}
}

func TestFold(t *testing.T) {
	const half = shares.Whole / 2
	reclaim := func(seq int64) shares.Record { return shares.Record{Kind: shares.Reclaim, Member: "a", Seq: seq} }
	leave := func(want shares.Part) shares.Record {
		return shares.Record{Kind: shares.Leave, Member: "a", Seq: 9, Want: want}
	}
	for _, c := range []struct {
		name string
		log  []shares.Record
		a, b shares.Part
	}{
		{"a first beat gives nothing", []shares.Record{first("a")}, 0, 0},
		{"a raise is granted", []shares.Record{first("a"), wants("a", 2, half)}, half, 0},
		{"as far as there is room", []shares.Record{first("a"), first("b"), wants("a", 2, half+1), wants("b", 2, shares.Whole)}, half + 1, half - 1},
		{"a lowering makes room", []shares.Record{first("a"), first("b"), wants("a", 2, shares.Whole), wants("a", 3, half), wants("b", 2, shares.Whole)}, half, half},
		{"a copy is ignored", []shares.Record{first("a"), wants("a", 2, half), wants("a", 3, 7), wants("a", 2, half)}, 7, 0},
		{"a late one is ignored", []shares.Record{first("a"), wants("a", 3, 7), wants("a", 2, half)}, 7, 0},
		{"a stranger is ignored", []shares.Record{wants("a", 2, half)}, 0, 0},
		{"nonsense is bounded", []shares.Record{first("a"), wants("a", 2, 3*shares.Whole), wants("a", 3, -5)}, 0, 0},
		{"reclaimed", []shares.Record{first("a"), wants("a", 2, half), reclaim(2)}, 0, 0},
		{"a reclaim that is overtaken by a beat is void", []shares.Record{first("a"), wants("a", 2, half), wants("a", 3, half), reclaim(2)}, half, 0},
		{"reclaimed once and for all", []shares.Record{first("a"), wants("a", 2, half), reclaim(2), wants("a", 3, half)}, 0, 0},
		{"left", []shares.Record{first("a"), wants("a", 2, half), leave(0)}, 0, 0},
		{"left with records outstanding", []shares.Record{first("a"), wants("a", 2, half), leave(7)}, 7, 0},
		{"who left comes to nothing more", []shares.Record{first("a"), wants("a", 2, half), leave(7), wants("a", 10, half)}, 7, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			var s shares.State
			for _, r := range c.log {
				s.Fold(r)
			}
			a, _ := s.Member("a")
			b, _ := s.Member("b")
			if a.Held != c.a || b.Held != c.b || s.Free() != shares.Whole-c.a-c.b {
				t.Errorf("a has %d, b %d, free %d; want %d and %d", a.Held, b.Held, s.Free(), c.a, c.b)
			}
		})
	}
}

func TestWhoWasReclaimedStaysAway(t *testing.T) {
	var s shares.State
	for _, r := range []shares.Record{first("a"), {Kind: shares.Reclaim, Member: "a", Seq: 1}, wants("a", 2, 5)} {
		s.Fold(r)
	}
	if e, known := s.Member("a"); known {
		t.Errorf("a late beat brought back %+v", e)
	}
}

func TestDrainNeedsAReadingThatIsLateEnough(t *testing.T) {
	w := quiet(t, 4000, 4000)
	w.procs[0].dead = true
	m := w.procs[1].member
	drained := []shares.Partition{{Topic: "t"}}
	asked := w.procs[1].clock() + lease
	m.Drain(asked, drained)
	later := asked + 2*grace
	if got := m.Reclaims(later); len(got) != 0 || !m.Undrained(later) {
		t.Fatalf("reclaimed %v after a reading that was too early", got)
	}
	m.Drain(later, []shares.Partition{{Topic: "t", Committed: 5, End: 9}})
	for _, p := range [][]shares.Partition{nil, {{Topic: "u", Committed: 9, End: 9}}, {{Topic: "t", Committed: 8, End: 8}}} {
		if m.Drain(later+time.Second, p); len(m.Reclaims(later+time.Second)) != 0 {
			t.Fatalf("reclaimed by %v", p)
		}
	}
	m.Drain(later+time.Second, []shares.Partition{{Topic: "t", Committed: 9, End: 50}})
	if got := m.Reclaims(later + time.Second); len(got) != 1 || got[0].Member != "m001" {
		t.Errorf("reclaimed %v", got)
	}
}

func TestRecordsSurviveTheirEncoding(t *testing.T) {
	for _, r := range []shares.Record{
		{Kind: shares.Beat, Bound: "g", Member: "a", Seq: 3, Want: 5, Demand: 2.5, Served: 1},
		{Kind: shares.Leave, Bound: "g", Member: "a", Seq: 4, Want: 5, Unsettled: true},
		{Kind: shares.Snapshot, Before: 7, All: map[string][]shares.Entry{"g": {{Member: "a", Seq: 3, Held: 5, Left: true}}}},
	} {
		line, err := r.Encode()
		if err != nil {
			t.Fatal(err)
		}
		got, err := shares.Decode(line)
		r.Version = shares.Version
		if err != nil || !reflect.DeepEqual(got, r) {
			t.Errorf("%s became %+v (%v)", line, got, err)
		}
	}
	if _, err := shares.Decode([]byte(`{"v":2}`)); !errors.Is(err, shares.ErrVersion) {
		t.Errorf("a later version: %v", err)
	}
	for _, bad := range []string{"", "{}", "text"} {
		if _, err := shares.Decode([]byte(bad)); err == nil || errors.Is(err, shares.ErrVersion) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestAJournalThatBeginsLateAgrees(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := shares.NewJournal(0, 0)
		var log []shares.Record
		var safe []int64 // offsets at which the log may be cut, each covered by a later snapshot
		ids := []string{"a", "b", "c"}
		pending := []shares.Record{}
		for i := range rapid.Int64Range(1, 60).Draw(t, "records") {
			r := shares.Record{
				Kind: shares.Beat, Bound: rapid.SampledFrom([]string{"x", "y"}).Draw(t, "bound"), Member: rapid.SampledFrom(ids).Draw(t, "id"),
				Seq: i + 1, First: rapid.Bool().Draw(t, "first"), Want: shares.Part(rapid.Int64Range(0, 600_000).Draw(t, "want")),
			}
			switch rapid.IntRange(0, 7).Draw(t, "kind") {
			case 2:
				r.Kind = shares.Leave
			case 3:
				r.Kind = shares.Reclaim
				if e, known := all.State(r.Bound).Member(r.Member); known {
					r.Seq = e.Seq
				}
			case 0:
				pending = append(pending, all.Snapshot())
			case 1:
				if len(pending) > 0 {
					r, pending = pending[0], pending[1:]
					safe = append(safe, r.Before)
				}
			}
			log = append(log, r)
			all.Fold(i, r)
		}
		if len(safe) == 0 {
			return
		}
		cut := rapid.Int64Range(0, rapid.SampledFrom(safe).Draw(t, "snapshot")).Draw(t, "cut")
		late := shares.NewJournal(cut, int64(len(log)))
		away := shares.NewJournal(0, int64(len(log)))
		for i := range rapid.Int64Range(0, cut).Draw(t, "before") {
			away.Fold(i, log[i])
		}
		away.Begins(cut)
		for i := cut; i < int64(len(log)); i++ {
			late.Fold(i, log[i])
			away.Fold(i, log[i])
		}
		for _, bound := range []string{"x", "y"} {
			want := all.State(bound).Members()
			for name, j := range map[string]*shares.Journal{"late": late, "away": away} {
				if s := j.State(bound); s == nil || !reflect.DeepEqual(s.Members(), want) {
					t.Fatalf("%s at %d: %s has %+v, want %+v", name, cut, bound, s, want)
				}
			}
		}
	})
}

func TestAGapIsNotACut(t *testing.T) {
	records := []shares.Record{first("m"), wants("m", 2, 5)}
	for _, c := range []struct {
		name                   string
		opened, begins, second int64
		known                  bool
	}{
		{"a marker", 0, 0, 2, true},
		{"several", 0, 0, 9, true},
		{"what was read is deleted", 0, 1, 2, true},
		{"what was not read is deleted", 0, 2, 2, false},
		{"a cut behind a marker", 0, 2, 3, false},
		{"a marker behind a cut that nothing covers", 7, 7, 9, false},
	} {
		j := shares.NewJournal(c.opened, c.opened+9)
		j.Fold(c.opened, records[0])
		j.Begins(c.begins)
		j.Fold(c.second, records[1])
		if s := j.State(""); (s != nil) != c.known || c.known && s.Free() != shares.Whole-5 {
			t.Errorf("%s: the log says %+v", c.name, s)
		}
	}
}

func TestASnapshotBehindAMarker(t *testing.T) {
	j := shares.NewJournal(0, 5)
	j.Fold(0, first("m"))
	j.Begins(5)
	j.Fold(6, shares.Record{Kind: shares.Snapshot, Before: 5, All: map[string][]shares.Entry{"": {{Member: "m", Seq: 3, Held: 7}}}})
	if s := j.State(""); s == nil || s.Free() != shares.Whole-7 {
		t.Errorf("the log says %+v", s)
	}
}

func TestATopicThatVanishes(t *testing.T) {
	other := shares.Partition{Topic: "u", Committed: 5, End: 5}
	here := shares.Partition{Topic: "t", Committed: 5, End: 9}
	anew := shares.Partition{Topic: "t", Committed: 0, End: 3}
	for name, now := range map[string][]shares.Partition{"deleted": {other}, "made anew": {other, anew}} {
		w := quiet(t, 4000, 4000)
		w.procs[0].dead = true
		m := w.procs[1].member
		at := w.procs[1].clock() + 2*(lease+grace)
		drain := func(after time.Duration, partitions ...shares.Partition) int {
			m.Drain(at+after, partitions)
			return len(m.Reclaims(at + after))
		}
		wait := lease + grace
		if drain(0, other, here)+drain(1, now...)+drain(wait, now...)+drain(wait+1, other, here)+drain(wait+2, now...)+drain(2*wait+1, now...) > 0 {
			t.Errorf("%s: reclaimed too early", name)
		}
		if drain(2*wait+2, now...) != 1 {
			t.Errorf("%s: the part stays held for ever", name)
		}
	}
}

func TestTargets(t *testing.T) {
	entry := func(demand, served float64) shares.Entry { return shares.Entry{Demand: demand, Served: served} }
	for _, c := range []struct {
		name    string
		entries []shares.Entry
		want    []shares.Part
	}{
		{"idle ones share alike", []shares.Entry{entry(0, 0), entry(0, 0)}, []shares.Part{500_000, 500_000}},
		{"by demand where all are met", []shares.Entry{entry(300, 300), entry(100, 100)}, []shares.Part{725_000, 275_000}},
		{"a small demand is met, large ones are equal", []shares.Entry{entry(9000, 900), entry(4000, 900), entry(200, 200)}, []shares.Part{432_500, 432_500, 135_000}},
		{"nobody is served yet", []shares.Entry{entry(10, 0), entry(30, 0)}, []shares.Part{275_000, 725_000}},
		{"alone", []shares.Entry{entry(5, 5)}, []shares.Part{shares.Whole}},
	} {
		if got := shares.Targets(c.entries, shares.Whole, shares.DefaultFloor); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		entries := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) shares.Entry {
			return entry(rapid.Float64Range(0, 1e6).Draw(t, "demand"), rapid.Float64Range(0, 1e6).Draw(t, "served"))
		}), 1, 200).Draw(t, "entries")
		var sum shares.Part
		for _, part := range shares.Targets(entries, shares.Whole, shares.DefaultFloor) {
			if part <= 0 {
				t.Fatalf("a target of %d", part)
			}
			sum += part
		}
		if sum != shares.Whole {
			t.Fatalf("the targets add up to %d", sum)
		}
	})
}

func TestMeter(t *testing.T) {
	var m shares.Meter
	m.Read(0, 100, 0, 0)
	if demand, served := m.Read(time.Second, 1100, 3000, 0); demand != 2000 || served != 500 {
		t.Errorf("%v asked and %v served after one second of 4000 and 1000", demand, served)
	}
	if demand, _ := m.Read(2*time.Second, 1100, 3000, 5); demand != 2000 {
		t.Errorf("the demand is %v while callers wait and can't ask again", demand)
	}
}
