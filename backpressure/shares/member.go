package shares

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Config configures a member. All members of a bound must have the same times.
type Config struct {
	// ID is unique for ever: a member that joins again takes another ID.
	ID string
	// Lease is how long the others wait for a beat. Margin is how much earlier the member stops by
	// itself.
	Lease, Margin time.Duration
	// Grace is how long a member's last record may still take to reach the log after the member
	// stopped.
	Grace time.Duration
	// Floor is the part that an idle member keeps.
	Floor Part
}

// Member is one member's view of the log, and its promises there. It has no clock: callers pass
// times, on any axis that never stands still; each member may have its own axis. Use it from one
// goroutine at a time. Before each Beat call Aim, put the part that it returns into force, and then
// measure what is outstanding.
type Member struct {
	cfg Config

	seq     int64
	pending []promise
	aim     Part // the part to which it lowers itself; otherwise Whole
	leaving bool

	joined, expelled bool
	self             Entry
	renewed          time.Duration // send time of the last beat that was read back
	free             Part
	peers            map[string]*peer
}

// promise is a record that was sent and not read back. It may be in the log, so the member uses at
// most want.
type promise struct {
	seq  int64
	want Part
	sent time.Duration
}

const pendingMax = 64

// Load is what a member knows of its own sending.
type Load struct {
	// Demand is the records per second that it would send, Served those that it may send.
	Demand, Served float64
	// Outstanding covers all its records that are not committed or of unknown fate, and those that
	// it may still send before it notices a lower part.
	Outstanding Part
	// Unsettled reports that the fate of some records is not known.
	Unsettled bool
}

// NewMember returns a member that has not joined yet.
func NewMember(cfg Config) (*Member, error) {
	switch {
	case cfg.ID == "":
		return nil, errors.New("shares: a member needs a unique ID")
	case cfg.Lease <= 0:
		return nil, fmt.Errorf("shares: the lease must be positive, not %v", cfg.Lease)
	case cfg.Margin < 0 || cfg.Margin >= cfg.Lease:
		return nil, fmt.Errorf("shares: the margin %v must be at least 0 and below the lease %v", cfg.Margin, cfg.Lease)
	case cfg.Grace < 0:
		return nil, fmt.Errorf("shares: the grace time must not be negative: %v", cfg.Grace)
	case cfg.Floor < 0 || cfg.Floor > Whole:
		return nil, fmt.Errorf("shares: the floor must be from 0 to %d millionths, not %d", Whole, cfg.Floor)
	}
	return &Member{cfg: cfg, aim: Whole, peers: make(map[string]*peer)}, nil
}

// See takes the state of the log, and a time that is not before the state was read.
func (m *Member) See(at time.Duration, s *State) {
	m.free = s.Free()
	m.seePeers(at, s)
	e, known := s.Member(m.cfg.ID)
	if !known {
		m.expelled = m.joined
		return
	}
	m.joined, m.self = true, e
	for _, p := range m.pending {
		if p.seq == e.Seq {
			m.renewed = p.sent
		}
	}
	m.pending = slices.DeleteFunc(m.pending, func(p promise) bool { return p.seq <= e.Seq })
}

// Joined reports whether the member has read itself in the log.
func (m *Member) Joined() bool { return m.joined }

// Expelled reports whether the member was in the log and is no longer: it must join again under
// another ID.
func (m *Member) Expelled() bool { return m.expelled }

// Grant returns the part that the member may use, and until when. After that time the part is 0,
// unless another beat is read back before.
func (m *Member) Grant() (part Part, until time.Duration) {
	if !m.joined || m.expelled {
		return 0, 0
	}
	part = min(m.self.Held, m.aim)
	for _, p := range m.pending {
		part = min(part, p.want)
	}
	return part, m.renewed + m.cfg.Lease - m.cfg.Margin
}

// Aim decides whether the member gives way to others, and returns the part to use from now on.
func (m *Member) Aim(at time.Duration) Part {
	target, wanted := m.target(at)
	switch {
	case m.leaving:
		m.aim = 0
	case wanted && target < m.self.Held:
		m.aim = target
	default:
		m.aim = Whole
	}
	part, _ := m.Grant()
	return part
}

// Beat returns the record to append now. The member lowers itself as far as its
// outstanding records allow, or asks for its target.
func (m *Member) Beat(at time.Duration, load Load) Record {
	r := m.record(Beat)
	r.Demand, r.Served, r.First = load.Demand, load.Served, !m.joined
	target, _ := m.target(at)
	switch {
	case r.First:
	case m.aim < m.self.Held:
		r.Want = min(m.self.Held, max(m.aim, load.Outstanding))
	default:
		r.Want = max(m.self.Held, target)
	}
	m.promise(promise{seq: r.Seq, want: r.Want, sent: at})
	return r
}

// Retire makes the following beats lower the member to nothing.
func (m *Member) Retire() { m.leaving = true }

// Leave returns the last record of a retired member. The part of its outstanding records stays held
// until the others see them drained.
func (m *Member) Leave(at time.Duration, load Load) Record {
	m.leaving, m.aim = true, 0
	r := m.record(Leave)
	r.Want, r.Unsettled = min(m.self.Held, load.Outstanding), load.Unsettled
	m.promise(promise{seq: r.Seq, sent: at})
	return r
}

func (m *Member) record(kind Kind) Record {
	m.seq++
	return Record{Kind: kind, Member: m.cfg.ID, Seq: m.seq}
}

// promise adds a promise. If there are too many, it merges the two oldest into one with the smaller
// part and the older time.
func (m *Member) promise(p promise) {
	if len(m.pending) == pendingMax {
		m.pending[1].want = min(m.pending[0].want, m.pending[1].want)
		m.pending[1].sent = m.pending[0].sent
		m.pending = slices.Delete(m.pending, 0, 1)
	}
	m.pending = append(m.pending, p)
}

// target returns the member's target, and whether others lack so much that members above their
// target should give way.
func (m *Member) target(at time.Duration) (target Part, wanted bool) {
	if !m.joined || m.expelled {
		return 0, false
	}
	live, whole := m.live(at)
	floor := floorOf(whole, m.cfg.Floor, Part(len(live)))
	var lacking Part
	needed := false
	for i, t := range Targets(live, whole, m.cfg.Floor) {
		switch e := live[i]; {
		case e.Member == m.cfg.ID:
			target = t
		case e.Held < t:
			lacking += t - e.Held
			needed = needed || short(e, t, floor)
		}
	}
	begun := m.aim < Whole
	return target, needed && lacking > m.free || begun && lacking > m.free+nothing
}

// live returns the members that take part, this one included, and the part that is left for them:
// gone members may still hold the rest.
func (m *Member) live(at time.Duration) (live []Entry, whole Part) {
	live, whole = []Entry{m.self}, Whole
	for _, p := range m.peers {
		if p.entry.Left || at-p.since >= m.cfg.Lease {
			whole -= p.entry.Held
			continue
		}
		live = append(live, p.entry)
	}
	slices.SortFunc(live, func(a, b Entry) int { return strings.Compare(a.Member, b.Member) })
	return live, whole
}

// Members returns the number of members that take part, this one included.
func (m *Member) Members(at time.Duration) int {
	live, _ := m.live(at)
	return len(live)
}
