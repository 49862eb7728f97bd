package markers

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/kmq/internal/window"
)

// The reader returns the records at the offsets it was asked for and no others, says which
// are missing, and waits for what may still come.
func TestReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1)
		w.produce(0, 3000)
		w.deleteBefore(w.cfg.Topic, 5)
		r := newReader(w.client, w.cfg.Topic, false)
		wanted := []int64{0, 2, 3, 4, 5, 6, 7, 9, 500, 1500, 1501, 2998, 2999, 3000, 3001}
		f, err := r.read(w.ctx, 0, singles(wanted))
		if !errors.Is(err, errNotYet) || f.through != 3000 {
			t.Errorf("through %d, %v", f.through, err)
		}
		var got, missing []int64
		for _, rec := range f.records {
			got = append(got, rec.Offset)
		}
		for _, m := range f.missing {
			for o := m.From; o < m.To; o++ {
				missing = append(missing, o)
			}
		}
		if !slices.Equal(got, []int64{5, 6, 7, 9, 500, 1500, 1501, 2998, 2999}) || !slices.Equal(missing, []int64{0, 2, 3, 4}) {
			t.Errorf("got %v, missing %v", got, missing)
		}
		if rest := above(singles(wanted), f.through); len(rest) != 2 {
			t.Errorf("left: %v", rest)
		}
	})
}

// Invariant 6: of what a fetch returned, a record stands for its own offset alone. One that
// compaction or a transaction has left a gap for is missing.
func TestARecordIsTheOneAskedFor(t *testing.T) {
	at := func(offsets ...int64) (records []*kgo.Record) {
		for _, o := range offsets {
			records = append(records, &kgo.Record{Offset: o})
		}
		return records
	}
	c, f := cursor{wanted: []window.Range{{From: 1, To: 4}, {From: 6, To: 9}}}, found{}
	c.take(&f, at(0, 1, 3, 5, 6), 7)
	c.take(&f, at(8, 9), 10)
	var got []int64
	for _, r := range f.records {
		got = append(got, r.Offset)
	}
	if !slices.Equal(got, []int64{1, 3, 6, 8}) || !slices.Equal(f.missing, []window.Range{{From: 2, To: 3}, {From: 7, To: 8}}) || !c.over() {
		t.Errorf("got %v, missing %v, left %v", got, f.missing, c.wanted)
	}
}
