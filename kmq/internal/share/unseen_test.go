package share

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/kmq/internal/engine"
	"kafkabench.example/kafka-bench/kmq/internal/lease"
)

// Deliveries that no application saw never count towards a dead letter.
func TestUnseenBesideDeadEntries(t *testing.T) {
	e := Engine{cfg: engine.Config{MaxDeliveries: 2}, group: groupFacts{limit: 5, deadLetterPartitions: 1}}
	for offset := range int64(2 * mostUnseen) {
		e.overlooked(lease.ID{Offset: offset})
		if n := len(e.unseen.newer) + len(e.unseen.older); n > mostUnseen {
			t.Fatalf("%d records are known", n)
		}
	}
	last := lease.ID{Offset: 2*mostUnseen - 1}
	if n := e.overlookedOf(last); n != 1 {
		t.Errorf("the last one noted: %d", n)
	}
	live := lease.ID{Partition: 1}
	for range 3 {
		e.overlooked(live)
	}
	const count = 4 // the broker's; no application had three of them
	before := count - 1 - e.overlookedOf(live)
	if l := (&lease.Lease{At: live, Attempt: 1 + before, Record: &kgo.Record{}}); e.instead(l, count, before) != nil {
		t.Errorf("a dead letter at attempt %d, with %d deliveries that nobody had", l.Attempt, e.overlookedOf(live))
	}
	e.forget(live)
	if n := e.overlookedOf(live); n != 0 {
		t.Errorf("forgotten: %d", n)
	}
}

func TestUnseenKeepsWhatIsNotedAgain(t *testing.T) {
	var u unseen
	live, offset := lease.ID{Partition: 1}, int64(0)
	for i := range 3 {
		u.note(live)
		if n := u.of(live); n != i+1 {
			t.Fatalf("noted %d times: %d", i+1, n)
		}
		for range mostUnseen/2 - 1 {
			u.note(lease.ID{Offset: offset})
			offset++
		}
	}
}
