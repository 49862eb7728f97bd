package ledger

import "fmt"

const maxLostRanges = 100

// Books are the closed books of a run.
type Books struct {
	Warmup, Measured Book
	// Approximate reports that some figures are estimates, for one of the Reasons: a bound was hit,
	// a record was never settled, or Merge could not know a figure. All other figures are exact.
	Approximate bool
	Reasons     []string
}

// Book has the outcome of the records of the warm-up or of the measured window. Counts are records.
type Book struct {
	// Admitted records have a sequence: acked + failed + unknown + in flight.
	Admitted int64
	Acked    int64
	Failed   int64
	Unknown  int64
	InFlight int64 // not settled when the books were closed

	// Delivered records arrived intact; duplicates are included.
	Delivered  int64
	Unique     int64
	Duplicates int64
	// Reordered records arrived after a later record of their lane. If several processes read the partition, each
	// counts its own records.
	Reordered int64
	// LateBeyondWindow records arrived from a range that the books had forgotten. They count neither as reordered nor
	// as duplicates.
	LateBeyondWindow int64
	// Corrupt records failed their checksum. CorruptUnplaced counts the corrupt records that replace no missing acked
	// record, for example a second copy.
	Corrupt         int64
	CorruptUnplaced int64
	Foreign         int64 // not of this run

	// Lost records were acked and not delivered, although the consumers passed them.
	Lost int64
	// Pending records were acked, and not delivered before the books were closed.
	Pending int64
	// UnackedDelivered records arrived although they are failed, unknown or in flight.
	UnackedDelivered int64
	// LostRanges has the first 100 ranges of lost records. It assumes that corrupt records replace the first missing
	// ones.
	LostRanges []LostRange
}

// LostRange is a range of lost sequences of one lane, both ends included.
type LostRange struct {
	Producer  int
	Partition int32
	From, To  uint64
}

// Imbalance returns the equations of the book that do not hold, with their numbers; none if the books balance.
// Each term counts different events (both-sides-count), so a dropped record shows.
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

func (b *Book) add(t *tally) {
	b.Lost += t.lost
	b.Pending += t.pending
	b.UnackedDelivered += t.unackedDelivered
	room := maxLostRanges - len(b.LostRanges)
	b.LostRanges = append(b.LostRanges, t.ranges[:min(room, len(t.ranges))]...)
}

func (b *Book) addSent(l *senderLane, book int) {
	b.Admitted += l.admitted(book)
	b.Acked += l.acked[book]
	b.Failed += l.failed.records[book]
	b.Unknown += l.unknown.records[book]
	b.InFlight += l.inFlight(book)
}

func (b *Book) addReceived(r *received) {
	b.Delivered += r.delivered
	b.Unique += r.unique
	b.Duplicates += r.duplicates
	b.Reordered += r.reordered
	b.LateBeyondWindow += r.lateBeyondWindow
	b.Corrupt += r.corrupt
	b.Foreign += r.foreign
}
