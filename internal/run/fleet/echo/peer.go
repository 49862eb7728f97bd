package echo

import (
	"fmt"

	"kafkabench.example/kafka-bench/internal/measure/clock"
)

const mostOpen = uint64(Silence / Every)

// Node.mu guards a peer.
type peer struct {
	Peer
	estimator  clock.Estimator
	sequence   uint64         // of the last question
	open       [mostOpen]open // questions without an answer, by sequence
	answeredNs int64          // own clock, at the last answer, or else first question
	end        func()         // ends the questions; nil if none are sent
}

type open struct {
	sequence       uint64 // 0: none
	sentNs, slewNs int64
}

func (p *peer) close(sequence uint64) (open, bool) {
	asked := p.open[sequence%mostOpen]
	if sequence == 0 || asked.sequence != sequence {
		return open{}, false
	}
	p.open[sequence%mostOpen] = open{}
	return asked, true
}

// At returns the offset to use for a peer's clock at a time of the own clock (see
// [clock.Estimator.At]). known is false if the agent is not asked, or before its first echo.
func (n *Node) At(peer uint32, ns int64) (b clock.Bound, known bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if p := n.peers[peer]; p != nil {
		return p.estimator.At(ns)
	}
	return clock.Bound{}, false
}

// Over returns the greatest error of a used offset between two times (see [clock.Estimator.Over]).
// known is false if the agent is not asked, or if the estimator does not know the error.
func (n *Node) Over(peer uint32, fromNs, toNs, usedNs int64) (b clock.Bound, known bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if p := n.peers[peer]; p != nil {
		return p.estimator.Over(fromNs, toNs, usedNs)
	}
	return clock.Bound{}, false
}

// Add adds an echo that came another way, such as over the control topic. Such an echo does not end
// a silence. Add returns an error if the agent is not asked, or if [clock.Estimator.Add] does.
func (n *Node) Add(peer uint32, e clock.Echo) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	p := n.peers[peer]
	if p == nil {
		return fmt.Errorf("agent %d is not asked for its clock", peer)
	}
	return p.estimator.Add(e)
}

// Silent reports whether a peer has not answered for 2 s since its last answer or first question.
// An agent that is not asked is silent.
func (n *Node) Silent(peer uint32) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	p := n.peers[peer]
	return p == nil || n.cfg.Clock.NowNs()-p.answeredNs >= int64(Silence)
}
