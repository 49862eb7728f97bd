package ledger

// Above the floor both sides know each sequence. Below, one side has closed spans and knows only
// counts. There, failed and unknown records count as missing as long as enough records are missing.
type laneClosing struct {
	producer  int
	partition int32
	sent      *senderLane
	arrived   *receiverLane

	floor   uint64
	skipped []span
	ahead   []span
	unacked []span
}

// passed reports that the consumers passed all of the lane; otherwise they passed what is below the highest
// arrived sequence.
func newLaneClosing(producer int, partition int32, sent *senderLane, arrived *receiverLane, passed bool) *laneClosing {
	l := &laneClosing{
		producer: producer, partition: partition, sent: sent, arrived: arrived,
		floor:   max(arrived.missing.floor, sent.failed.which.floor, sent.unknown.which.floor),
		skipped: arrived.missing.live(),
		unacked: union(sent.failed.which.live(), sent.unknown.which.live()),
	}
	if arrived.next < sent.next {
		l.ahead = []span{{arrived.next, sent.next - 1}}
	}
	if passed {
		l.skipped, l.ahead = union(l.skipped, l.ahead), nil
	}
	return l
}

func (l *laneClosing) settle(book int) tally {
	lo, hi := l.sent.sequences(book)
	t := l.byNumber(max(lo, l.floor), max(hi, l.floor))
	below := l.byCount(book, min(lo, l.floor), min(hi, l.floor))
	t.merge(&below)
	// It is unknown which missing records are in flight: more likely those above the highest
	// arrived sequence (pending) than those in gaps (lost).
	inFlight := max(l.sent.inFlight(book), 0)
	t.unackedDelivered += t.takeLost(t.takePending(inFlight))
	return t
}

func (l *laneClosing) byNumber(lo, hi uint64) tally {
	skipped, ahead, unacked := clip(l.skipped, lo, hi), clip(l.ahead, lo, hi), clip(l.unacked, lo, hi)
	lost, pending := subtract(skipped, unacked), subtract(ahead, unacked)
	t := tally{lost: count(lost), pending: count(pending)}
	unackedMissing := count(skipped) + count(ahead) - t.lost - t.pending
	t.unackedDelivered = count(unacked) - unackedMissing
	for _, sp := range lost {
		t.ranges = append(t.ranges, LostRange{l.producer, l.partition, sp.from, sp.to})
	}
	return t
}

func (l *laneClosing) byCount(book int, lo, hi uint64) tally {
	t := tally{
		lost:    l.closed(book) + count(clip(l.skipped, lo, hi)),
		pending: count(clip(l.ahead, lo, hi)),
	}
	from, to := l.sent.sequences(book)
	known := count(clip(l.unacked, max(from, l.floor), to))
	unacked := l.sent.failed.records[book] + l.sent.unknown.records[book] - known
	t.unackedDelivered = t.takePending(t.takeLost(unacked))
	return t
}

// Only the sender knows where the measured book begins in a straddling gap.
func (l *laneClosing) closed(book int) int64 {
	n := l.arrived.closed[book]
	if l.arrived.straddles {
		lo, hi := l.sent.sequences(book)
		n += count(clip([]span{l.arrived.straddle}, lo, hi))
	}
	return n
}
