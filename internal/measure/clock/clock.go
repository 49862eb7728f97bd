// Package clock finds how far another machine's clock is ahead of this one's, and the error of
// that. An [Echo], a question to the peer and its answer, proves bounds of the offset. Question and
// answer each arrive after they leave, however long each way takes. See ADR 0011.
//
// Files to know: clock.go (what an echo proves), estimator.go (what many prove together).
package clock

import (
	"errors"
	"fmt"
)

// Echo is a question to a peer with its answer. Times are nanoseconds of monotonic clocks with any zero, between
// -2^60 and 2^60.
type Echo struct {
	SentNs     int64 // own clock, before the question left
	HeardNs    int64 // peer's clock, after the question arrived
	AnsweredNs int64 // peer's clock, before the answer left
	ReceivedNs int64 // own clock, after the answer arrived
	// OwnSlewNs and PeerSlewNs are each clock minus that machine's CLOCK_MONOTONIC_RAW, read during the echo. Both
	// are 0 if a system has no such clock; then slewing by NTP stays unseen.
	OwnSlewNs, PeerSlewNs int64
}

// Bound is an offset with its error. The offset is the peer's clock minus the own clock at one
// instant; it is positive if the peer's clock is ahead. The true offset differs from OffsetNs by at
// most ErrorNs, which is at least 0. The peer's time p is p - OffsetNs on the own clock.
type Bound struct{ OffsetNs, ErrorNs int64 }

// drift returns how much the offset may change in ns nanoseconds, if each clock is wrong by up to
// 50 ppm. The divisor allows 100.1 ppm, because the clock that measures the time may be wrong too.
func drift(ns int64) int64 { return (ns + 9989) / 9990 }

// slewed bounds an unseen change of the offset during an echo: the kernel slews a clock by at most 500 ppm.
func slewed(ns int64) int64 { return (ns + 999) / 1000 }

type proof struct {
	epoch          int
	sent, received int64 // on the own clock
	atMost         int64 // bounds the offset at sent: the peer's clock showed HeardNs only later
	atLeast        int64 // bounds the offset at received: the peer's clock had passed AnsweredNs
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
		return proof{}, errors.New("a clock went back during an echo")
	case p.atMost+drift(took) < p.atLeast:
		return proof{}, errors.New("an echo took longer on the peer's clock than on this machine's: a clock was stepped")
	}
	return p, nil
}

type spread struct{ low, high [2]int64 }

func spreadOf(p proof) spread { return spread{p.slews, p.slews} }

func (s *spread) add(p proof) {
	for i, ns := range p.slews {
		s.low[i], s.high[i] = min(s.low[i], ns), max(s.high[i], ns)
	}
}

func (s spread) ns() int64 { return s.high[0] - s.low[0] + s.high[1] - s.low[1] }
