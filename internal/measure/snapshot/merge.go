package snapshot

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"kafkabench.example/kafka-bench/internal/measure/latency"
	"kafkabench.example/kafka-bench/internal/measure/ledger"
)

// ErrMismatch reports snapshots that are not of parts of one run.
var ErrMismatch = errors.New("these are not snapshots of one run's parts")

// Merge adds up the snapshots of parts, in any order, and changes none of them. It is an error if versions or the
// numbers of groups or partitions differ, or if a part occurs twice. A part may have no producers or consumers.
// Instance and Told belong to one part, so the sum has neither.
func Merge(all []Snapshot) (Snapshot, error) {
	if len(all) == 0 {
		return Snapshot{}, nil
	}
	all = slices.SortedFunc(slices.Values(all), func(a, b Snapshot) int { return cmp.Compare(a.Part, b.Part) })
	all[0].Instance, all[0].Told = 0, nil
	sum := all[0].clone()
	times := []latency.Encoded{sum.Times}
	for i, s := range all[1:] {
		if s.Version != sum.Version {
			return Snapshot{}, fmt.Errorf("%w: part %d has version %d, and part %d %d",
				ErrMismatch, s.Part, s.Version, sum.Part, sum.Version)
		}
		if s.Part == all[i].Part {
			return Snapshot{}, fmt.Errorf("%w: part %d occurs twice", ErrMismatch, s.Part)
		}
		if err := sum.add(s); err != nil {
			return Snapshot{}, fmt.Errorf("%w: part %d %w", ErrMismatch, s.Part, err)
		}
		times = append(times, s.Times)
	}
	if len(all) > 1 {
		sum.mergeBooks(all)
	}
	var err error
	sum.Times, err = latency.MergeEncoded(times...)
	return sum, err
}

func (s *Snapshot) add(o Snapshot) (err error) {
	s.Seq = max(s.Seq, o.Seq)
	s.FromNs, s.ToNs, s.EndNs = min(s.FromNs, o.FromNs), max(s.ToNs, o.ToNs), max(s.EndNs, o.EndNs)
	for phase := range s.Sent {
		s.Sent[phase].Add(o.Sent[phase])
	}
	switch mine, others := len(s.Behind.AckedIn), len(o.Behind.AckedIn); {
	case mine == 0:
		s.Behind = o.Behind.Clone()
	case others == mine:
		s.Behind = s.Behind.Merge(o.Behind)
	case others > 0:
		return fmt.Errorf("sends to %d partitions, and others to %d", others, mine)
	}
	s.DeferredPeak += o.DeferredPeak
	s.Traffic = s.Traffic.Add(o.Traffic)
	if s.Groups, err = mergeGroups(s.Groups, o.Groups); err != nil {
		return err
	}
	s.Gate = s.Gate.merge(o.Gate)
	s.Usage = mergeIf(s.Usage, o.Usage, Usage.Add)
	s.Pauses = mergeIf(s.Pauses, o.Pauses, Pauses.Worse)
	if s.Last, err = s.Last.merge(o.Last); err != nil {
		return err
	}
	s.Failed = firstOf(s.Failed, o.Failed)
	return nil
}

func firstOf(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return min(a, b)
}

func mergeIf[T any](a, b *T, merge func(T, T) T) *T {
	if a == nil || b == nil {
		return copied(cmp.Or(a, b))
	}
	sum := merge(*a, *b)
	return &sum
}

func mergeGroups(all, others []Group) ([]Group, error) {
	switch {
	case len(all) == 0:
		all = slices.Clone(others)
		for i := range all {
			all[i] = all[i].clone()
		}
	case len(others) > 0 && len(others) != len(all):
		return nil, fmt.Errorf("has %d groups, and others %d", len(others), len(all))
	default:
		for i, o := range others {
			if len(o.Reached) != len(all[i].Reached) {
				return nil, fmt.Errorf("reads %d partitions, and others %d", len(o.Reached), len(all[i].Reached))
			}
			all[i].add(o)
		}
	}
	return all, nil
}

func (g Group) clone() Group {
	g.Reached, g.Books, g.Queue = slices.Clone(g.Reached), maps.Clone(g.Books), copied(g.Queue)
	g.Shares = slices.Clone(g.Shares)
	return g
}

func (g *Group) add(o Group) {
	g.Received.Add(o.Received)
	g.Counts.Add(o.Counts)
	g.Working, g.Arrived = g.Working || o.Working, g.Arrived || o.Arrived
	g.Owned, g.Idle = g.Owned+o.Owned, g.Idle+o.Idle
	g.Traffic = g.Traffic.Add(o.Traffic)
	g.Shares = mergeShares(g.Shares, o.Shares)
	for p := range g.Reached {
		g.Reached[p] = g.Reached[p].Furthest(o.Reached[p])
	}
	g.Queue = mergeIf(g.Queue, o.Queue, Queue.add)
}

func (q Queue) add(o Queue) Queue {
	q.Total.Add(o.Total)
	q.Counts.Add(o.Counts)
	for phase := range q.Deliveries {
		q.Deliveries[phase].Add(o.Deliveries[phase])
	}
	q.OldestUnackedNs = mergeIf(q.OldestUnackedNs, o.OldestUnackedNs, func(a, b int64) int64 { return min(a, b) })
	return q
}

// A partition may move between parts, and a record that two parts got is a duplicate.
func (s *Snapshot) mergeBooks(all []Snapshot) {
	for i := range s.Groups {
		g := &s.Groups[i]
		of := make(map[int32][]*ledger.Receiver)
		for _, part := range all {
			if len(part.Groups) == 0 {
				continue
			}
			if g.Books == nil && part.Groups[i].Books != nil {
				g.Books = make(map[int32]*ledger.Receiver)
			}
			for p, books := range part.Groups[i].Books {
				of[p] = append(of[p], books)
			}
		}
		for p, receivers := range of {
			if g.Queue != nil {
				books := ledger.MergeUnordered(receivers)
				g.Books[p] = books
				g.Reached[p].Arrived, g.Reached[p].Awaited = books.Arrived(), books.Missing()
				continue
			}
			books := ledger.Merge(receivers)
			g.Books[p] = books
			books.Lock()
			g.Reached[p].Arrived, g.Reached[p].Awaited = books.Arrived(), books.Expected()
			books.Unlock()
		}
		if g.Queue != nil {
			g.mergeQueue(all, i)
		}
	}
}

// Two parts may both count a first delivery, or an acknowledgement, of one record.
func (g *Group) mergeQueue(all []Snapshot, number int) {
	if g.Books == nil {
		return // an interval: books come with the end
	}
	settled, acked := make(map[int32][]*ledger.Receiver), make(map[int32][]*ledger.Receiver)
	for _, part := range all {
		if len(part.Groups) == 0 || part.Groups[number].Queue == nil {
			continue
		}
		for p, of := range part.Groups[number].Queue.Settled {
			settled[p] = append(settled[p], of)
		}
		for p, of := range part.Groups[number].Queue.Acked {
			acked[p] = append(acked[p], of)
		}
	}
	q := g.Queue
	q.Settled, q.Acked = make(map[int32]*ledger.Receiver), make(map[int32]*ledger.Receiver)
	for p, of := range settled {
		q.Settled[p] = ledger.MergeUnordered(of)
		for _, r := range of {
			g.Reached[p].Position -= r.Arrived()
		}
		g.Reached[p].Position += q.Settled[p].Arrived()
	}
	for p, of := range acked {
		q.Acked[p] = ledger.MergeUnordered(of)
	}
	for phase := range q.Deliveries {
		d := &q.Deliveries[phase]
		d.Unique = uniqueOf(g.Books, phase)
		unique := uniqueOf(q.Acked, phase)
		d.Acked, d.AckedAgain = unique, d.AckedAgain+d.Acked-unique
		d.DeadAcked = d.Acked + d.Dead - uniqueOf(q.Settled, phase)
	}
}

func uniqueOf(books map[int32]*ledger.Receiver, phase int) (sum int64) {
	for _, r := range books {
		sum += r.UniqueIn(phase)
	}
	return sum
}

// Furthest returns the progress of two parts that may have got the same records. Arrived is their sum; with books,
// Merge replaces it.
func (r Reached) Furthest(o Reached) Reached {
	sum := Reached{
		Position: max(r.Position, o.Position), At: r.At,
		Delivered: r.Delivered + o.Delivered, Arrived: r.Arrived + o.Arrived,
		Awaited: r.Awaited, Corrupt: r.Corrupt + o.Corrupt, Settled: r.Settled || o.Settled,
	}
	if sum.Awaited == nil {
		sum.Awaited = o.Awaited
	}
	switch {
	case sum.Settled:
		sum.Position, sum.At = r.Position+o.Position, max(r.At, o.At)
	case o.At == NeverHanded:
	case r.At == NeverHanded || o.Position > r.Position:
		sum.At = o.At
	case o.Position == r.Position:
		sum.At = min(r.At, o.At)
	}
	return sum
}

func (l *Last) clone() *Last {
	if l == nil {
		return nil
	}
	c := Last{
		Books: slices.Clone(l.Books), AckGaps: slices.Clone(l.AckGaps), DeliveryGaps: slices.Clone(l.DeliveryGaps),
		Shares: slices.Clone(l.Shares),
	}
	for phase := range c.Errors {
		c.Errors[phase] = maps.Clone(l.Errors[phase])
	}
	for i := range c.DeliveryGaps {
		c.DeliveryGaps[i] = slices.Clone(c.DeliveryGaps[i])
	}
	return &c
}

func (l *Last) merge(o *Last) (*Last, error) {
	if l == nil || o == nil {
		return cmp.Or(l, o).clone(), nil
	}
	l.Books = append(l.Books, o.Books...)
	l.Shares = mergeShares(l.Shares, o.Shares)
	for phase, errors := range o.Errors {
		if l.Errors[phase] == nil && errors != nil {
			l.Errors[phase] = make(map[string]int64)
		}
		for message, n := range errors {
			l.Errors[phase][message] += n
		}
	}
	if l.AckGaps != nil && o.AckGaps != nil && len(l.AckGaps) != len(o.AckGaps) {
		return nil, fmt.Errorf("was acknowledged in %d partitions, and others in %d", len(o.AckGaps), len(l.AckGaps))
	}
	l.AckGaps = mergedGaps(l.AckGaps, o.AckGaps)
	switch {
	case l.DeliveryGaps == nil:
		l.DeliveryGaps = o.clone().DeliveryGaps
	case o.DeliveryGaps != nil:
		for i := range l.DeliveryGaps {
			l.DeliveryGaps[i] = mergedGaps(l.DeliveryGaps[i], o.DeliveryGaps[i])
		}
	}
	return l, nil
}

func mergedGaps(all, others []Gaps) []Gaps {
	if others == nil {
		return all
	}
	return MergeGaps(all, slices.Clone(others))
}
