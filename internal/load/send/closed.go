package send

import (
	"math"
	"time"
)

// runClosed keeps the client's buffer full until the end. With rounds it waits until all records of a round are
// completed. The intended time is the actual one, and there are no response times.
func (p *producer) runClosed() {
	for !p.abandoned() {
		p.complete()
		now := p.axis.Now()
		ended := now >= p.end()
		if ended && p.inFlight == 0 {
			return
		}
		if !ended {
			if n := p.admit(p.roomClosed()); n > 0 {
				p.giveBack(n - p.prepareClosed(now, int(n)))
				p.hand()
				continue
			}
		}
		p.awaitDone()
	}
}

func (p *producer) roomClosed() int64 {
	room := min(p.slots.available(), roundSize)
	if p.roundOf == 0 {
		return int64(room)
	}
	if p.ofRound == 0 && p.inFlight == 0 {
		p.ofRound = p.roundOf
	}
	return int64(min(room, p.ofRound))
}

func (p *producer) prepareClosed(now int64, n int) (prepared int64) {
	p.recorder.Lock()
	defer p.recorder.Unlock()
	p.round = p.round[:0]
	bounded := p.share != nil && (now >= 0 || p.fills)
	if bounded && p.share.empty() {
		p.until = now
		p.share.end(math.MinInt64, now)
		return 0
	}
	for range n {
		s := p.slots.take()
		s.intended, s.index = now, p.nextIndex
		p.nextIndex += int64(p.workers)
		p.counts[phaseOf(s.measured())].Scheduled++
		p.assign(s, now)
		if bounded && p.share.take(p.corpus.ValueBytes(uint64(s.index))) {
			p.until = now
			p.share.end(now, now)
			break
		}
	}
	prepared = int64(len(p.round))
	if p.roundOf > 0 {
		p.ofRound -= int(prepared)
	}
	return prepared
}

func (p *producer) awaitDone() {
	defer p.slots.await(false)
	if p.slots.await(true) {
		return
	}
	timer := time.NewTimer(retryEvery)
	defer timer.Stop()
	select {
	case <-p.slots.wake:
	case <-timer.C:
	case <-p.abandon:
	}
}
