// Package ledger keeps the books of a run: which records were acked and delivered, and the outcome of the others.
//
// Every record has a sequence in its lane, the pair of producer and partition, counted from zero
// without gaps. Kafka keeps the order within a partition, so nearly every delivery is the next
// sequence of its lane, and checking it is one comparison. A skipped sequence leaves a gap. If its
// record arrives later, the record was reordered; if a record arrives twice, the second is a
// duplicate. A remaining gap is lost if the broker acked its records. Memory grows with lanes and
// gaps, not with records.
//
// During the run the two sides are independent. Each producer writes a [Sender], each partition has a [Receiver], and
// [Close] compares them. Both sides count different events, so the books can fail to balance ([Book.Imbalance]).
//
// There are two books. The intended send time of a record puts it in the warm-up or in the measured window. In a
// lane, the measured records begin at one sequence and go on to the end.
//
// Files to know: ledger.go, sender.go, receiver.go, close.go, books.go.
package ledger

// maxSpans bounds each set of missing, failed or unknown sequences of a lane. A span takes 16 bytes; a full set 80
// KiB, with closed spans.
const maxSpans = 4096

const maxSequence = 1 << 62

// measuredFrom of a lane without measured records
const never = ^uint64(0)

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
