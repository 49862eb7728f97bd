package send

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"kafkabench.example/kafka-bench/internal/plan/arrival"
)

func TestQueueLosesNothing(t *testing.T) {
	process, err := arrival.Constant(perSecond(1000))
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		due := process.Stripe(0, 1)
		q := queue{due: due, sent: due.Clone(), chosen: unplaced}
		var kept, fresh []int64
		partition := func(index int64) int32 { return int32(index%4) - 1 }
		t.Repeat(map[string]func(*rapid.T){
			"": func(t *rapid.T) {
				if q.waiting != int64(len(kept)+len(fresh)) || q.fresh() != int64(len(fresh)) || q.kept.n != len(kept) {
					t.Fatalf("%d wait, %d of them fresh; want %d and %d", q.waiting, q.fresh(), len(kept)+len(fresh), len(fresh))
				}
				if all := slices.Concat(kept, fresh); len(all) > 0 && q.oldestDue() != all[0]*int64(time.Millisecond) {
					t.Fatalf("the oldest was due at %d, want record %d", q.oldestDue(), all[0])
				}
				for p := range int32(4) {
					waits := slices.ContainsFunc(kept, func(i int64) bool { return partition(i) == p })
					if q.kept.waits(p) != waits {
						t.Fatalf("of partition %d one waits: %v, want %v", p, q.kept.waits(p), waits)
					}
				}
			},
			"come due": func(t *rapid.T) {
				for range rapid.IntRange(1, 20).Draw(t, "n") {
					fresh = append(fresh, q.due.Index())
					q.due.Advance()
					q.waiting++
				}
			},
			"keep": func(t *rapid.T) {
				if len(fresh) == 0 {
					return
				}
				q.chosen = partition(fresh[0])
				q.keepFresh()
				kept, fresh = append(kept, fresh[0]), fresh[1:]
			},
			"take": func(t *rapid.T) {
				all := slices.Concat(kept, fresh)
				if len(all) == 0 {
					return
				}
				if r := q.take(); r.index != all[0] || r.due != all[0]*int64(time.Millisecond) {
					t.Fatalf("took record %d, want %d", r.index, all[0])
				}
				if len(kept) > 0 {
					kept = kept[1:]
				} else {
					fresh = fresh[1:]
				}
			},
			"take a partition's": func(t *rapid.T) {
				lanes, oldest := q.kept.byAge(), int64(-1)
				for _, lane := range lanes {
					if lane.head().index <= oldest {
						t.Fatalf("the lane of record %d comes after that of %d", lane.head().index, oldest)
					}
					oldest = lane.head().index
				}
				if len(lanes) == 0 {
					return
				}
				lane := rapid.SampledFrom(lanes).Draw(t, "lane")
				p := lane.head().partition
				i := slices.IndexFunc(kept, func(i int64) bool { return partition(i) == p })
				if r := q.takeKept(lane); r.index != kept[i] {
					t.Fatalf("took record %d of partition %d, want %d", r.index, p, kept[i])
				}
				kept = slices.Delete(kept, i, i+1)
			},
			"take fresh": func(t *rapid.T) {
				if len(fresh) == 0 {
					return
				}
				if r := q.takeFresh(); r.index != fresh[0] {
					t.Fatalf("took record %d, want %d", r.index, fresh[0])
				}
				fresh = fresh[1:]
			},
		})
	})
}
