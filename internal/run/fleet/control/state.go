package control

import "fmt"

// State is the content of a prefix of the log. It depends only on the records and not on time, so
// that all readers of one prefix agree. It is not safe for concurrent use.
type State struct {
	key   Key
	topic [16]byte

	next        int64 // after the last entry
	coordinator speaker
	agents      map[int]*agent
	standings   map[uint64]Standing // of all instances that have claimed an index

	run     int // from 1; 0 before the first plan
	plan    *Plan
	reading *Reading
	start   *Start
	stop    *Stop
	end     *End

	counts [effects]int64
}

type speaker struct {
	instance uint64
	sequence uint64 // of its last record
	gaps     int    // in the sequence, during the run
}

type agent struct {
	speaker
	hello Hello
	of    part
}

type part struct {
	filled    *Filled
	ready     *Ready
	pulse     *Pulse
	spent     *Spent
	sent      *Sent
	snapshots int
	all       bool
	pieces    []byte // of the incomplete snapshot
	piece     int    // next one
}

// Standing says whether the records of an instance count: how its claim to the index of an agent
// stands.
type Standing int

const (
	Unheard  Standing = iota // its hello is not in the log yet
	Valid                    // its records count
	Replaced                 // another instance claimed the index later
	TooLate                  // it claimed the index after a run's start, or the session's end
)

// Effect says what an entry changed, or why it changed nothing.
type Effect int

// Only an Applied entry changes what is known of a run.
const (
	Applied  Effect = iota
	Refused         // could not be opened or decoded
	Zombie          // its writer is not the valid instance
	Copied          // sequence number was read before
	Outdated        // of another run, or an earlier phase
	Void            // a start that does not name the valid instances
	effects
)

// Change describes the effect of one entry.
type Change struct {
	Effect Effect
	Record Record // without its body; empty if refused
	// Replaced is the instance that a hello replaced; 0 is none.
	Replaced uint64
	// Snapshot is the snapshot that this piece completed, or nil. State does not keep it.
	Snapshot []byte
	Echo     *Echo // the question or answer, else nil. State does not keep it.
}

// NewState returns the state of the empty log of the topic with this ID.
func NewState(key Key, topic [16]byte) *State {
	return &State{key: key, topic: topic, agents: make(map[int]*agent), standings: make(map[uint64]Standing)}
}

// Apply folds the next entry. An error says why the entry was refused; a refused entry is only
// counted. An entry that was read before is ignored.
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
		c.Echo, _ = body.(*Echo)
	}
	return c, nil
}

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

// direct folds a record of a coordinator; the first coordinator is the session's.
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
	case *Reading:
		if s.start != nil || s.reading != nil {
			return Outdated
		}
		s.reading = b
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
	default: // a plan of a run that exists
		return Outdated
	}
	return Applied
}

// begin forgets the previous run, except its agents.
func (s *State) begin(run int, p *Plan) {
	s.run, s.plan, s.reading, s.start, s.stop = run, p, nil, nil, nil
	s.coordinator.gaps = 0
	for _, a := range s.agents {
		a.gaps, a.of = 0, part{}
	}
}

// names reports whether a start names only valid instances, has a time for each, and has as owners
// only indexes of these instances or −1 (none).
func (s *State) names(b *Start) bool {
	for i, instance := range b.Instances {
		if a := s.agents[i]; a == nil || a.instance != instance {
			return false
		}
	}
	if len(b.ClocksNs) != len(b.Instances) {
		return false
	}
	for _, owner := range b.Owners {
		if owner < Coordinator || owner >= len(b.Instances) {
			return false
		}
	}
	return len(b.Instances) > 0
}

func (s *State) hear(a *agent, r Record, body any) (Effect, []byte) {
	switch b := body.(type) {
	case *Filled:
		if s.start != nil || s.reading != nil {
			return Outdated, nil
		}
		a.of.filled = b
	case *Ready:
		if s.start != nil {
			return Outdated, nil
		}
		a.of.ready = b
	case *Echo:
	case *Pulse:
		a.of.pulse = b
	case *Spent:
		if s.start == nil {
			return Outdated, nil
		}
		a.of.spent = b
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

// take returns a snapshot once it is complete. Pieces of an earlier one are copies.
func (a *agent) take(r Record) (Effect, []byte) {
	p := &a.of
	if r.Number < p.snapshots || p.all {
		return Copied, nil
	}
	if r.Piece == 0 {
		p.pieces, p.piece = nil, 0
	}
	if r.Number > p.snapshots || r.Piece != p.piece {
		return Outdated, nil // after a counted gap in the sequence
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
