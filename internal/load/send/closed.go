package send

import (
	"math"
	"time"
)

// runClosed keeps the client's buffer full until the end: as soon as a record
// comes back, the next one goes. With rounds it sends so many records, waits until all
// of them have come back, and begins again. There is no schedule, so the intended time is
// the actual one and response times do not exist.
func (p *producer) runClosed() {
	for !p.abandoned() {
		p.complete()
		now := p.axis.Now()
		ended := now >= p.end()
		if ended && p.inFlight == 0 {
			return
		}
		if !ended { // the gate's room is not for one that sends nothing any more
			if n := p.admit(p.roomClosed()); n > 0 {
				p.giveBack(n - p.prepareClosed(now, int(n)))
				p.hand()
				continue
			}
		}
		p.awaitDone()
	}
}

// roomClosed is how many records may go now.
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

// prepareClosed prepares up to n records, fewer where the volume is spent, and returns
// how many they are.
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
		p.assign(s, unplaced, now)
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

// awaitDone waits until the client hands something back, or a little.
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
