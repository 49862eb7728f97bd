package snapshot

import (
	"bytes"
	"fmt"
	"slices"

	"kafkabench.example/kafka-bench/internal/measure/latency"
	"kafkabench.example/kafka-bench/internal/measure/ledger"
)

// Version is the version of the encoding.
const Version = 7

// Snapshot is what a part's producers and consumers have counted since they began. Only Times, Pauses and Told count
// from the previous snapshot that had them. Fields that were not requested are nil.
type Snapshot struct {
	Version      int
	Part         int    // lowest, if merged
	Seq          uint64 // grows with each snapshot of the part
	Instance     uint64 // 0: none, or merged
	FromNs, ToNs int64  // begin and end of the reading, on the run's axis
	// EndNs is the end of the closed interval, if any.
	EndNs int64

	Sent         [2]Sent // warm-up, measured
	Behind       Behind  // its slices are nil without producers
	DeferredPeak int64   // most records that waited at the source at once; of several processes, the sum
	Traffic      Traffic // of the producers' clients
	Groups       []Group // empty without consumers

	Gate   *Gate
	Usage  *Usage
	Pauses *Pauses
	Times  latency.Encoded
	Last   *Last
	Failed string // why a consumer failed; empty: none did

	Told []byte // further data of the part, opaque here
}

// Group is the state of one consumer group.
type Group struct {
	Received    Received
	Counts      MemberCounts
	Working     bool // a delivered record is still processed
	Owned, Idle int  // Idle members have no partition
	Traffic     Traffic
	Reached     []Reached // by partition
	Shares      []Share   // of each member, by number
	// Arrived reports whether Reached has arrived and awaited records.
	Arrived bool
	// Books holds the books by partition, without empty books; nil unless requested.
	Books map[int32]*ledger.Receiver
	Queue *Queue
}

// BooksOf returns the non-empty books. Read those of a running group under their locks.
func BooksOf(partitions []*ledger.Receiver) map[int32]*ledger.Receiver {
	books := make(map[int32]*ledger.Receiver)
	for p, r := range partitions {
		if !r.Empty() {
			books[int32(p)] = r
		}
	}
	return books
}

// Queue holds the counts of a group that consumes from a queue.
type Queue struct {
	Total      QueueTotal
	Counts     QueueCounts
	Deliveries [2]DeliveryCounts // warm-up, measured
	// OldestUnackedNs is when the oldest delivered, unacknowledged record was due, or NothingDue; nil if unknown.
	OldestUnackedNs *int64
	// Settled has books of acknowledged records and dead letters, Acked only of acknowledged
	// records. They have no empty books, and are nil unless requested.
	Settled, Acked map[int32]*ledger.Receiver
}

// Last is what is known only after the load has ended.
type Last struct {
	Books        []*ledger.Sender
	Errors       [2]map[string]int64 // by phase and message
	Shares       []Share             // of each producer, by number
	AckGaps      []Gaps              // by partition; nil without producers
	DeliveryGaps [][]Gaps            // by group and partition
}

// clone shares books and times, but no slice or map that Merge would change.
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

// Fits returns an error unless s is of a part with that many partitions.
func (s Snapshot) Fits(partitions int) error {
	by := []int{len(s.Behind.AckedIn), len(s.Behind.OpenRecords), len(s.Behind.OldestDueNs)}
	if s.Last != nil {
		by = append(by, len(s.Last.AckGaps))
		if n := len(s.Last.DeliveryGaps); n != 0 && n != len(s.Groups) {
			return fmt.Errorf("%w: it has %d groups, but final figures of %d", ErrMismatch, len(s.Groups), n)
		}
		for _, gaps := range s.Last.DeliveryGaps {
			by = append(by, len(gaps))
		}
	}
	for _, g := range s.Groups {
		by = append(by, len(g.Reached))
		for p := range g.Books {
			if p < 0 || int(p) >= partitions {
				return fmt.Errorf("%w: it has books of partition %d, but the topic has %d partitions", ErrMismatch, p, partitions)
			}
		}
	}
	for _, n := range by {
		if n != 0 && n != partitions {
			return fmt.Errorf("%w: it has %d partitions, but the topic has %d", ErrMismatch, n, partitions)
		}
	}
	return nil
}

// Without returns s without the optional fields that o has too. Since(o) restores them.
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

// Since returns s with its missing fields taken from an earlier snapshot of the part, except Times, Pauses and Told.
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
