// Package ledger keeps the books of a run: what was acknowledged, what was
// delivered, and what became of the rest.
//
// Every record has a sequence in its lane, the pair of producer and partition,
// counted from zero without a gap. Kafka keeps the order within a partition, so
// what is delivered of a lane is nearly always the sequence after the last, and
// checking it is one comparison. When a sequence is skipped, the gap is noted;
// when it comes later after all, it was reordered; when it comes twice, the second
// is a duplicate; and a gap that stays is lost, if the broker had acknowledged
// what belongs there. Memory depends on the number of lanes and gaps, and not on
// the number of records.
//
// The two sides do not know of each other while the run lasts. Each producer
// writes a [Sender], each partition has a [Receiver], and [Close] lays one beside
// the other. It counts both sides from different events, so that the books can
// fail to balance ([Book.Imbalance]), which is what makes them worth keeping.
//
// Everything is kept in two books. A record belongs to the warm-up or to the
// measured window by its intended send time, whenever it arrives; in a lane, the
// measured records begin at one sequence and go on to the end.
//
// Files to know: ledger.go, sender.go, receiver.go, close.go, books.go.
package ledger

// maxSpans bounds each set of sequences that a lane keeps: the missing, the
// failed and the unknown. A span takes 16 bytes, and a set that is full 80 KiB,
// the closed spans included that it has not cleared away yet. A lane without
// gaps takes nothing but itself: 128 bytes here and 192 there.
const maxSpans = 4096

// maxSequence is above any sequence that a run can reach.
const maxSequence = 1 << 62

// never is the first measured sequence of a lane that has none yet.
const never = ^uint64(0)

// The two books.
const (
	bookWarmup = iota
	bookMeasured
	numBooks
)

func bookOf(measured bool) int {
	if measured {
		return bookMeasured
	}
	return bookWarmup
}
