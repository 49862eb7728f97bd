// Package echo lets agents ask each other for the time by UDP, and proves from the answers
// how far apart their clocks are.
//
// Files to know: node.go (asks and answers), peer.go (what is known of a peer), packet.go,
// boot.go (agents that share a clock), clock.go.
package echo

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"kafkabench.example/kafka-bench/internal/measure/clock"
)

const (
	// Every is the time between questions to a peer.
	Every = 250 * time.Millisecond
	// Silence is the time without an answer after which a peer is Silent. A later answer proves
	// nothing.
	Silence    = 2 * time.Second
	mostAskers = 4096
	// pause follows each failed read, so that a broken connection does not keep a CPU busy.
	pause = 10 * time.Millisecond
)

// Config configures a node.
type Config struct {
	Conn  net.PacketConn // closed by Close; if nil, echoes come only through Add
	Clock Clock
	// Key is the session's key; nil for clusters of this machine. Without a key, packets have only a
	// checksum, which anybody can forge.
	Key    []byte
	Number uint32 // this agent; questions to others are ignored
}

// Peer is an agent to ask. Without an address it is silent from the beginning.
type Peer struct {
	Number uint32
	Addr   net.Addr
}

// Counts are a node's counts. It ignores packets that count as Forged, Replayed or Refused.
type Counts struct {
	Asked    int64 // questions sent
	Answered int64 // questions of others
	Proved   int64 // accepted by an estimator
	Forged   int64 // wrong form, version or key, or damaged
	Replayed int64 // questions seen before or for another agent, and answers to no open question
	Refused  int64 // questions of more than 4,096 askers, and late or impossible answers
	Failed   int64 // reads and writes of the connection
}

// Node answers other agents' questions, and asks its peers.
type Node struct {
	cfg     Config
	asker   uint64
	alive   context.Context
	end     context.CancelFunc
	running sync.WaitGroup

	mu      sync.Mutex
	peers   map[uint32]*peer
	askers  map[uint64]uint64 // highest sequence
	counts  Counts
	highest uint64 // of forgotten peers
}

// Open starts a node, which answers until Close. It refuses an empty key.
func Open(cfg Config) (*Node, error) {
	if cfg.Key != nil && len(cfg.Key) == 0 {
		return nil, errors.New("the session's key is empty: anybody could seal the clock's echoes")
	}
	var drawn [8]byte
	if _, err := rand.Read(drawn[:]); err != nil {
		return nil, fmt.Errorf("draw a number for the clock's echoes: %w", err)
	}
	n := &Node{
		cfg: cfg, asker: binary.BigEndian.Uint64(drawn[:]),
		peers: make(map[uint32]*peer), askers: make(map[uint64]uint64),
	}
	n.alive, n.end = context.WithCancel(context.Background())
	if cfg.Conn != nil {
		n.running.Go(n.read)
	}
	return n, nil
}

// Addr is the node's address for questions.
func (n *Node) Addr() net.Addr { return n.cfg.Conn.LocalAddr() }

// Ask starts to ask peers, each four times a second at a different moment. If a peer is given twice
// or is asked already, Ask asks none and returns an error.
func (n *Node) Ask(peers ...Peer) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	added := make(map[uint32]bool)
	for _, p := range peers {
		if n.peers[p.Number] != nil || added[p.Number] {
			return fmt.Errorf("agent %d is asked for its clock already", p.Number)
		}
		added[p.Number] = true
	}
	for i, added := range peers {
		p := &peer{Peer: added, sequence: n.highest, answeredNs: n.cfg.Clock.NowNs()}
		n.peers[p.Number] = p
		if p.Addr == nil || n.cfg.Conn == nil {
			p.answeredNs -= int64(Silence)
			continue
		}
		var alive context.Context
		alive, p.end = context.WithCancel(n.alive)
		first := Every * time.Duration(i) / time.Duration(len(peers))
		n.running.Go(func() { n.askOften(alive, p, first) })
	}
	return nil
}

// Forget ends the questions to a peer and discards its proofs, because another process has its
// number.
func (n *Node) Forget(number uint32) {
	n.mu.Lock()
	defer n.mu.Unlock()
	p := n.peers[number]
	if p == nil {
		return
	}
	if p.end != nil {
		p.end()
	}
	n.highest = max(n.highest, p.sequence)
	delete(n.peers, number)
}

// Close ends all goroutines and closes the connection. Proofs remain.
func (n *Node) Close() error {
	n.end()
	var err error
	if n.cfg.Conn != nil {
		err = n.cfg.Conn.Close()
	}
	n.running.Wait()
	return err
}

// Counts returns the counts until now.
func (n *Node) Counts() Counts {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.counts
}

func (n *Node) count(counter *int64) {
	n.mu.Lock()
	*counter++
	n.mu.Unlock()
}

func (n *Node) askOften(alive context.Context, p *peer, first time.Duration) {
	timer := time.NewTimer(first)
	defer timer.Stop()
	for {
		select {
		case <-alive.Done():
			return
		case <-timer.C:
		}
		timer.Reset(Every)
		n.ask(p)
	}
}

// The time is read last.
func (n *Node) ask(p *peer) {
	slew := n.cfg.Clock.SlewNs()
	n.mu.Lock()
	p.sequence++
	asked := packet{kind: question, to: p.Number, asker: n.asker, sequence: p.sequence}
	n.mu.Unlock()
	sealed := asked.encode(n.cfg.Key)
	n.mu.Lock()
	n.counts.Asked++
	p.open[asked.sequence%mostOpen] = open{asked.sequence, n.cfg.Clock.NowNs(), slew}
	n.mu.Unlock()
	n.send(sealed, p.Addr)
}

func (n *Node) send(sealed []byte, to net.Addr) {
	if _, err := n.cfg.Conn.WriteTo(sealed, to); err != nil {
		n.count(&n.counts.Failed)
	}
}

func (n *Node) read() {
	var buffer [packetSize + 1]byte // detects longer packets
	for {
		size, from, err := n.cfg.Conn.ReadFrom(buffer[:])
		now := n.cfg.Clock.NowNs()
		switch {
		case n.alive.Err() != nil || errors.Is(err, net.ErrClosed):
			return
		case err != nil:
			n.count(&n.counts.Failed)
			select {
			case <-n.alive.Done():
			case <-time.After(pause):
			}
			continue
		}
		switch p, sound := decode(buffer[:size], n.cfg.Key); {
		case sound && p.kind == question:
			n.answer(p, now, from)
		case sound && p.kind == answer:
			n.prove(p, now)
		default:
			n.count(&n.counts.Forged)
		}
	}
}

// answer reads the time last, right before the seal.
func (n *Node) answer(p packet, now int64, from net.Addr) {
	if !n.admit(p) {
		return
	}
	p.kind, p.heardNs, p.slewNs = answer, now, n.cfg.Clock.SlewNs()
	p.answeredNs = n.cfg.Clock.NowNs()
	n.send(p.encode(n.cfg.Key), from)
}

func (n *Node) admit(p packet) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	highest, known := n.askers[p.asker]
	switch {
	case p.to != n.cfg.Number || p.sequence <= highest:
		n.counts.Replayed++
		return false
	case !known && len(n.askers) == mostAskers:
		n.counts.Refused++
		return false
	}
	n.askers[p.asker] = p.sequence
	n.counts.Answered++
	return true
}

func (n *Node) prove(a packet, now int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	p := n.peers[a.to]
	if p == nil || a.asker != n.asker {
		n.counts.Replayed++
		return
	}
	asked, is := p.close(a.sequence)
	if !is {
		n.counts.Replayed++
		return
	}
	p.answeredNs = now
	err := p.estimator.Add(clock.Echo{
		SentNs: asked.sentNs, HeardNs: a.heardNs, AnsweredNs: a.answeredNs, ReceivedNs: now,
		OwnSlewNs: asked.slewNs, PeerSlewNs: a.slewNs,
	})
	if err != nil {
		n.counts.Refused++
		return
	}
	n.counts.Proved++
}
