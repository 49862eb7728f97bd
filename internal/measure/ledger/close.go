package ledger

import (
	"fmt"
	"math"
)

// Close compares the two sides and returns the outcome of every record. It takes all locks, changes nothing and
// may be called again. Lost and pending are right only after the consumers have stopped.
//
// position returns the offset of the next record to read from a partition, -1 if unknown, or
// ReadToEnd. An acked record that did not arrive is lost if the consumers passed it. They passed it
// if a later sequence of its lane arrived, if position is above the lane's highest acked offset, or
// at ReadToEnd; otherwise the record is pending. Without offsets (acks 0) the end of a lane is lost
// only at ReadToEnd; without a receiver it is always pending.
func Close(senders []*Sender, receivers []*Receiver, position func(partition int32) int64) Books {
	c := closing{senders: senders, receivers: map[int32]*Receiver{}, positions: map[int32]int64{}}
	for _, r := range receivers {
		c.receivers[r.partition] = r
		c.positions[r.partition] = position(r.partition)
	}
	for _, s := range senders {
		s.Lock()
		defer s.Unlock()
	}
	for _, r := range receivers {
		r.Lock()
		defer r.Unlock()
	}
	return c.close()
}

// ReadToEnd is the position of a partition that was read to its end.
const ReadToEnd int64 = math.MaxInt64

type closing struct {
	senders   []*Sender
	receivers map[int32]*Receiver
	positions map[int32]int64
	books     [numBooks]Book

	gapsClosed, fatesForgotten, inFlight, unordered int64
}

func (c *closing) close() Books {
	partitions := int32(0)
	for _, s := range c.senders {
		partitions = max(partitions, int32(len(s.lanes)))
	}
	for _, r := range c.receivers {
		partitions = max(partitions, r.partition+1)
		for book := range c.books {
			c.books[book].addReceived(&r.books[book])
		}
		c.unordered += r.unordered
	}
	for partition := range partitions {
		c.closePartition(partition)
	}
	reasons := c.reasons()
	return Books{
		Warmup:      c.books[bookWarmup],
		Measured:    c.books[bookMeasured],
		Approximate: len(reasons) > 0,
		Reasons:     reasons,
	}
}

func (c *closing) closePartition(partition int32) {
	var tallies [numBooks]tally
	for _, s := range c.senders {
		if int(partition) < len(s.lanes) {
			c.closeLane(s, partition, &tallies)
		}
	}
	if r := c.receivers[partition]; r != nil {
		c.placeCorrupt(r, &tallies)
	}
	for book := range tallies {
		c.books[book].add(&tallies[book])
	}
}

func (c *closing) closeLane(s *Sender, partition int32, tallies *[numBooks]tally) {
	sent, arrived, passed := &s.lanes[partition], &receiverLane{}, false
	if r := c.receivers[partition]; r != nil && s.producer < len(r.lanes) {
		arrived = &r.lanes[s.producer]
		at := c.positions[partition]
		passed = at == ReadToEnd || sent.lastOffset >= 0 && sent.lastOffset < at
	}
	lane := newLaneClosing(s.producer, partition, sent, arrived, passed)
	for book := range tallies {
		c.books[book].addSent(sent, book)
		t := lane.settle(book)
		tallies[book].merge(&t)
		c.gapsClosed += lane.closed(book)
		c.inFlight += max(sent.inFlight(book), 0)
	}
	c.fatesForgotten += sent.failed.forgotten() + sent.unknown.forgotten()
}

// placeCorrupt lets corrupt records replace missing ones, first in their own book. This is a guess.
func (c *closing) placeCorrupt(r *Receiver, tallies *[numBooks]tally) {
	var left [numBooks]int64
	for book := range tallies {
		left[book] = tallies[book].takePending(tallies[book].takeLost(r.books[book].corrupt))
	}
	for book := range tallies {
		other := numBooks - 1 - book
		unplaced := tallies[other].takePending(tallies[other].takeLost(left[book]))
		c.books[book].CorruptUnplaced += unplaced
		c.books[book].Corrupt -= left[book] - unplaced
		c.books[other].Corrupt += left[book] - unplaced
	}
}

func (c *closing) reasons() []string {
	var reasons []string
	if c.gapsClosed > 0 {
		reasons = append(reasons, fmt.Sprintf("%d missing records were closed because a lane had more than %d gaps: "+
			"they count as not delivered even if they came later", c.gapsClosed, maxSpans))
	}
	if c.fatesForgotten > 0 {
		reasons = append(reasons,
			fmt.Sprintf("%d failed and unknown records are known only by count because a lane had more than %d ranges of them: "+
				"they count as not delivered as long as enough records are missing", c.fatesForgotten, maxSpans))
	}
	if c.inFlight > 0 {
		reasons = append(reasons, fmt.Sprintf("%d records were never settled: "+
			"they count as not delivered as long as enough records are missing", c.inFlight))
	}
	if c.unordered > 0 {
		reasons = append(reasons,
			fmt.Sprintf("%d records count as reordered in partitions that several processes read: "+
				"each process knows only its own order, so some of them may be duplicates", c.unordered))
	}
	return reasons
}
