// Package clock finds how far the clock of another machine is ahead of the clock of this
// one, and how wrong that may be. A question is sent to the peer and comes back: an [Echo].
// It came there after it had left and left before it came back, so it proves bounds of the
// offset, however unequal the two ways are. It is pure.
//
// Files to know: clock.go (what an echo proves), estimator.go (what many prove together).
package clock

import (
	"errors"
	"fmt"
)

// Echo is a question to a peer with its answer. Times are nanoseconds of a monotonic clock,
// between -2^60 and 2^60. Both clocks may have any zero.
type Echo struct {
	SentNs     int64 // own clock, before the question left
	HeardNs    int64 // peer's clock, after the question came
	AnsweredNs int64 // peer's clock, before the answer left
	ReceivedNs int64 // own clock, after the answer came
	// OwnSlewNs and PeerSlewNs are what each clock shows less what that machine's
	// CLOCK_MONOTONIC_RAW shows, read during the echo. Only changes count. Both are 0 if a
	// system has no such clock: then nobody sees how NTP slews its clock.
	OwnSlewNs, PeerSlewNs int64
}

// Bound is what is known of an offset. The offset is the peer's clock less the own clock,
// read at one instant: it is positive if the peer's clock is ahead, and the peer's time p
// is p - OffsetNs on the own clock. The true offset lies in
// [OffsetNs - ErrorNs, OffsetNs + ErrorNs]. ErrorNs is never negative.
type Bound struct{ OffsetNs, ErrorNs int64 }

// drift returns by how much the offset may change in so much time: each clock may be off
// by 50 ppm. It is 100.1 ppm because the own clock that shows the time is itself off, by
// less than 0.1 %.
func drift(ns int64) int64 { return (ns + 9989) / 9990 }

// slewed returns by how much the offset may change in the course of an echo, unseen because
// the slews are read only once in it: the kernel slews each clock by 500 ppm at the most.
func slewed(ns int64) int64 { return (ns + 999) / 1000 }

// proof is what an echo proves.
type proof struct {
	epoch          int   // is higher after each step of a clock
	sent, received int64 // own clock
	atMost         int64 // the offset at sent: the peer's clock came to HeardNs only later
	atLeast        int64 // the offset at received: the peer's clock had passed AnsweredNs
	slews          [2]int64
}

const farthest = 1 << 60

func (e Echo) proof() (proof, error) {
	for _, ns := range []int64{e.SentNs, e.HeardNs, e.AnsweredNs, e.ReceivedNs, e.OwnSlewNs, e.PeerSlewNs} {
		if ns < -farthest || ns > farthest {
			return proof{}, fmt.Errorf("an echo has the time %d ns, which is out of range", ns)
		}
	}
	took := e.ReceivedNs - e.SentNs
	p := proof{
		sent: e.SentNs, received: e.ReceivedNs, slews: [2]int64{e.OwnSlewNs, e.PeerSlewNs},
		atMost: e.HeardNs - e.SentNs + slewed(took), atLeast: e.AnsweredNs - e.ReceivedNs - slewed(took),
	}
	switch {
	case took < 0 || e.AnsweredNs < e.HeardNs:
		return proof{}, errors.New("an echo has a clock that went back")
	case p.atMost+drift(took) < p.atLeast:
		return proof{}, errors.New("an echo took longer on the peer's clock than on the own: a clock was stepped")
	}
	return p, nil
}

// spread is the range in which slews were seen: of the own clock, and of the peer's.
type spread struct{ low, high [2]int64 }

func spreadOf(p proof) spread { return spread{p.slews, p.slews} }

func (s *spread) add(p proof) {
	for i, ns := range p.slews {
		s.low[i], s.high[i] = min(s.low[i], ns), max(s.high[i], ns)
	}
}

// ns is by how much slewing may have changed the offset.
func (s spread) ns() int64 { return s.high[0] - s.low[0] + s.high[1] - s.low[1] }
