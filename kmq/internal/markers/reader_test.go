package markers

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/kmq/internal/tracker"
)

func wanted(offsets ...int64) (all []tracker.Due) {
	for _, o := range offsets {
		all = append(all, tracker.Due{Offset: o})
	}
	return all
}

func offsets(found []redelivery) (records, missing []int64) {
	for _, r := range found {
		if r.copied == nil {
			missing = append(missing, r.Offset)
		} else if r.copied.Offset == r.Offset {
			records = append(records, r.Offset)
		}
	}
	return records, missing
}

// The reader returns the records at the wanted offsets and no others, reports which are missing, and
// waits for what may still come.
func TestReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1)
		w.produce(0, 3000)
		w.deleteBefore(w.cfg.Topic, 5)
		r := &reader{client: w.client, topic: w.cfg.Topic}
		var all []redelivery
		rest := wanted(0, 2, 3, 4, 5, 6, 7, 9, 500, 1500, 1501, 2998, 2999, 3000, 3001)
		for {
			found, left, err := r.read(w.ctx, 0, rest)
			all, rest = append(all, found...), left
			if errors.Is(err, errBehind) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		got, missing := offsets(all)
		if !slices.Equal(got, []int64{5, 6, 7, 9, 500, 1500, 1501, 2998, 2999}) || !slices.Equal(missing, []int64{0, 2, 3, 4}) {
			t.Errorf("got %v, missing %v", got, missing)
		}
		if len(rest) != 2 {
			t.Errorf("left: %v", rest)
		}
	})
}

// Invariant 6: a record stands only for its own offset and leader epoch. A record for which compaction
// or a transaction has left a gap is missing.
func TestARecordIsTheOneAskedFor(t *testing.T) {
	var records []*kgo.Record
	for _, o := range []int64{0, 1, 3, 5, 6, 8} {
		records = append(records, &kgo.Record{Offset: o, LeaderEpoch: 4})
	}
	all := wanted(1, 2, 3, 6, 7, 8, 9)
	for i := range all {
		all[i].Epoch = 4
	}
	all[3].Epoch, all[5].Epoch = 3, -1 // 6 was lost when the log was cut; the epoch of 8 is not known
	found, rest := match(records, all, 9)
	got, missing := offsets(found)
	if !slices.Equal(got, []int64{1, 3, 8}) || !slices.Equal(missing, []int64{2, 6, 7}) || len(rest) != 1 {
		t.Errorf("got %v, missing %v, left %v", got, missing, rest)
	}
}
