package snapshot

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"kafkabench.example/kafka-bench/internal/measure/ledger"
)

// A Snapshot is encoded as
//
//	version, a byte · for each section:
//	    id · length of the body · the body
//
// All numbers are LEB128; those of fields are zig-zag. A boolean is 0 or 1. A list, map, text or byte slice is its
// length + 1, or 0 if nil, and its elements. An optional value is 0, or 1 and the value. Times and books have their
// own encodings.
//
// Sections ascend by id. A reader skips unknown sections and leaves the fields of missing ones zero. So a new section
// needs no new version; any other change does.

// MarshalBinary locks the books, one after the other. Nil books are an error.
func (s Snapshot) MarshalBinary() ([]byte, error) {
	c := &coder{b: append(make([]byte, 0, 1024), Version)}
	for id := uint64(1); ; id++ {
		at := len(c.b)
		if !s.section(c, id) {
			break
		}
		var head [2 * binary.MaxVarintLen64]byte
		c.b = slices.Insert(c.b, at, binary.AppendUvarint(binary.AppendUvarint(head[:0], id), uint64(len(c.b)-at))...)
	}
	if c.err != nil {
		return nil, c.err
	}
	return c.b, nil
}

// UnmarshalBinary decodes s. On an error it leaves s unchanged. It keeps none of the bytes, and allocates in
// proportion to them. It does not check the sizes or the times: Fits and Merge do.
func (s *Snapshot) UnmarshalBinary(data []byte) error {
	if len(data) == 0 {
		return errMalformed
	}
	if data[0] != Version {
		return fmt.Errorf("the snapshot has version %d, but this program reads %d: run the same release everywhere",
			data[0], Version)
	}
	var read Snapshot
	c := &coder{reads: true, b: data[1:]}
	for last := uint64(0); len(c.b) > 0; {
		id := c.number(0, math.MaxUint64)
		size := c.number(0, math.MaxUint64)
		if c.err != nil || id <= last || size > uint64(len(c.b)) {
			return errMalformed
		}
		rest := c.b[size:]
		c.b = c.b[:size:size]
		if known := read.section(c, id); known && (c.err != nil || len(c.b) > 0) {
			return fmt.Errorf("section %d of a snapshot: %w", id, cmp.Or(c.err, errMalformed))
		}
		c.b, last = rest, id
	}
	*s = read
	return nil
}

func (s *Snapshot) section(c *coder, id uint64) (known bool) {
	switch id {
	case 1: // identity
		integers(c, &s.Version, &s.Part)
		integers(c, &s.Seq, &s.Instance)
		integers(c, &s.FromNs, &s.ToNs, &s.EndNs)
		c.text(&s.Failed)
	case 2: // sending side
		for phase := range s.Sent {
			s.Sent[phase].code(c)
		}
		s.Behind.code(c)
		integers(c, &s.DeferredPeak)
		s.Traffic.code(c)
	case 3: // receiving side
		list(c, &s.Groups, 32, (*Group).code)
	case 4:
		optional(c, &s.Gate, (*Gate).code)
	case 5: // process
		optional(c, &s.Usage, (*Usage).code)
		optional(c, &s.Pauses, (*Pauses).code)
	case 6:
		optional(c, &s.Last, (*Last).code)
	case 7:
		blob(c, &s.Told)
	case 8: // the largest is last, so that the buffer grows only once more
		blob(c, &s.Times)
	default:
		return false
	}
	return true
}

func (s *Sent) code(c *coder) {
	integers(c, &s.Scheduled, &s.Admitted, &s.ShedByGate, &s.ShedByQueue, &s.ShedByDegrade, &s.Acked, &s.AckedInWindow,
		&s.Failed, &s.Unknown, &s.AckedBytes)
}

func (b *Behind) code(c *coder) {
	list(c, &b.AckedIn, 1, integer)
	list(c, &b.OpenRecords, 1, integer)
	list(c, &b.OldestDueNs, 1, integer)
	integers(c, &b.WaitingRecords, &b.WaitingDueNs)
}

func (t *Traffic) code(c *coder) {
	wire := t.Wire.counts()
	integers(c, wire[:]...)
	for _, r := range []*RequestSum{&t.Produce, &t.Fetch} {
		integers(c, &r.Count)
		integers(c, &r.Time)
		integers(c, &r.Connections)
		integers(c, &r.Throttled)
	}
	c.flags(&t.Counted, &t.Timed)
}

func (g *Group) code(c *coder) {
	r, m := &g.Received, &g.Counts
	integers(c, &r.Delivered, &r.DeliveredBefore, &r.DeliveredInWindow, &r.Unique, &r.UniqueBefore, &r.UniqueInWindow,
		&r.UniqueAfter, &r.Processed, &r.Handed, &r.Bytes, &r.FirstNs, &r.WorkInWindow, &r.Timed, &r.ServiceNs, &r.Crossed)
	integers(c, &m.Polls, &m.EmptyPolls, &m.Commits, &m.CommitErrors, &m.Rebalances)
	integers(c, &m.CommitTime)
	c.flags(&g.Working, &g.Arrived)
	integers(c, &g.Owned, &g.Idle)
	g.Traffic.code(c)
	list(c, &g.Reached, 7, (*Reached).code)
	list(c, &g.Shares, 5, (*Share).code)
	booksOf(c, &g.Books)
	optional(c, &g.Queue, (*Queue).code)
}

func booksOf(c *coder, of *map[int32]*ledger.Receiver) {
	dictionary(c, of, func(p *pair[int32, *ledger.Receiver], c *coder) {
		integers(c, &p.key)
		books(&p.value, c)
	})
}

func (r *Reached) code(c *coder) {
	integers(c, &r.Position, &r.At, &r.Delivered, &r.Arrived, &r.Corrupt)
	c.flags(&r.Settled)
	list(c, &r.Awaited, 2, func(a *ledger.Awaited, c *coder) {
		integers(c, &a.Next)
		list(c, &a.Gaps, 2, func(g *ledger.Gap, c *coder) { integers(c, &g.From, &g.To) })
	})
}

func (s *Share) code(c *coder) {
	integers(c, &s.Number)
	integers(c, &s.Records, &s.Bytes, &s.FirstNs, &s.LastNs)
}

func (q *Queue) code(c *coder) {
	integers(c, &q.Total.Acked, &q.Total.AckedInWindow, &q.Total.Redelivered)
	integers(c, &q.Counts.Expired, &q.Counts.Tailed, &q.Counts.Missing, &q.Counts.InFlight)
	c.text(&q.Counts.RetentionAlarm)
	for phase := range q.Deliveries {
		d := &q.Deliveries[phase]
		integers(c, d.counts()...)
		for i := range d.ByAttempt {
			integers(c, &d.ByAttempt[i])
		}
	}
	optional(c, &q.OldestUnackedNs, integer)
	booksOf(c, &q.Settled)
	booksOf(c, &q.Acked)
}

func (g *Gate) code(c *coder) {
	integers(c, &g.Refused, &g.Changes)
	integers(c, &g.Closed, &g.Blind, &g.MaxAge)
	c.flags(&g.Open)
	optional(c, &g.Bound, integer)
	optional(c, &g.InWindow, func(b *Bound, c *coder) { integers(c, &b.Min, &b.Max, &b.Last) })
}

func (u *Usage) code(c *coder) {
	c.flags(&u.Known)
	integers(c, &u.User, &u.System, &u.GCCPU, &u.GCPause)
	integers(c, &u.RSS, &u.GCCycles, &u.AllocBytes, &u.AllocObjects, &u.HeapBytes, &u.Goroutines)
}

func (p *Pauses) code(c *coder) {
	for _, q := range []*Quantiles{&p.GC, &p.Sched} {
		integers(c, &q.Count)
		integers(c, &q.P50, &q.P99, &q.Max)
	}
}

func (l *Last) code(c *coder) {
	list(c, &l.Books, 1, books)
	for phase := range l.Errors {
		dictionary(c, &l.Errors[phase], func(p *pair[string, int64], c *coder) {
			c.text(&p.key)
			integers(c, &p.value)
		})
	}
	list(c, &l.Shares, 5, (*Share).code)
	list(c, &l.AckGaps, 2, (*Gaps).code)
	list(c, &l.DeliveryGaps, 1, func(of *[]Gaps, c *coder) { list(c, of, 2, (*Gaps).code) })
}

func (g *Gaps) code(c *coder) {
	integers(c, &g.AllNs)
	list(c, &g.All, 3, func(gap *Gap, c *coder) { integers(c, &gap.LastNs, &gap.FromNs, &gap.ToNs) })
}
