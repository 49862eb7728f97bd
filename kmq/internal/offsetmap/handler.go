package offsetmap

import (
	"context"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/kmq/internal/lease"
	"kafkabench.example/kafka-bench/kmq/internal/member"
	"kafkabench.example/kafka-bench/kmq/internal/window"
)

// handler implements [member.Handler].
type handler struct{ *Engine }

func (h handler) Assigned(_ context.Context, id int32, committed member.Offset) (int64, error) {
	h.Forget([]int32{id})
	h.coding.Lock()
	p, err := restore(id, committed, &h.coder, h.pool)
	h.coding.Unlock()
	if err != nil {
		h.cfg.Log.Warn("kmq: the metadata of a commit can't be read; what was acknowledged beyond it is delivered again",
			"partition", lease.NumberInTopic(id), "offset", committed.At, "error", err, "watched", h.cfg.TopicOf(id))
	}
	p.suspect = p.suspect && h.cfg.MaxDeliveries > 0
	h.mu.Lock()
	h.partitions[id] = p
	h.mu.Unlock()
	return committed.At, nil
}

// stretch is the number of records that Begin processes without releasing the lock:
// acknowledgements wait for it, and more leases would exceed the CPU caches.
const stretch = 256

// Begin takes the records of a poll that are not done. It adds leases to the outlet under the lock, so that held
// records cannot overtake them.
func (h handler) Begin(_ context.Context, records []*kgo.Record) ([]*lease.Lease, error) {
	<-h.started
	for some := range slices.Chunk(records, stretch) {
		h.begun = lease.AppendRecords(h.begun[:0], some)
		h.mu.Lock()
		h.begin(h.begun)
		h.mu.Unlock()
	}
	clear(h.begun[:cap(h.begun)])
	return nil, nil
}

func (e *Engine) begin(leases []*lease.Lease) {
	ready := leases[:0]
	for len(leases) > 0 {
		id, n := leases[0].At.Partition, 1
		for n < min(len(leases), runSlots) && leases[n].At.Partition == id && leases[n].At.Offset > leases[n-1].At.Offset {
			n++
		}
		if p := e.partitions[id]; p != nil {
			if e.needsCare(p) {
				e.careful.Store(true)
			}
			p.read = leases[n-1].At.Offset + 1
			ready = append(ready, e.beginRun(p, leases[:n:n])...)
		}
		leases = leases[n:]
	}
	e.out.Append(ready...)
}

func (e *Engine) beginRun(p *partition, leases []*lease.Lease) []*lease.Lease {
	r, last := p.newRun(len(leases)), leases[len(leases)-1].At.Offset
	fit := len(p.held) == 0 && p.fit(last, len(leases), e.limit)
	inFlight, ready, delayed := leases[:0], 0, false
	for i, l := range leases {
		s := r.fetched(i, l)
		taken, handOut := false, false
		switch {
		case fit || len(p.held) == 0 && p.fits(l.At.Offset, e.limit):
			taken, handOut = e.take(s)
		case p.window.IsDone(l.At.Offset):
			p.leave(s)
		default:
			e.hold(p, l)
			taken = true
		}
		if taken && len(inFlight) == i {
			inFlight = leases[:i+1]
		} else if taken {
			inFlight = append(inFlight, l)
		}
		if handOut {
			ready++
		}
		delayed = delayed || s.phase == waiting
	}
	p.filled(r)
	e.set.AddAll(inFlight, time.Time{})
	if delayed {
		for _, l := range inFlight {
			if s := l.Private.(*slot); s.phase == waiting {
				e.delay(s)
			}
		}
	}
	if ready < len(inFlight) {
		return slices.DeleteFunc(inFlight, func(l *lease.Lease) bool { return l.Private.(*slot).phase != live })
	}
	return inFlight
}

func (h handler) Deleted(id int32, from, to int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	p := h.partitions[id]
	if p == nil {
		return
	}
	missing := p.deleted(window.Range{From: from, To: to})
	h.counts.Missing += missing
	h.cfg.Log.Warn("kmq: records were deleted before they were delivered: retention is too short for this queue",
		"partition", lease.NumberInTopic(id), "from", from, "to", to, "missing", missing, "watched", h.cfg.TopicOf(id))
}

// Passed implements [member.Passer]. While records are held, the window ends before them; release passes the rest.
func (h handler) Passed(id int32, next int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if p := h.partitions[id]; p != nil {
		p.read = max(p.read, next)
		p.pass()
	}
}

// hold keeps a record, which counts as in flight, until its metadata fits. The partition is paused only above a
// quarter of MaxInFlight, since a resumed fetch takes at least a round trip.
func (e *Engine) hold(p *partition, l *lease.Lease) {
	p.held = append(p.held, l)
	e.held++
	if len(p.held) == 1 {
		e.relieve(p)
	}
	if !p.paused && e.held > e.cfg.MaxInFlight/4 {
		p.paused = true
		e.out.Pause(p.id)
	}
}

// take reports whether the record is now in flight (taken), and whether to deliver it (handOut); if its phase is waiting,
// it is to be delayed. It does not deliver a record again after MaxDeliveries. But a copy of a record that had already been
// delivered MaxDeliveries times or more is delivered once: a queue with other settings wrote it.
func (e *Engine) take(s *slot) (taken, handOut bool) {
	taken, missing := s.run.of.take(s)
	e.counts.Missing += int64(missing)
	if !taken {
		return false, false
	}
	l := s.lease
	if s.run.of.suspect {
		e.doubt(s)
	}
	if e.cfg.MaxDeliveries > 0 && l.Attempt > max(e.cfg.MaxDeliveries, int(s.base)) {
		e.again(s, l, time.Time{})
		return true, false
	}
	if known := l.Attempt - int(s.base); known > 0 && e.cfg.RetryTopic != "" { // in an ordered queue, those behind it would overtake it
		l.SetDue(time.Now().Add(e.cfg.Delay(l.Attempt - 1)))
	}
	due := l.Due()
	switch {
	case due.IsZero():
	case time.Now().Before(due):
		l.Attempt--
		s.phase = waiting
		return true, false
	case lease.IsRetry(l.At.Partition):
		e.counts.Lateness.Add(time.Since(due))
	}
	return true, true
}

// Committable returns the commits of partitions with their maps; nil means all partitions.
func (h handler) Committable(partitions []int32) map[int32]member.Offset {
	h.mu.Lock()
	if partitions == nil {
		for id := range h.partitions {
			partitions = append(partitions, id)
		}
	}
	h.mu.Unlock()
	out := make(map[int32]member.Offset, len(partitions))
	h.coding.Lock()
	defer h.coding.Unlock()
	for _, id := range partitions {
		if offset, ok := h.commitOf(id); ok {
			out[id] = offset
		}
	}
	return out
}

// commitOf encodes the map without holding e.mu, because acknowledgements wait for that lock.
func (e *Engine) commitOf(id int32) (member.Offset, bool) {
	e.mu.Lock()
	p := e.partitions[id]
	if p == nil || !p.changed {
		defer e.mu.Unlock()
		if p == nil {
			return member.Offset{}, false
		}
		return p.commit, p.commit.At >= 0
	}
	at, progress := p.progress()
	limit := e.limit
	e.mu.Unlock()

	commit, tight := member.Offset{At: at}, false
	if at >= 0 {
		metadata, fits := e.coder.fit(at, progress, limit)
		if !fits {
			// The limit was lowered, and the map no longer fits. So the cluster keeps the previous
			// commit, which loses no record.
			e.tight.About("commit a map", errTooLong)
			commit.At, tight = -1, true
		}
		commit.Metadata = metadata
	}
	e.mu.Lock()
	p.commit, p.tight = commit, tight
	e.mu.Unlock()
	return commit, commit.At >= 0
}

// copiesFor bounds the wait for copies at a revocation. A record whose copy has no known result stays open.
const copiesFor = 20 * time.Second

// Flush ends the leases of revoked partitions, so that nothing is acknowledged after the last commit was built, and
// waits for copies.
func (h handler) Flush(ctx context.Context, partitions []int32) error {
	ctx, cancel := context.WithTimeout(ctx, copiesFor)
	defer cancel()
	wake := context.AfterFunc(ctx, func() {
		h.mu.Lock()
		h.calm.Broadcast()
		h.mu.Unlock()
	})
	defer wake()
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, id := range partitions {
		if p := h.partitions[id]; p != nil {
			p.leaving, p.changed = true, true
		}
	}
	h.lose(partitions, func(s *slot) bool { return s.phase != moving })
	for _, id := range partitions {
		for p := h.partitions[id]; p != nil && p.moving > 0 && ctx.Err() == nil; {
			h.calm.Wait()
		}
	}
	return ctx.Err()
}

func (h handler) Forget(partitions []int32) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lose(partitions, func(*slot) bool { return true })
	for _, id := range partitions {
		if p := h.partitions[id]; p != nil {
			p.gone = true
			delete(h.partitions, id)
		}
	}
	h.calm.Broadcast()
}

func (e *Engine) lose(partitions []int32, match func(*slot) bool) {
	away := make(map[*partition]bool, len(partitions))
	for _, id := range partitions {
		if p := e.partitions[id]; p != nil {
			away[p] = true
			e.held -= len(p.held)
			p.held = nil
		}
	}
	if len(away) == 0 {
		return
	}
	e.loseAll(func(l *lease.Lease) bool {
		s := l.Private.(*slot)
		return away[s.run.of] && match(s)
	})
}

func (e *Engine) loseAll(match func(*lease.Lease) bool) {
	for _, l := range e.set.LoseAll(match) {
		s := l.Private.(*slot)
		e.unkeep(s)
		if s.phase == live && s.times() > 0 {
			e.counts.Lost++
		}
	}
}
