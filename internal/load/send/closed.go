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
			if n := p.admit(min(p.roomClosed(), p.pace.room(now))); n > 0 {
				p.giveBack(n - p.prepareClosed(now, int(n)))
				p.hand()
				continue
			}
		}
		p.awaitDone()
	}
}

// pace bounds the rate of a closed loop. The zero value does not. What was not used in paceBurst is not
// made up for later.
type pace struct {
	perNs, credit float64 // records
	atNs          int64   // of the credit; 0: not begun
}

const paceBurst = 20 * time.Millisecond

func (p *pace) room(now int64) int64 {
	if p.perNs == 0 {
		return math.MaxInt64
	}
	if p.atNs == 0 {
		p.atNs = now
	}
	p.credit = min(p.credit+float64(now-p.atNs)*p.perNs, max(1, p.perNs*float64(paceBurst)))
	p.atNs = now
	return int64(p.credit)
}

func (p *pace) take(records int64) { p.credit -= float64(records) }

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
	p.pace.take(prepared)
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
