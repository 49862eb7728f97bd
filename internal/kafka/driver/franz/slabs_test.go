package franz

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
	"pgregory.net/rapid"
)

func TestSlabIsUsedAgain(t *testing.T) {
	var s slabs
	slab := s.GetRecords(minSlab)
	slab[0].Value = []byte("value")
	s.giveBack(&slab[0])
	again := s.GetRecords(minSlab)
	if &again[0] != &slab[0] {
		t.Error("a slab that was given back is not used again")
	}
	if again[0].Value != nil {
		t.Error("a slab that was given back still holds a value")
	}
	if s.GetRecords(minSlab-1) != nil {
		t.Error("a small batch is given a slab")
	}
	s.giveBack(&kgo.Record{})
}

func TestSlabsAreBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s slabs
		lent := make(map[*kgo.Record][]kgo.Record)
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			n := rapid.SampledFrom([]int{1, minSlab, 1000, maxFree/2 + 1, maxLent}).Draw(t, "n")
			if slab := s.GetRecords(n); slab != nil {
				first := &slab[0]
				if _, twice := lent[first]; twice || len(slab) < n {
					t.Fatalf("lent %d records for %d, lent already: %v", len(slab), n, twice)
				}
				lent[first] = slab
			}
			for first := range lent {
				if rapid.Bool().Draw(t, "give back") {
					s.giveBack(first)
					delete(lent, first)
				}
			}
			if s.freeRecords > maxFree || s.lentRecords > maxLent && len(s.lent) > 1 {
				t.Fatalf("%d records free and %d lent", s.freeRecords, s.lentRecords)
			}
		}
	})
}
