package control

import (
	"fmt"
	"maps"
)

// State is what a prefix of the log says. It knows no time and depends only on the
// records, so that all readers of one prefix agree. It is not safe for concurrent use.
type State struct {
	key   Key
	topic [16]byte

	next        int64 // the offset after the last entry
	coordinator speaker
	agents      map[int]*agent
	standings   map[uint64]Standing // of all instances that have claimed an index

	run   int // from 1; 0 before the first plan
	plan  *Plan
	start *Start
	stop  *Stop
	end   *End

	counts [effects]int64
}

// speaker is one process that writes.
type speaker struct {
	instance uint64
	sequence uint64 // of its last record
	gaps     int    // in the sequence, during the run
}

// Agent is what the log says of the valid instance of an index. All but Hello is of the
// current run, and nil or 0 if nothing came.
type Agent struct {
	Instance  uint64 // the valid one
	Hello     Hello
	Ready     *Ready
	Pulse     *Pulse
	Sent      *Sent
	Snapshots int  // handed in whole
	All       bool // the last one is among them
	Gaps      int  // places in the sequence where records are missing
}

type agent struct {
	speaker
	hello Hello
	of    part
}

// part is what an agent has said in one run.
type part struct {
	ready     *Ready
	pulse     *Pulse
	sent      *Sent
	snapshots int
	all       bool
	pieces    []byte // of the snapshot that is not whole yet
	piece     int    // the next one
}

// Standing is how an instance that claims an index stands.
type Standing int

// The standings.
const (
	Unheard  Standing = iota // its hello is not in the log yet
	Valid                    // its records count
	Replaced                 // another instance has claimed the index since
	TooLate                  // it came after the start of a run, or the end of the session
)

// Effect is what became of an entry.
type Effect int

// The effects. Only an entry that is Applied changes what is known of a run.
const (
	Applied  Effect = iota
	Refused         // it could not be opened, or not be understood
	Zombie          // its writer is not the valid instance
	Copied          // its sequence was there before
	Outdated        // it is of another run, or of a phase that is over
	Void            // a start that does not name the valid instances
	effects
)

// Change is what an entry has changed.
type Change struct {
	Effect Effect
	Record Record // without its body; empty if the entry was refused
	// Replaced is the instance that a hello has replaced; 0 is none.
	Replaced uint64
	// Snapshot is the whole snapshot of which this was the last piece; nil otherwise. It
	// is not kept.
	Snapshot []byte
}

// NewState returns the state of the empty log of the topic with this ID.
func NewState(key Key, topic [16]byte) *State {
	return &State{key: key, topic: topic, agents: make(map[int]*agent), standings: make(map[uint64]Standing)}
}

// Apply folds the next entry. An error says why the entry was refused; it changes nothing
// but the count. An entry that was read before is ignored.
func (s *State) Apply(e Entry) (Change, error) {
	if e.Offset < s.next {
		return Change{Effect: Copied}, nil
	}
	s.next = e.Offset + 1
	c, err := s.apply(e.Record)
	s.counts[c.Effect]++
	if err != nil {
		return c, fmt.Errorf("control log, offset %d: %w", e.Offset, err)
	}
	return c, nil
}

func (s *State) apply(sealed []byte) (Change, error) {
	r, err := Open(s.key, s.topic, sealed)
	if err != nil {
		return Change{Effect: Refused}, err
	}
	body, err := r.decode()
	if err != nil {
		return Change{Effect: Refused}, err
	}
	c := Change{Record: r}
	c.Record.Body = nil
	if r.Agent == Coordinator {
		c.Effect = s.direct(r, body)
		return c, nil
	}
	a := s.agents[r.Agent]
	hello, claims := body.(*Hello)
	switch {
	case claims && s.standings[r.Instance] == Unheard:
		c.Effect, c.Replaced = s.claim(r, *hello)
	case a == nil || a.instance != r.Instance:
		c.Effect = Zombie
	case !a.follow(r.Sequence):
		c.Effect = Copied
	case claims || r.Run != s.run || s.plan == nil || s.end != nil:
		c.Effect = Outdated
	default:
		c.Effect, c.Snapshot = s.hear(a, r, body)
	}
	return c, nil
}

// follow reports whether a sequence is new, and counts a gap before it.
func (s *speaker) follow(sequence uint64) bool {
	if sequence <= s.sequence {
		return false
	}
	if sequence > s.sequence+1 {
		s.gaps++
	}
	s.sequence = sequence
	return true
}

// claim gives an index to an instance that was not heard of before.
func (s *State) claim(r Record, h Hello) (effect Effect, replaced uint64) {
	if s.start != nil || s.end != nil {
		s.standings[r.Instance] = TooLate
		return Outdated, 0
	}
	if a := s.agents[r.Agent]; a != nil {
		replaced = a.instance
		s.standings[replaced] = Replaced
	}
	s.standings[r.Instance] = Valid
	s.agents[r.Agent] = &agent{speaker: speaker{instance: r.Instance, sequence: r.Sequence}, hello: h}
	return Applied, replaced
}

// direct folds a record of the coordinator. The first one is the session's.
func (s *State) direct(r Record, body any) Effect {
	if s.coordinator.instance == 0 {
		s.coordinator = speaker{instance: r.Instance, sequence: r.Sequence - 1}
	}
	if r.Instance != s.coordinator.instance {
		return Zombie
	}
	if !s.coordinator.follow(r.Sequence) {
		return Copied
	}
	if b, plans := body.(*Plan); plans && r.Run > s.run && s.end == nil {
		s.begin(r.Run, b)
		return Applied
	}
	if s.end != nil || r.Run != s.run {
		return Outdated
	}
	switch b := body.(type) {
	case *Start:
		switch {
		case s.plan == nil || s.start != nil || s.stop != nil:
			return Outdated
		case !s.names(b):
			return Void
		}
		s.start = b
	case *Stop:
		if s.plan == nil || s.stop != nil {
			return Outdated
		}
		s.stop = b
	case *End:
		s.end = b
	default: // a plan for a run that there is
		return Outdated
	}
	return Applied
}

// begin begins a run: of the one before, only who is who remains.
func (s *State) begin(run int, p *Plan) {
	s.run, s.plan, s.start, s.stop = run, p, nil, nil
	s.coordinator.gaps = 0
	for _, a := range s.agents {
		a.gaps, a.of = 0, part{}
	}
}

// names reports whether a start names the valid instances, and owners among them.
func (s *State) names(b *Start) bool {
	for i, instance := range b.Instances {
		if a := s.agents[i]; a == nil || a.instance != instance {
			return false
		}
	}
	for _, owner := range b.Owners {
		if owner < Coordinator || owner >= len(b.Instances) {
			return false
		}
	}
	return len(b.Instances) > 0
}

// hear folds what the valid instance of an index says of the run.
func (s *State) hear(a *agent, r Record, body any) (Effect, []byte) {
	switch b := body.(type) {
	case *Ready:
		if s.start != nil {
			return Outdated, nil
		}
		a.of.ready = b
	case *Pulse:
		a.of.pulse = b
	case *Sent:
		if s.start == nil {
			return Outdated, nil
		}
		a.of.sent = b
	default:
		if s.start == nil {
			return Outdated, nil
		}
		return a.take(r)
	}
	return Applied, nil
}

// take adds a piece to the snapshot that an agent hands in, and returns the snapshot if
// it is whole. Pieces of a snapshot that is there already are copies.
func (a *agent) take(r Record) (Effect, []byte) {
	p := &a.of
	if r.Number < p.snapshots || p.all {
		return Copied, nil
	}
	if r.Piece == 0 {
		p.pieces, p.piece = nil, 0
	}
	if r.Number > p.snapshots || r.Piece != p.piece {
		return Outdated, nil // after a gap in the sequence, which is counted
	}
	p.pieces, p.piece = append(p.pieces, r.Body...), p.piece+1
	if p.piece < r.Pieces {
		return Applied, nil
	}
	whole := p.pieces
	if whole == nil {
		whole = []byte{}
	}
	p.pieces, p.piece, p.snapshots, p.all = nil, 0, p.snapshots+1, r.Last
	return Applied, whole
}

// Run is the number of the current run, from 1; 0 before the first plan.
func (s *State) Run() int { return s.run }

// Plan is that of the current run, or nil.
func (s *State) Plan() *Plan { return s.plan }

// Start is that of the current run, or nil. Nobody but its instances works in the run.
func (s *State) Start() *Start { return s.start }

// Stop is that of the current run, or nil. The first one counts, and no start follows it.
func (s *State) Stop() *Stop { return s.stop }

// End is that of the session, or nil. Nothing that follows it in the log counts.
func (s *State) End() *End { return s.end }

// Next is the offset after the last entry: where to read on.
func (s *State) Next() int64 { return s.next }

// Count is the number of entries with this effect.
func (s *State) Count(e Effect) int64 { return s.counts[e] }

// CoordinatorGaps is the number of places in the current run where records of the
// coordinator are missing.
func (s *State) CoordinatorGaps() int { return s.coordinator.gaps }

// Mine is how an instance stands.
func (s *State) Mine(instance uint64) Standing { return s.standings[instance] }

// Agent returns what is known of an index, and whether an instance is valid.
func (s *State) Agent(index int) (Agent, bool) {
	a := s.agents[index]
	if a == nil {
		return Agent{}, false
	}
	return Agent{
		Instance: a.instance, Hello: a.hello, Ready: a.of.ready, Pulse: a.of.pulse, Sent: a.of.sent,
		Snapshots: a.of.snapshots, All: a.of.all, Gaps: a.gaps,
	}, true
}

// Agents are all agents with a valid instance, by index. A mistyped index is among them.
func (s *State) Agents() map[int]Agent {
	all := make(map[int]Agent, len(s.agents))
	for index := range maps.Keys(s.agents) {
		all[index], _ = s.Agent(index)
	}
	return all
}

// Missing are the indexes below of without a valid instance, in order.
func (s *State) Missing(of int) []int {
	return s.without(of, func(a Agent) bool { return a.Instance != 0 })
}

// Unready are the indexes below of that can't start the current run, in order.
func (s *State) Unready(of int) []int {
	return s.without(of, func(a Agent) bool { return a.Ready != nil && a.Ready.Failed == "" })
}

// Unsent are the indexes below of whose producers are not closed, in order.
func (s *State) Unsent(of int) []int {
	return s.without(of, func(a Agent) bool { return a.Sent != nil })
}

// Incomplete are the indexes below of that have not handed in all of the current run.
func (s *State) Incomplete(of int) []int { return s.without(of, Agent.complete) }

// Complete reports whether an agent has handed in all of the current run, and nothing of
// what it wrote is missing.
func (s *State) Complete(index int) bool {
	a, _ := s.Agent(index)
	return a.complete()
}

func (a Agent) complete() bool { return a.Sent != nil && a.All && a.Gaps == 0 }

// Instances are the valid ones of the indexes below of, as [Start] names them; 0 is none.
func (s *State) Instances(of int) []uint64 {
	instances := make([]uint64, of)
	for i := range instances {
		if a := s.agents[i]; a != nil {
			instances[i] = a.instance
		}
	}
	return instances
}

func (s *State) without(of int, has func(Agent) bool) []int {
	var indexes []int
	for i := range of {
		if a, _ := s.Agent(i); !has(a) {
			indexes = append(indexes, i)
		}
	}
	return indexes
}
