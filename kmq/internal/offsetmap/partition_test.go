package offsetmap

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/kmq/internal/lease"
	"kafkabench.example/kafka-bench/kmq/internal/member"
)

func fill(p *partition, from int64) *run {
	r := p.newRun(runSlots)
	for i := range runSlots {
		if taken, _ := p.take(r.fetched(i, lease.FromRecord(&kgo.Record{Offset: from + int64(i)}))); !taken {
			panic("not taken")
		}
	}
	p.filled(r)
	return r
}

func TestRunsAreReused(t *testing.T) {
	p, err := restore(0, member.Offset{}, new(coder), newPool(1000))
	if err != nil {
		t.Fatal(err)
	}
	r := fill(p, 0)
	for i := range r.slots {
		r.slots[i].aside, r.slots[i].marks = 4, stuck|dropped|kept
		p.done(&r.slots[i])
	}
	again := fill(p, runSlots)
	if again != r {
		t.Fatal("new memory was taken")
	}
	for i := range again.slots {
		if s := &again.slots[i]; s.aside != 0 || s.marks != 0 || s.phase != live || s.lease.At.Offset != int64(runSlots+i) || s.run != r {
			t.Fatalf("slot %d: %+v", i, s)
		}
	}
	if again.open != runSlots {
		t.Errorf("%d slots are open", again.open)
	}
}

// MaxInFlight bounds the memory that the partitions share.
func TestRunsAreSharedAndBounded(t *testing.T) {
	runs := newPool(3 * runSlots)
	var all []*partition
	for id := range int32(5) {
		p, err := restore(id, member.Offset{}, new(coder), runs)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
		fill(p, 0)
	}
	for _, p := range all {
		for i, r := 0, p.runs[0]; i < runSlots; i++ {
			p.done(&r.slots[i])
		}
	}
	if len(runs.free) != 3 {
		t.Fatalf("%d runs are kept, 3 is the most", len(runs.free))
	}
	for _, r := range runs.free {
		if r.of != nil {
			t.Errorf("a run that is free holds partition %d", r.of.id)
		}
	}
	if r := fill(all[0], runSlots); r.of != all[0] || len(runs.free) != 2 {
		t.Errorf("%d runs are left, and that taken is of %p, not %p", len(runs.free), r.of, all[0])
	}
}

// Copies of void slots may still be outstanding.
func TestRunsOfACutAreNotReused(t *testing.T) {
	p, err := restore(0, member.Offset{}, new(coder), newPool(1000))
	if err != nil {
		t.Fatal(err)
	}
	r := fill(p, 0)
	p.cut(runSlots / 2)
	for i := range runSlots / 2 {
		p.done(&r.slots[i])
	}
	if fill(p, runSlots/2) == r || r.slots[runSlots-1].phase != void {
		t.Error("a slot that was cut has another record")
	}
}
