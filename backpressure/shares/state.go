package shares

import (
	"maps"
	"slices"
	"strings"
)

// Entry is what the log says of one member.
type Entry struct {
	Member string `json:"m"`
	// Seq is that of its last record.
	Seq int64 `json:"n"`
	// Held is the part that nobody else may be given.
	Held   Part    `json:"h,omitempty"`
	Demand float64 `json:"d,omitempty"`
	Served float64 `json:"s,omitempty"`
	// Left tells that it left with records outstanding, and Unsettled that the fate
	// of some was not known.
	Left      bool `json:"l,omitempty"`
	Unsettled bool `json:"u,omitempty"`
}

// State is what a prefix of the log says of one bound: who takes part and who
// holds what. The parts held never add up to more than [Whole]. It knows no time
// and depends on the records alone. The zero value is the empty log's.
type State struct {
	members map[string]Entry
}

// Fold takes the next record of the log into account.
func (s *State) Fold(r Record) {
	e, known := s.members[r.Member]
	switch {
	case r.Kind == Beat && !known && r.First:
		s.put(Entry{Member: r.Member, Seq: r.Seq, Demand: max(0, r.Demand), Served: max(0, r.Served)})
	case !known:
		// It was reclaimed before this came, or it left: it must join anew.
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

// grant is what of a wanted part a member gets: all of a lowering, and of a raise
// what the others leave.
func (s *State) grant(e Entry, want Part) Part {
	return min(max(0, want), e.Held+s.Free())
}

func (s *State) put(e Entry) {
	if s.members == nil {
		s.members = make(map[string]Entry)
	}
	s.members[e.Member] = e
}

// Free is the part that nobody holds.
func (s *State) Free() Part {
	free := Whole
	for _, e := range s.members {
		free -= e.Held
	}
	return free
}

// Member returns what is known of a member, and whether anything is.
func (s *State) Member(id string) (Entry, bool) {
	e, known := s.members[id]
	return e, known
}

// Members are all members in the order of their names.
func (s *State) Members() []Entry {
	return slices.SortedFunc(maps.Values(s.members), func(a, b Entry) int { return strings.Compare(a.Member, b.Member) })
}
