package judge

import (
	"time"

	"kafkabench.example/kafka-bench/internal/measure/ledger"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
	"kafkabench.example/kafka-bench/internal/result"
)

// Without a group, books has one entry without deliveries.
func (e *Evidence) books() []ledger.Books {
	sent := e.sentBooks()
	if len(e.Groups) == 0 {
		return []ledger.Books{ledger.Close(sent, nil, nil)}
	}
	books := make([]ledger.Books, len(e.Groups))
	for i, g := range e.Groups {
		if e.Queue != nil {
			books[i] = e.Queue.undelivered(CloseQueue(sent, g.Receivers))
			continue
		}
		books[i] = ledger.Close(sent, g.Receivers, func(partition int32) int64 { return e.position(g, partition) })
	}
	return books
}

// In a queue no record counts as passed over, because a queue has no order.
func nowhere(int32) int64 { return -1 }

// CloseQueue compares the records that came out of a queue, in any order, with those sent.
func CloseQueue(sent []*ledger.Sender, received []*ledger.Receiver) ledger.Books {
	return ledger.Close(sent, received, nowhere)
}

// position returns ledger.ReadToEnd if the group read the log to its end. Then the ledger need not
// compare the position with acked offsets: with acks 0 there are none, and after a truncation they
// are wrong.
func (e *Evidence) position(g Group, partition int32) int64 {
	at := g.AtStop[partition].Position
	if e.Drained || e.PartitionEnds != nil && at >= e.PartitionEnds[partition] {
		return ledger.ReadToEnd
	}
	return at
}

// If the run reads only the fill, measuredDeliveries are those of the fill, in the warm-up's book.
func (e *Evidence) measuredDeliveries(books []ledger.Books, scheduled int64) result.Delivery {
	if !e.measuresFill() || !e.Stamped {
		return e.deliveries(books, true, scheduled)
	}
	d := e.deliveries(books, false, e.Fill.Sent.Scheduled)
	d.Bytes = received(e.Groups).Bytes
	return d
}

func (e *Evidence) deliveries(books []ledger.Books, measured bool, scheduled int64) result.Delivery {
	var sum ledger.Book
	for _, b := range books {
		if measured {
			sum = withAnother(sum, b.Measured)
		} else {
			sum = withAnother(sum, b.Warmup)
		}
	}
	d := e.delivery(sum, scheduled*int64(len(books)), e.Groups)
	if len(e.Groups) > 1 {
		d.Copies = len(e.Groups)
	}
	if measured {
		d.Pending += e.unread(e.Groups)
	}
	return d
}

// warmupDelivery has the books of the warm-up, and the rates of all deliveries before the window.
func (e *Evidence) warmupDelivery(books []ledger.Books, scheduled int64) result.WarmupDelivery {
	d := result.WarmupDelivery{Delivery: e.deliveries(books, false, scheduled)}
	if len(e.Groups) == 0 {
		return d
	}
	r := received(e.Groups)
	unique, duplicates := r.UniqueBefore, r.DeliveredBefore-r.UniqueBefore
	d.UniqueInPhase, d.DuplicatesInPhase, d.DuplicatesPerS, d.DeliveredToAcked = &unique, &duplicates, nil, nil
	if !e.Stamped {
		d.Delivered, d.Bytes = r.DeliveredBefore, 0
	}
	if warmup := e.warmupS(); warmup > 0 {
		uniquePerS, duplicatesPerS := float64(unique)/warmup, float64(duplicates)/warmup
		d.DeliveredPerS, d.DuplicatesPerS = &uniquePerS, &duplicatesPerS
	}
	return d
}

func (e *Evidence) unread(groups []Group) (sum int64) {
	if e.ReadTo == nil {
		return 0
	}
	for _, g := range groups {
		sum += snapshot.Unread([][]snapshot.Reached{g.AtStop}, e.ReadTo)[0].Records
	}
	return sum
}

const maxLostRanges = 100

func withAnother(sum, b ledger.Book) ledger.Book {
	sum.Delivered += b.Delivered
	sum.Unique += b.Unique
	sum.Duplicates += b.Duplicates
	sum.Reordered += b.Reordered
	sum.LateBeyondWindow += b.LateBeyondWindow
	sum.Corrupt += b.Corrupt
	sum.CorruptUnplaced += b.CorruptUnplaced
	sum.Foreign += b.Foreign
	sum.Lost += b.Lost
	sum.Pending += b.Pending
	sum.UnackedDelivered += b.UnackedDelivered
	room := max(0, maxLostRanges-len(sum.LostRanges))
	sum.LostRanges = append(sum.LostRanges, b.LostRanges[:min(room, len(b.LostRanges))]...)
	return sum
}

// delivery returns the book of groups, each of which reads all records: scheduled is the number of
// records for all of them.
func (e *Evidence) delivery(b ledger.Book, scheduled int64, groups []Group) result.Delivery {
	if len(groups) == 0 {
		return result.Delivery{}
	}
	got := received(groups)
	unique, duplicates := got.UniqueInWindow, got.DeliveredInWindow-got.UniqueInWindow
	duplicatesPerS := e.perS(duplicates)
	d := result.Delivery{
		Delivered: got.DeliveredInWindow, UniqueInPhase: &unique, DuplicatesInPhase: &duplicates,
		DeliveredPerS: e.perS(unique), DuplicatesPerS: &duplicatesPerS,
	}
	if acked := e.AckedInWindow() * int64(len(groups)); acked > 0 {
		ratio := float64(unique) / float64(acked)
		d.DeliveredToAcked = &ratio
	}
	if !e.Stamped { // without a stamp, the phase of a record is unknown
		if !e.sends() {
			d.Bytes = got.Bytes
		}
		return d
	}
	d.Checked, d.Delivered, d.Unique, d.Duplicates = true, b.Delivered, b.Unique, b.Duplicates
	d.Lost, d.Reordered, d.LateBeyondWindow = b.Lost, b.Reordered, b.LateBeyondWindow
	d.Corrupt, d.CorruptUnplaced, d.Foreign = b.Corrupt, b.CorruptUnplaced, b.Foreign
	d.Pending, d.UnackedDelivered = b.Pending, b.UnackedDelivered
	if scheduled > 0 {
		d.Ratio = float64(b.Unique) / float64(scheduled)
	}
	for _, l := range b.LostRanges {
		d.LostRanges = append(d.LostRanges, result.LostRange{
			Producer: l.Producer, Partition: l.Partition, From: l.From, To: l.To,
		})
	}
	return d
}

func (e *Evidence) consumer(groups []Group, before, after []snapshot.MemberCounts) result.Consumer {
	if len(groups) == 0 {
		return result.Consumer{}
	}
	c := result.Consumer{
		Members: len(groups) * e.Scenario.Consume.Consumers, Processes: e.Machine.ConsumerProcesses,
		Confined: e.Machine.Confined,
	}
	if e.ReadyNs > 0 {
		c.ReadyNs = &e.ReadyNs
	}
	c.FirstRecordNs = e.firstRecord(groups)
	var committing time.Duration
	for i, g := range groups {
		a, b := before[i], after[i]
		c.Workers += g.Workers
		c.Polls += b.Polls - a.Polls
		c.EmptyPolls += b.EmptyPolls - a.EmptyPolls
		c.Commits += b.Commits - a.Commits
		c.CommitErrors += b.CommitErrors - a.CommitErrors
		committing += b.CommitTime - a.CommitTime
		c.Rebalances += b.Rebalances - a.Rebalances
	}
	if c.Commits > 0 {
		mean := committing.Seconds() * 1e3 / float64(c.Commits)
		c.CommitMeanMs = &mean
	}
	if !e.Works || e.EndNs <= 0 {
		return c
	}
	utilisation := float64(received(groups).WorkInWindow) / (float64(c.Workers) * float64(e.EndNs))
	c.Utilisation = &utilisation
	if e.MeanWorkS > 0 {
		capacity := float64(c.Workers) / e.MeanWorkS
		c.CapacityPerS = &capacity
	}
	return c
}

func (e *Evidence) eachGroup(out *result.Run, books []ledger.Books) []result.Group {
	if len(e.Groups) < 2 {
		return nil
	}
	all := make([]result.Group, len(e.Groups))
	for i, g := range e.Groups {
		of := e.Groups[i : i+1]
		all[i] = result.Group{
			Name:     g.Name,
			Delivery: e.delivery(books[i].Measured, out.Load.Scheduled, of),
			Consumer: e.consumer(of, e.Start.Members[i:i+1], e.End.Members[i:i+1]),
			Lag: result.GroupLag{
				BacklogPeakRecords: e.Seen.backlogPeak(i),
				Drained:            e.Drained || e.PartitionEnds != nil && snapshot.ReachedAll(g.AtStop, e.PartitionEnds),
			},
		}
		if e.Seen.Lag.Peaks != nil {
			all[i].Lag.PeakRecords = &e.Seen.Lag.Peaks[i]
		}
		if e.Seen.Lag.Finals != nil {
			all[i].Lag.FinalRecords = e.Seen.Lag.Finals[i]
		}
		all[i].Delivery.Pending += e.unread(of)
	}
	return all
}

func (s Seen) backlogPeak(group int) (peak int64) {
	if s.BacklogPeaks != nil {
		peak = s.BacklogPeaks[group]
	}
	if s.Held != nil {
		peak = max(peak, s.Held[group].Records)
	}
	return peak
}
