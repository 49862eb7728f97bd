package shares

// SnapshotEvery is the number of records after which the members write down what
// the log has told so far, so that what is older can be deleted.
const SnapshotEvery = 1024

// Journal follows a log with any number of bounds, from wherever it begins now.
//
// A log that was cut at its beginning means something only from a snapshot on
// that was taken at or after the cut. Until it has met one the journal keeps what
// it reads, and then folds what came after the snapshot's offset. The same happens
// when a reader was away for so long that records were deleted before it read them.
//
// An offset that is missing is not a cut by itself: the marker that ends a foreign
// transaction takes one, and nobody is ever given it, so all members fold the same
// records without it. It is a cut if the log begins behind it ([Journal.Begins]).
type Journal struct {
	next   int64 // the offset after the last record read
	first  int64 // where the log begins, as far as is known
	cut    int64 // from where on nothing was cut out of what was read
	based  bool
	bounds map[string]*State
	kept   []kept // read since the cut, while not based
	last   int64  // the offset of the last snapshot met

	wanted bool // the log was cut and empty: nobody has a snapshot but us
}

// keptMax bounds what is kept while a snapshot is missing.
const keptMax = 16 * SnapshotEvery

type kept struct {
	offset int64
	record Record
}

// NewJournal begins with the log's first offset and the offset after its last
// record. A log that was never cut, or that is empty, says that nobody holds
// anything.
func NewJournal(first, end int64) *Journal {
	empty := first == end
	return &Journal{
		next: first, first: first, cut: first, last: first, based: first == 0 || empty, wanted: first > 0 && empty,
		bounds: make(map[string]*State),
	}
}

// Begins tells where the log begins, as the broker says. It must be told of the log
// as it was when the records that are folded next were read, or later.
func (j *Journal) Begins(first int64) { j.first = max(j.first, first) }

// Fold takes the record at an offset into account. Offsets must grow, and the log
// must not be compacted: that leaves out records which others have folded.
func (j *Journal) Fold(offset int64, r Record) {
	if offset < j.next {
		return // a copy from the client's side
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

// met notes a snapshot, and begins with it where there is no other beginning.
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

// State is what the log says of a bound so far; nil while its beginning is missing.
func (j *Journal) State(bound string) *State {
	if !j.based {
		return nil
	}
	return j.bound(bound)
}

// Next is the offset of the record that comes next.
func (j *Journal) Next() int64 { return j.next }

// Due tells whether it is time for a snapshot, and whether member should write it.
// The turn goes round, so that a dead one holds nothing up for long.
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

// Snapshot is the record that says what the log has told so far.
func (j *Journal) Snapshot() Record {
	all := make(map[string][]Entry)
	for name, s := range j.bounds {
		if members := s.Members(); len(members) > 0 {
			all[name] = members
		}
	}
	return Record{Kind: Snapshot, Before: j.next, All: all}
}
