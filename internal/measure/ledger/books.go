package ledger

import "fmt"

// maxLostRanges bounds what a book names of its lost records.
const maxLostRanges = 100

// Books are the closed books of a run.
type Books struct {
	Warmup, Measured Book
	// Approximate is set when a bound was hit or a record was never settled, so
	// that the split of what did not arrive (lost, pending, failed, unknown)
	// rests on the assumption that Reasons spell out; or when a figure of what
	// several processes were handed is not certain (Merge). All other counts stay
	// exact.
	Approximate bool
	Reasons     []string
}

// Book is what became of the records of the warm-up, or of those of the measured
// window. All counts are records.
type Book struct {
	// Admitted were given a sequence: acked + failed + unknown + in flight.
	Admitted int64
	Acked    int64
	Failed   int64
	Unknown  int64
	InFlight int64 // never settled, though the books were closed

	// Delivered arrived intact, duplicates included.
	Delivered  int64
	Unique     int64
	Duplicates int64
	// Reordered arrived after a later record of their lane; they are unique. Of a
	// partition that several processes read they are as each of these saw it.
	Reordered int64
	// LateBeyondWindow arrived from a stretch that the books had forgotten:
	// reordered or duplicates, and counted as neither.
	LateBeyondWindow int64
	// Corrupt failed their checksum. CorruptUnplaced are those of them for which
	// no acked record is missing, for instance the second copy of one.
	Corrupt         int64
	CorruptUnplaced int64
	Foreign         int64 // not of this run

	// Lost were acked and not delivered, though the consumers passed them.
	Lost int64
	// Pending were acked and not delivered yet when the books were closed.
	Pending int64
	// UnackedDelivered arrived although they are failed, unknown or in flight.
	UnackedDelivered int64
	// LostRanges name the first 100 runs of the lost. Where corrupt records took
	// the place of missing ones, which of them is a guess: the first.
	LostRanges []LostRange
}

// LostRange is a run of lost sequences of one lane, both ends included.
type LostRange struct {
	Producer  int
	Partition int32
	From, To  uint64
}

// Imbalance returns the equations of the book that do not hold, each with its
// numbers; none when the books balance. The terms of an equation were counted
// from different events, on different sides, so that a record that was
// mislaid or counted twice shows.
func (b Book) Imbalance() []string {
	var faults []string
	settled := b.Acked + b.Failed + b.Unknown + b.InFlight
	if b.Admitted != settled || b.InFlight < 0 {
		faults = append(faults, fmt.Sprintf("admitted %d ≠ acked %d + failed %d + unknown %d + in flight %d",
			b.Admitted, b.Acked, b.Failed, b.Unknown, max(b.InFlight, 0)))
	}
	if b.Delivered != b.Unique+b.Duplicates+b.LateBeyondWindow {
		faults = append(faults, fmt.Sprintf("delivered %d ≠ unique %d + duplicates %d + late beyond window %d",
			b.Delivered, b.Unique, b.Duplicates, b.LateBeyondWindow))
	}
	uniqueOfAcked, corrupt := b.Unique-b.UnackedDelivered, b.Corrupt-b.CorruptUnplaced
	if b.Acked != uniqueOfAcked+b.Pending+b.Lost+corrupt {
		faults = append(faults, fmt.Sprintf("acked %d ≠ unique of the acked %d + pending %d + lost %d + corrupt %d",
			b.Acked, uniqueOfAcked, b.Pending, b.Lost, corrupt))
	}
	return faults
}

// add adds what a partition's tally found to the book.
func (b *Book) add(t *tally) {
	b.Lost += t.lost
	b.Pending += t.pending
	b.UnackedDelivered += t.unackedDelivered
	room := maxLostRanges - len(b.LostRanges)
	b.LostRanges = append(b.LostRanges, t.ranges[:min(room, len(t.ranges))]...)
}

// addSent adds the counters of one lane's sending side, those of one book.
func (b *Book) addSent(l *senderLane, book int) {
	b.Admitted += l.admitted(book)
	b.Acked += l.acked[book]
	b.Failed += l.failed.records[book]
	b.Unknown += l.unknown.records[book]
	b.InFlight += l.inFlight(book)
}

// addReceived adds the counters of a partition's receiving side.
func (b *Book) addReceived(r *received) {
	b.Delivered += r.delivered
	b.Unique += r.unique
	b.Duplicates += r.duplicates
	b.Reordered += r.reordered
	b.LateBeyondWindow += r.lateBeyondWindow
	b.Corrupt += r.corrupt
	b.Foreign += r.foreign
}
