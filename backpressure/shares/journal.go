package shares

// SnapshotEvery is the number of records after which a member writes a snapshot, so that older ones
// can be deleted.
const SnapshotEvery = 1024

// Journal follows a log with any number of bounds, from its present beginning.
//
// A log that was cut at its beginning has a state only from a snapshot that was taken at or after
// the cut. Until the journal reads such a snapshot, it keeps the records; then it folds those that
// the snapshot does not cover. It does the same if records were deleted before it read them.
//
// A missing offset is a cut only if the log begins after it ([Journal.Begins]). Otherwise it is the
// marker of a foreign transaction, which no reader gets.
type Journal struct {
	next   int64
	first  int64 // the known beginning of the log
	cut    int64 // from this offset on, no record is missing from what was read
	based  bool
	bounds map[string]*State
	kept   []kept // records read since the cut, while not based
	last   int64  // offset of the last snapshot

	wanted bool // the log was cut and empty: no other member has a snapshot
}

const keptMax = 16 * SnapshotEvery

type kept struct {
	offset int64
	record Record
}

// NewJournal begins with the log's first offset and the offset after its last record. In a log that
// was never cut, or is empty, no member holds a part at the beginning.
func NewJournal(first, end int64) *Journal {
	empty := first == end
	return &Journal{
		next: first, first: first, cut: first, last: first, based: first == 0 || empty, wanted: first > 0 && empty,
		bounds: make(map[string]*State),
	}
}

// Begins takes the log's first offset, as the broker reported it. The broker must have reported it
// together with the records that Fold gets next, or later.
func (j *Journal) Begins(first int64) { j.first = max(j.first, first) }

// Fold applies the record at an offset. Offsets must grow, and the log must not be compacted.
func (j *Journal) Fold(offset int64, r Record) {
	if offset < j.next {
		return // a copy from the client
	}
	if offset > j.next && j.first > j.next {
		j.based, j.kept, j.bounds = false, nil, make(map[string]*State)
		j.cut = min(j.first, offset)
		j.last = offset
	}
	j.next = offset + 1
	if r.Kind == Snapshot {
		j.met(r, offset)
	}
	if j.based {
		j.apply(r)
		return
	}
	if len(j.kept) == keptMax {
		j.kept = append(j.kept[:0], j.kept[keptMax/2:]...) // as if the cut were later
		j.cut = j.kept[0].offset
	}
	j.kept = append(j.kept, kept{offset: offset, record: r})
}

func (j *Journal) met(r Record, offset int64) {
	j.last, j.wanted = offset, false
	if j.based || r.Before < j.cut {
		return
	}
	for bound, entries := range r.All {
		s := j.bound(bound)
		for _, e := range entries {
			s.put(e)
		}
	}
	j.based = true
	for _, k := range j.kept {
		if k.offset >= r.Before {
			j.apply(k.record)
		}
	}
	j.kept = nil
}

func (j *Journal) apply(r Record) {
	if r.Kind != Snapshot {
		j.bound(r.Bound).Fold(r)
	}
}

func (j *Journal) bound(name string) *State {
	s := j.bounds[name]
	if s == nil {
		s = new(State)
		j.bounds[name] = s
	}
	return s
}

// State returns the state of a bound; nil while the log's beginning is missing.
func (j *Journal) State(bound string) *State {
	if !j.based {
		return nil
	}
	return j.bound(bound)
}

// Next is the offset of the next record.
func (j *Journal) Next() int64 { return j.next }

// Due reports whether member should write a snapshot now. The turn moves from member to member, so
// that a dead member does not delay the snapshot for long.
func (j *Journal) Due(bound, member string) bool {
	if !j.based {
		return false
	}
	if j.wanted {
		return true
	}
	since := j.next - j.last
	if since < SnapshotEvery {
		return false
	}
	members := j.bound(bound).Members()
	turn := since / (SnapshotEvery / 8)
	return len(members) > 0 && members[turn%int64(len(members))].Member == member
}

// Snapshot returns the record of the log's present state.
func (j *Journal) Snapshot() Record {
	all := make(map[string][]Entry)
	for name, s := range j.bounds {
		if members := s.Members(); len(members) > 0 {
			all[name] = members
		}
	}
	return Record{Kind: Snapshot, Before: j.next, All: all}
}
