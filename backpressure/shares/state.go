package shares

import (
	"maps"
	"slices"
	"strings"
)

// Entry is what the log says of one member.
type Entry struct {
	Member string `json:"m"`
	// Seq is the number of its last record.
	Seq int64 `json:"n"`
	// Held is the part that no other member may get.
	Held   Part    `json:"h,omitempty"`
	Demand float64 `json:"d,omitempty"`
	Served float64 `json:"s,omitempty"`
	// Left reports that it left with records outstanding, and Unsettled that the fate of
	// some was not known.
	Left      bool `json:"l,omitempty"`
	Unsettled bool `json:"u,omitempty"`
}

// State is what a prefix of the log says of one bound: its members and their parts. The parts held
// never add up to more than [Whole]. The state does not depend on time. The zero value is the state
// of an empty log.
type State struct {
	members map[string]Entry
}

// Fold applies the next record of the log.
func (s *State) Fold(r Record) {
	e, known := s.members[r.Member]
	switch {
	case r.Kind == Beat && !known && r.First:
		s.put(Entry{Member: r.Member, Seq: r.Seq, Demand: max(0, r.Demand), Served: max(0, r.Served)})
	case !known:
		// The member has left, or another member reclaimed its part: it must join again.
	case r.Kind == Beat && r.Seq > e.Seq && !e.Left:
		e.Seq, e.Demand, e.Served = r.Seq, max(0, r.Demand), max(0, r.Served)
		e.Held = s.grant(e, r.Want)
		s.put(e)
	case r.Kind == Leave && r.Seq > e.Seq && !e.Left:
		e.Held = min(e.Held, max(0, r.Want))
		if e.Held == 0 {
			delete(s.members, e.Member)
			return
		}
		e.Seq, e.Left, e.Unsettled, e.Demand, e.Served = r.Seq, true, r.Unsettled, 0, 0
		s.put(e)
	case r.Kind == Reclaim && r.Seq == e.Seq:
		delete(s.members, r.Member)
	}
}

func (s *State) grant(e Entry, want Part) Part {
	return min(max(0, want), e.Held+s.Free())
}

func (s *State) put(e Entry) {
	if s.members == nil {
		s.members = make(map[string]Entry)
	}
	s.members[e.Member] = e
}

// Free returns the part that no member holds.
func (s *State) Free() Part {
	free := Whole
	for _, e := range s.members {
		free -= e.Held
	}
	return free
}

// Member returns the entry of a member, and whether there is one.
func (s *State) Member(id string) (Entry, bool) {
	e, known := s.members[id]
	return e, known
}

// Members returns all members in the order of their names.
func (s *State) Members() []Entry {
	return slices.SortedFunc(maps.Values(s.members), func(a, b Entry) int { return strings.Compare(a.Member, b.Member) })
}
