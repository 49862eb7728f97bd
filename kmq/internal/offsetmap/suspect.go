package offsetmap

import (
	"context"
	"slices"
	"time"

	"kafkabench.example/kafka-bench/kmq/internal/engine"
	"kafkabench.example/kafka-bench/kmq/internal/lease"
)

// A process may die of a record. So each commit has a flag that says that its partition is open. A partition that
// is assigned with the flag is suspect, from the committed offset to its end then: one of these records may have
// killed the process. There, a delivery is committed before its handler begins. A record that was open at half of
// MaxDeliveries such deaths is delivered while no other is, so that its deaths do not count for other records. A record
// that waited for another attempt when the process died did not kill it. A revocation clears the flag, unless suspect
// records are left.
type suspicion struct {
	flagged bool  // a commit of this process has the flag
	suspect bool  // the commit of an earlier process had it
	end     int64 // of the suspect records; 0: not known yet
}

func (s *suspicion) about(offset int64) bool { return s.suspect && (s.end == 0 || offset < s.end) }

// Marks of slots.
const (
	pledged  = 1 << iota // its delivery is to be in the next commit, and it is not lent yet
	doubtful             // it is delivered while no other record is
	wasLent              // a handler had it when its process died, by the last commit
	stuck                // the cluster refused its copy to the retry topic for good
	dropped              // only its place is kept: see shelve
	kept                 // its bytes are in Engine.waitingBytes
)

// doubt decides whether a record that was just taken is delivered while no other is.
func (e *Engine) doubt(s *slot) {
	l, most := s.lease, e.cfg.MaxDeliveries
	lent, counted := s.marks&wasLent != 0, l.Attempt > int(s.base)
	if s.run.of.about(l.At.Offset) && (lent && l.Attempt > most/2 || l.Attempt >= most && (lent || !counted)) {
		s.marks |= doubtful
	}
}

// beCareful notes whether a hand-out needs more than the member. The caller holds e.mu.
func (e *Engine) beCareful() {
	careful := false
	for _, p := range e.partitions {
		p.clear()
		careful = careful || p.window.Open() > 0 && e.needsCare(p)
	}
	e.careful.Store(careful)
}

// clear ends the suspicion once all suspect records are done.
func (p *partition) clear() {
	if p.end > 0 && p.window.Committable() >= p.end {
		p.suspect = false
	}
}

func (e *Engine) needsCare(p *partition) bool {
	return e.cfg.MaxDeliveries > 0 && (p.suspect || !p.flagged)
}

// noRecord is the place of no record.
var noRecord = lease.ID{Partition: -1, Offset: -1}

// lookAgain is how often a hand-out that waits for others to end looks whether they have.
const lookAgain = 20 * time.Millisecond

// lendCarefully lends the first of the leases, or all of them, once that may be. The others are the caller's to
// lend later; if there is no holder, they go back.
func (e *Engine) lendCarefully(ctx context.Context, leases []*lease.Lease, to lease.Holder) ([]*lease.Lease, error) {
	select {
	case e.lending <- struct{}{}:
		defer e.lending.Unlock()
	case <-ctx.Done():
		e.Return(leases)
		return nil, ctx.Err()
	}
	now, wait := e.choose(leases)
	for ; wait; now, wait = e.choose(leases) {
		select {
		case <-time.After(lookAgain):
		case <-ctx.Done():
			e.Return(leases)
			return nil, ctx.Err()
		}
	}
	if err := e.commitPledges(ctx, now); err != nil {
		e.unpledge(now)
		e.Return(leases)
		return nil, err
	}
	if to == nil {
		e.Return(slices.DeleteFunc(leases, func(l *lease.Lease) bool { return slices.Contains(now, l) }))
	}
	lent, err := e.member.Lend(ctx, slices.Clone(now), to)
	e.unpledge(now)
	return lent, err
}

// choose returns the open leases that may be lent now, and pledges those that are suspect; wait: none may be before
// others have ended.
func (e *Engine) choose(leases []*lease.Lease) (now []*lease.Lease, wait bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.waitsAlone = noRecord
	for _, l := range leases {
		if l.State() != lease.Open {
			continue
		}
		s := l.Private.(*slot)
		alone := s.marks&doubtful != 0
		if len(now) == 0 && e.busy(alone) {
			e.waitsAlone = l.Origin()
			return nil, true
		}
		if alone && len(now) > 0 {
			break
		}
		now = append(now, l)
		if p := s.run.of; p.about(l.At.Offset) {
			s.marks |= pledged
			p.changed = true
		}
		if alone {
			break
		}
	}
	return now, false
}

// busy reports whether a record is lent, or only one that is to be alone.
func (e *Engine) busy(any bool) bool {
	for _, p := range e.partitions {
		for _, r := range p.runs {
			for i := range r.slots {
				if s := &r.slots[i]; s.phase == live && s.lent() && (any || s.marks&doubtful != 0) {
					return true
				}
			}
		}
	}
	return false
}

// commitPledges returns when the flags of all partitions and the counts of the leases are durable. The counts fit,
// because a suspect partition takes no record whose count might not; if the brokers lower their limit meanwhile,
// they may be missing.
func (e *Engine) commitPledges(ctx context.Context, leases []*lease.Lease) error {
	if !e.pledges(leases) {
		return nil
	}
	err := engine.Persist(ctx, e.cfg.Log, "commit a delivery", func(ctx context.Context) error {
		if !slices.ContainsFunc(leases, func(l *lease.Lease) bool { return l.State() == lease.Open }) {
			return nil
		}
		return e.commitOnce(ctx)
	})
	if err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, p := range e.partitions {
		p.flagged = p.flagged || p.commit.At >= 0
	}
	return nil
}

// pledges reports whether something of the leases is to be durable before they are lent.
func (e *Engine) pledges(leases []*lease.Lease) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.ContainsFunc(leases, func(l *lease.Lease) bool {
		s := l.Private.(*slot)
		return s.lease == l && (s.marks&pledged != 0 || !s.run.of.flagged)
	})
}

func (e *Engine) unpledge(leases []*lease.Lease) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, l := range leases {
		if s := l.Private.(*slot); s.lease == l && s.marks&pledged != 0 {
			s.marks &^= pledged
			s.run.of.changed = true
		}
	}
	e.beCareful()
}

// worstCounts bounds the bytes of the deliveries of n records.
func worstCounts(n int, span int64) int64 {
	const times = 3 // bytes of a count
	return int64(n) * (uvarintBytes(span) + 1 + 1 + times)
}
