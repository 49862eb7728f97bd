package ledger

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func members(t *rapid.T, list []span) []uint64 {
	var seqs []uint64
	for i, sp := range list {
		if sp.to < sp.from || i > 0 && sp.from <= list[i-1].to+1 {
			t.Fatalf("%v: spans are empty, touch or descend", list)
		}
		for seq := sp.from; seq <= sp.to; seq++ {
			seqs = append(seqs, seq)
		}
	}
	return seqs
}

func keys(set map[uint64]bool) []uint64 {
	var seqs []uint64
	for seq := range set {
		seqs = append(seqs, seq)
	}
	slices.Sort(seqs)
	return seqs
}

func TestSpansAgainstMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		set := spans{limit: rapid.IntRange(1, 20).Draw(t, "limit")}
		model, floor, next := map[uint64]bool{}, uint64(0), uint64(0)
		forget := func(closed span, full bool) {
			if full {
				floor = closed.to + 1
				for seq := range closed.to + 1 {
					delete(model, seq)
				}
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"append": func(t *rapid.T) {
				from := max(next, floor) + rapid.Uint64Range(1, 3).Draw(t, "distance")
				added := span{from, from + rapid.Uint64Range(0, 5).Draw(t, "length")}
				for seq := added.from; seq <= added.to; seq++ {
					model[seq] = true
				}
				next = added.to + 1
				forget(set.append(added))
			},
			"add": func(t *rapid.T) {
				seq := rapid.Uint64Range(0, next+3).Draw(t, "seq")
				if seq >= floor {
					model[seq] = true
					next = max(next, seq+1)
				}
				before := set.floor
				set.add(seq)
				forget(span{0, set.floor - 1}, set.floor > before)
			},
			"remove": func(t *rapid.T) {
				seq := rapid.Uint64Range(0, next+3).Draw(t, "seq")
				had := model[seq]
				delete(model, seq)
				closed, full, found := set.remove(seq)
				if found != had {
					t.Fatalf("remove(%d) found it: %v, want %v", seq, found, had)
				}
				forget(closed, full)
			},
			"": func(t *rapid.T) {
				if got, want := members(t, set.live()), keys(model); !slices.Equal(got, want) {
					t.Fatalf("the set is %v, want %v", got, want)
				}
				if set.floor != floor || len(set.live()) > set.limit {
					t.Fatalf("floor %d, %d spans; want floor %d, at most %d", set.floor, len(set.live()), floor, set.limit)
				}
			},
		})
	})
}

func spanList() *rapid.Generator[[]span] {
	return rapid.Custom(func(t *rapid.T) []span {
		set := spans{limit: maxSpans}
		for _, seq := range rapid.SliceOf(rapid.Uint64Range(0, 60)).Draw(t, "seqs") {
			set.add(seq)
		}
		return set.live()
	})
}

func TestSetsAgainstMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := spanList().Draw(t, "a"), spanList().Draw(t, "b")
		lo, hi := rapid.Uint64Range(0, 60).Draw(t, "lo"), rapid.Uint64Range(0, 60).Draw(t, "hi")
		var both, difference, part []uint64
		for seq := range uint64(61) {
			inA, inB := slices.Contains(members(t, a), seq), slices.Contains(members(t, b), seq)
			if inA || inB {
				both = append(both, seq)
			}
			if inA && !inB {
				difference = append(difference, seq)
			}
			if inA && seq >= lo && seq < hi {
				part = append(part, seq)
			}
		}
		if got := members(t, union(a, b)); !slices.Equal(got, both) {
			t.Errorf("union(%v, %v) = %v, want %v", a, b, got, both)
		}
		if got := members(t, subtract(a, b)); !slices.Equal(got, difference) {
			t.Errorf("subtract(%v, %v) = %v, want %v", a, b, got, difference)
		}
		if got := members(t, clip(a, lo, hi)); !slices.Equal(got, part) {
			t.Errorf("clip(%v, %d, %d) = %v, want %v", a, lo, hi, got, part)
		}
		if got := count(a); got != int64(len(members(t, a))) {
			t.Errorf("count(%v) = %d, want %d", a, got, len(members(t, a)))
		}
	})
}
