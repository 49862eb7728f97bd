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
		q := queue{due: due, sent: due.Clone()}
		var kept, fresh []int64
		t.Repeat(map[string]func(*rapid.T){
			"": func(t *rapid.T) {
				if q.waiting != int64(len(kept)+len(fresh)) || q.fresh() != int64(len(fresh)) || q.kept.len() != len(kept) {
					t.Fatalf("%d wait, %d of them fresh; want %d and %d", q.waiting, q.fresh(), len(kept)+len(fresh), len(fresh))
				}
				if all := slices.Concat(kept, fresh); len(all) > 0 && q.oldestDue() != all[0]*int64(time.Millisecond) {
					t.Fatalf("the oldest was due at %d, want record %d", q.oldestDue(), all[0])
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
