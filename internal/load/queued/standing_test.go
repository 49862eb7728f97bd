package queued

import (
	"testing"

	"kafkabench.example/kafka-bench/internal/measure/snapshot"
	"kafkabench.example/kafka-bench/internal/plan/payload"
)

func TestOldestUnackedBesideAFill(t *testing.T) {
	g := &Group{cfg: Config{Producers: 2, Filled: 1}, books: books{newBook(0, 0, Config{Producers: 2, Partitions: 2}), newBook(1, 0, Config{Producers: 2, Partitions: 2})}}
	of := &node{}
	scheduled, filled := payload.Stamp{Producer: 0, Intended: 700}, payload.Stamp{Producer: 1, Intended: 5}
	want := func(when string, due *int64) {
		t.Helper()
		got := g.OldestUnacked()
		if (got == nil) != (due == nil) || got != nil && *got != *due {
			t.Errorf("%s: %v, want %v", when, got, due)
		}
	}
	want("of nothing open", new(snapshot.NothingDue))
	g.books[1].deliver(filled, 0, of, 900, never, 1)
	want("of the fill", nil)
	g.books[0].deliver(scheduled, 0, of, 900, never, 1)
	want("of both", new(int64(700)))
	g.books[0].ack(scheduled, 950)
	want("of the fill again", nil)
	g.books[1].ack(filled, 960)
	want("of nothing again", new(snapshot.NothingDue))
	g.cfg.Filled = 2
	want("of a run that has only a fill", nil)
}
