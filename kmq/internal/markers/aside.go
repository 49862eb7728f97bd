package markers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/kmq/internal/engine"
	"kafkabench.example/kafka-bench/kmq/internal/lease"
	"kafkabench.example/kafka-bench/kmq/internal/marker"
)

// What can't be started of one partition holds up no other: it is set aside, the partition is
// fetched no more, and what was fetched of it follows in its order, until all of it is started.
// At most half of MaxInFlight may be aside. What is more gives its room to the other
// partitions: once it is started, it is given back, undelivered, and comes again as a copy, as
// does what runs out meanwhile. With transactions nothing is set aside: the starts of a poll
// are one write, and all of it waits.

const (
	// asideAfter is how long a poll waits for its starts before those that are not durable are
	// set aside. The client tries by itself what the cluster can't take for now, without a word.
	asideAfter = time.Second
	// asideFlushed is how long a revocation waits for what is aside. Others read what was not
	// started: but a start that is written after theirs brings a record back that they ended.
	asideFlushed = 10 * time.Second
)

var errSlow = fmt.Errorf("not written within %v", asideAfter)

// wrote notes what became of a start marker: of this poll, or of what was set aside of it.
func (p *start) wrote(r *kgo.Record, durable *bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	of := p
	if part := p.aside[r.Partition]; part != nil {
		of = part
	}
	*durable = err == nil
	if err != nil {
		of.failed, of.err = append(of.failed, r), err
	}
	if of.left--; of.left == 0 {
		close(of.idle)
	}
}

// unwritten are the partitions of which not all starts are durable, and perhaps why.
func (p *start) unwritten() (partitions map[int32]bool, why error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	partitions = map[int32]bool{}
	for i, m := range p.runs {
		if !p.durable[i] && p.aside[m.Partition] == nil {
			partitions[m.Partition] = true
		}
	}
	return partitions, p.err
}

// setAside takes partitions out of a poll and returns what it had of them.
func (p *start) setAside(partitions map[int32]bool) map[int32]*start {
	p.mu.Lock()
	defer p.mu.Unlock()
	parts := map[int32]*start{}
	before := p.left
	for i, m := range p.runs {
		if !partitions[m.Partition] || p.aside[m.Partition] != nil {
			continue
		}
		part := parts[m.Partition]
		if part == nil {
			part = &start{from: p.from, idle: make(chan struct{})}
			for _, r := range p.reads {
				if r.partition == m.Partition {
					part.reads = append(part.reads, r)
				}
			}
			parts[m.Partition] = part
		}
		part.runs = append(part.runs, m)
		if !p.durable[i] {
			part.left++
			p.left--
		}
	}
	p.divide(parts)
	for partition, part := range parts {
		if part.left == 0 {
			close(part.idle)
		}
		if p.aside == nil {
			p.aside = map[int32]*start{}
		}
		p.aside[partition] = part
	}
	if before > 0 && p.left == 0 {
		close(p.idle)
	}
	return parts
}

// divide gives parts their leases, and what has failed of them, which waits no more.
func (p *start) divide(parts map[int32]*start) {
	leases := p.leases[:0]
	for _, l := range p.leases {
		if part := parts[l.At.Partition]; part != nil {
			part.leases = append(part.leases, l)
		} else {
			leases = append(leases, l)
		}
	}
	clear(p.leases[len(leases):])
	p.leases = leases
	failed := p.failed[:0]
	for _, r := range p.failed {
		if part := parts[r.Partition]; part != nil {
			part.failed, part.err = append(part.failed, r), p.err
			part.left--
			p.left++
		} else {
			failed = append(failed, r)
		}
	}
	p.failed = failed
}

// rest is what was read and not set aside.
func (p *start) rest() (reads []read) {
	if p.aside == nil {
		return p.reads
	}
	for _, r := range p.reads {
		if p.aside[r.partition] == nil {
			reads = append(reads, r)
		}
	}
	return reads
}

// setAside has partitions of a poll wait, each by itself behind what it has aside.
func (s *starts) setAside(p *start, partitions map[int32]bool) {
	for partition, part := range p.setAside(partitions) {
		if p.late != nil {
			s.q.late.adopt(part, p)
		}
		s.mu.Lock()
		_, follows := s.aside[partition]
		s.aside[partition] = append(s.aside[partition], part)
		s.q.member.Pause(partition) // under the lock: whoever takes out the last resumes it
		switch n := len(part.leases); {
		case part.late != nil: // its room is that of who has it in hand
		case s.kept+n <= s.q.cfg.MaxInFlight/2:
			part.kept = n
			s.kept += n
		default:
			part.release(s.q.set)
		}
		s.mu.Unlock()
		if !follows {
			s.catching.Go(func() { s.catchUp(partition) })
		}
	}
}

// catchUp starts what is aside of a partition, one after the other, until nothing is.
func (s *starts) catchUp(partition int32) {
	for part := s.nextAside(partition, nil); part != nil; part = s.nextAside(partition, part) {
		err := s.persist(part)
		if s.running.Err() != nil {
			return
		}
		if err != nil {
			s.fail(err)
			s.dropAside(partition)
			s.q.member.Fail(err)
			return
		}
		switch {
		case part.late != nil && part.failed == nil: // their ends need no ownership
			s.handOut(part)
		case !s.ours(part):
			s.lose(part)
		case part.released:
			s.handOut(part)
			s.giveBack(part)
		default:
			s.handOut(part)
		}
	}
}

// dropAside lets go of what is aside of a partition and was handed out, which nobody starts any
// more.
func (s *starts) dropAside(partition int32) {
	s.mu.Lock()
	parts := slices.Clone(s.aside[partition])
	s.mu.Unlock()
	for _, part := range parts {
		s.q.late.drop(part)
	}
}

// nextAside takes out what is done and returns what follows. After the last the partition is
// fetched again.
func (s *starts) nextAside(partition int32, done *start) *start {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.tell()
	if done != nil {
		s.aside[partition] = s.aside[partition][1:]
		s.kept -= done.kept
	}
	if waits := s.aside[partition]; len(waits) > 0 {
		return waits[0]
	}
	delete(s.aside, partition)
	s.q.member.Resume(partition)
	return nil
}

// ours is whether what was set aside is still the member's to start.
func (s *starts) ours(part *start) bool { return s.q.started.ours(part.reads[0]) }

// release frees the room of what was set aside.
func (p *start) release(set *lease.Set) {
	for _, l := range p.leases {
		_ = set.Settle(l, lease.Released) // else it has run out
	}
	p.leases, p.released = nil, true
}

// giveBack has what was released, and is started, delivered again. Nobody was handed it.
func (s *starts) giveBack(part *start) {
	for _, m := range part.runs {
		for i := range int64(m.Count) {
			s.q.out.put(fact{partition: m.Partition, kind: marker.Release, undelivered: true}, m.Offset+i)
		}
	}
}

// lose lets go of what others read again.
func (s *starts) lose(part *start) {
	for _, l := range part.leases {
		if s.q.set.Settle(l, lease.Lost) == nil {
			s.q.lost.Add(1)
		}
	}
	s.q.late.drop(part)
}

// persist waits until what was set aside has durable starts, or is no longer the member's.
// What the client gave up is written again.
func (s *starts) persist(part *start) error {
	what := fmt.Sprintf("write start markers to partition %d of topic %s", part.runs[0].Partition, s.q.cfg.MarkersTopic)
	return engine.Persist(s.running, s.q.cfg.Log, what, func(ctx context.Context) error {
		select {
		case <-part.idle:
		case <-ctx.Done():
			return ctx.Err()
		}
		if part.failed == nil || !s.ours(part) {
			return nil
		}
		err := part.err
		if !engine.Fatal(err) {
			err = s.grow(ctx, part.runs, err)
			s.again(part)
		}
		return err
	})
}

// again hands to the client what it gave up.
func (s *starts) again(part *start) {
	failed := part.failed
	part.left, part.idle = len(failed), make(chan struct{})
	part.failed, part.err = nil, nil
	for _, r := range failed {
		s.q.writer.Produce(s.running, r, func(r *kgo.Record, err error) { part.wrote(r, new(bool), err) })
	}
}

// flushAside waits until nothing of partitions is aside, for asideFlushed at most: what is
// then is not committed. The error is ctx's.
func (s *starts) flushAside(ctx context.Context, partitions []int32) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	short, cancel := context.WithTimeout(ctx, asideFlushed)
	defer cancel()
	err := s.wait(short, func() bool {
		for _, p := range partitions {
			if s.aside[p] != nil {
				return false
			}
		}
		return true
	})
	if errors.Is(err, context.DeadlineExceeded) {
		return ctx.Err()
	}
	return err
}

// flushLate waits until nothing is aside whose records were handed out before: what was settled
// behind them is not committed before. Or for ctx.
func (s *starts) flushLate(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.wait(ctx, func() bool {
		for _, parts := range s.aside {
			if slices.ContainsFunc(parts, func(p *start) bool { return p.late != nil }) {
				return false
			}
		}
		return true
	})
}
