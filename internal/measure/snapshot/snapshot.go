package snapshot

import (
	"bytes"
	"fmt"
	"slices"

	"kafkabench.example/kafka-bench/internal/measure/latency"
	"kafkabench.example/kafka-bench/internal/measure/ledger"
)

// Version of the form in which snapshots travel. A part of another version takes no part.
const Version = 6

// Snapshot is how a part of a run stands: what its producers and consumers have counted
// since they began. Only Times, Pauses and Told are of the time since the snapshot that
// had them before. What a part does not have, or was not asked for, is nil.
type Snapshot struct {
	Version  int
	Part     int    // its number; of several that were merged, the lowest
	Seq      uint64 // grows with each snapshot of the part
	Instance uint64 // of the part's process; 0: none, or of several that were merged
	// FromNs and ToNs are when the reading began and ended, on the run's axis.
	FromNs, ToNs int64
	// EndNs is the end of the interval that the snapshot closes, if it closes one.
	EndNs int64

	Sent         [2]Sent // warm-up, measured
	Behind       Behind  // its slices are nil without producers
	DeferredPeak int64   // an upper bound of the longest that the queue at the source was
	Traffic      Traffic // of the producers' clients
	Groups       []Group // none where nobody consumes

	Gate   *Gate
	Usage  *Usage
	Pauses *Pauses
	Times  latency.Encoded
	Last   *Last
	Failed string // the first error that ended a consumer; empty: none

	// Told is what the part has to say beside its counts, which is opaque here.
	Told []byte
}

// Group is how one consumer group stands.
type Group struct {
	Received    Received
	Counts      MemberCounts
	Working     bool // a record that was handed over is still worked on
	Owned, Idle int  // partitions that have a member, members that have none
	Traffic     Traffic
	Reached     []Reached // by partition
	Shares      []Share   // of each member, by number
	// Arrived is that Reached has what has arrived and is awaited, which costs more than
	// positions do.
	Arrived bool
	// Books are the receiving side of the books, by partition: of those of which anything
	// came, and only if they were wanted.
	Books map[int32]*ledger.Receiver
	Queue *Queue
}

// BooksOf are the receiving sides of partitions, of those of which anything came. A live
// one goes on changing, and is to be read under its lock.
func BooksOf(partitions []*ledger.Receiver) map[int32]*ledger.Receiver {
	books := make(map[int32]*ledger.Receiver)
	for p, r := range partitions {
		if !r.Empty() {
			books[int32(p)] = r
		}
	}
	return books
}

// Queue is what a group has counted that takes records from a queue.
type Queue struct {
	Total      QueueTotal
	Counts     QueueCounts
	Deliveries [2]DeliveryCounts // warm-up, measured
	// OldestUnackedNs is when the oldest record was due that was handed over and is not
	// acknowledged; NothingDue if there is none, nil if that is not known.
	OldestUnackedNs *int64
	// Settled are the books of what was acknowledged or is a dead letter, Acked of what was
	// acknowledged: by partition, of those that have any, and only if books were wanted.
	Settled, Acked map[int32]*ledger.Receiver
}

// Last is what is known once the load has ended.
type Last struct {
	Books        []*ledger.Sender    // the sending side of the books
	Errors       [2]map[string]int64 // of the producers' clients, by phase and message
	Shares       []Share             // of each producer, by number
	AckGaps      []Gaps              // by partition; nil without producers
	DeliveryGaps [][]Gaps            // by group and partition
}

// clone returns a copy that shares no slice or map with s which Merge would change. The
// books and the times are shared.
func (s Snapshot) clone() Snapshot {
	s.Behind, s.Groups = s.Behind.Clone(), slices.Clone(s.Groups)
	for i := range s.Groups {
		s.Groups[i] = s.Groups[i].clone()
	}
	s.Gate, s.Usage, s.Pauses, s.Last = s.Gate.clone(), copied(s.Usage), copied(s.Pauses), s.Last.clone()
	s.Told = bytes.Clone(s.Told)
	return s
}

func copied[T any](p *T) *T {
	if p == nil {
		return nil
	}
	c := *p
	return &c
}

// Fits reports why s is not of a part that sends to, or reads, so many partitions.
func (s Snapshot) Fits(partitions int) error {
	by := []int{len(s.Behind.AckedIn), len(s.Behind.OpenRecords), len(s.Behind.OldestDueNs)}
	if s.Last != nil {
		by = append(by, len(s.Last.AckGaps))
		if n := len(s.Last.DeliveryGaps); n != 0 && n != len(s.Groups) {
			return fmt.Errorf("%w: it tells of %d groups, and at the end of %d", ErrMismatch, len(s.Groups), n)
		}
		for _, gaps := range s.Last.DeliveryGaps {
			by = append(by, len(gaps))
		}
	}
	for _, g := range s.Groups {
		by = append(by, len(g.Reached))
		for p := range g.Books {
			if p < 0 || int(p) >= partitions {
				return fmt.Errorf("%w: it has books of partition %d of %d", ErrMismatch, p, partitions)
			}
		}
	}
	for _, n := range by {
		if n != 0 && n != partitions {
			return fmt.Errorf("%w: it tells of %d partitions of %d", ErrMismatch, n, partitions)
		}
	}
	return nil
}

// Without returns s without the optional fields that o has, so that Since takes them from o.
func (s Snapshot) Without(o Snapshot) Snapshot {
	if o.Behind.OpenRecords != nil {
		s.Behind.OpenRecords, s.Behind.OldestDueNs = nil, nil
	}
	if o.Usage != nil {
		s.Usage = nil
	}
	if o.Last != nil {
		s.Last = nil
	}
	s.Groups = slices.Clone(s.Groups)
	for i := range min(len(s.Groups), len(o.Groups)) {
		s.Groups[i].Arrived = s.Groups[i].Arrived && !o.Groups[i].Arrived
	}
	return s
}

// Since returns s with what it was not asked for as an earlier snapshot of the part has
// it, but for times, pauses and events, which are of the time between two snapshots.
func (s Snapshot) Since(earlier Snapshot) Snapshot {
	if s.Behind.OpenRecords == nil {
		s.Behind.OpenRecords, s.Behind.OldestDueNs = earlier.Behind.OpenRecords, earlier.Behind.OldestDueNs
	}
	if s.Usage == nil {
		s.Usage = earlier.Usage
	}
	if s.Last == nil {
		s.Last = earlier.Last
	}
	s.Groups = slices.Clone(s.Groups)
	for i := range min(len(s.Groups), len(earlier.Groups)) {
		s.Groups[i] = s.Groups[i].since(earlier.Groups[i])
	}
	return s
}

// since has what has arrived by the books of an earlier snapshot, where s has none.
func (g Group) since(earlier Group) Group {
	if g.Arrived {
		return g
	}
	g.Arrived, g.Books, g.Reached = earlier.Arrived, earlier.Books, slices.Clone(g.Reached)
	for p, before := range earlier.Reached {
		g.Reached[p].Arrived, g.Reached[p].Awaited, g.Reached[p].Corrupt = before.Arrived, before.Awaited, before.Corrupt
	}
	return g
}
