package echo

import (
	"fmt"

	"kafkabench.example/kafka-bench/internal/measure/clock"
)

// mostOpen bounds the questions to a peer that have no answer yet: those of Silence.
const mostOpen = uint64(Silence / Every)

// peer is what a node knows of one. The node's lock guards it.
type peer struct {
	Peer
	estimator  clock.Estimator
	sequence   uint64         // of the last question
	open       [mostOpen]open // by sequence
	answeredNs int64          // own clock, at the last answer; before one, when it was first asked
	end        func()         // ends the questions; nil: none are sent
}

// open is a question without an answer.
type open struct {
	sequence       uint64 // 0: none
	sentNs, slewNs int64
}

// close returns the question of an answer, once.
func (p *peer) close(sequence uint64) (open, bool) {
	asked := p.open[sequence%mostOpen]
	if sequence == 0 || asked.sequence != sequence {
		return open{}, false
	}
	p.open[sequence%mostOpen] = open{}
	return asked, true
}

// At returns the offset of a peer's clock to use at a time on the own clock; see
// [clock.Estimator.At]. It is unknown of an agent that is not asked.
func (n *Node) At(peer uint32, ns int64) (b clock.Bound, known bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if p := n.peers[peer]; p != nil {
		return p.estimator.At(ns)
	}
	return clock.Bound{}, false
}

// Over returns how wrong an offset was that was used over a time; see [clock.Estimator.Over].
// It is unknown of an agent that is not asked.
func (n *Node) Over(peer uint32, fromNs, toNs, usedNs int64) (b clock.Bound, known bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if p := n.peers[peer]; p != nil {
		return p.estimator.Over(fromNs, toNs, usedNs)
	}
	return clock.Bound{}, false
}

// Add takes in an echo that came another way, such as over the control topic. It does not end
// a silence. It returns an error if the agent is not asked, or as [clock.Estimator.Add] does.
func (n *Node) Add(peer uint32, e clock.Echo) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	p := n.peers[peer]
	if p == nil {
		return fmt.Errorf("agent %d is not asked for its clock", peer)
	}
	return p.estimator.Add(e)
}

// Silent reports whether a peer has given no answer for 2 s: since the last one, or since it
// was first asked. An agent that is not asked is silent.
func (n *Node) Silent(peer uint32) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	p := n.peers[peer]
	return p == nil || n.cfg.Clock.NowNs()-p.answeredNs >= int64(Silence)
}
