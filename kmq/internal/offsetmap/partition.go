package offsetmap

import (
	"kafka-bench/kmq/internal/lease"
	"kafka-bench/kmq/internal/member"
	"kafka-bench/kmq/internal/window"
)

// phase is where a record is between being taken and being done.
type phase uint8

const (
	live    phase = iota // ready, or in the application's hands
	waiting              // released, until its delay is over
	moving               // on its way into a topic: to the tail, or to the dead letters
)

// slot is one record that was fetched and is not done. Its lease changes from delivery to
// delivery; the slot stays.
type slot struct {
	of     *partition
	offset int64
	base   int // the attempt of the first delivery from this place
	times  int // deliveries from this place, those of earlier owners too
	phase  phase
	lease  *lease.Lease

	move move // while moving

	before, after *slot // those of the partition in the order of offsets
}

// partition is what an owner knows of one. It is under the lock of the engine.
type partition struct {
	id     int32
	window *window.Window
	oldest *slot // taken and not done, in the order of offsets
	newest *slot

	known  []delivered    // by an earlier owner, of records that were not taken yet
	held   []*lease.Lease // fetched, and not taken for lack of room in the metadata
	paused bool           // nothing is fetched: much is held
	moving int            // copies that are being written

	begun bool // there was a commit, or a record
	gone  bool // given to somebody else

	changed bool          // since the commit was last made up
	commit  member.Offset // as it was last made up
}

// restore makes a partition of what is committed of it. The error says why its metadata
// could not be read; the partition then begins at the committed offset.
func restore(id int32, committed member.Offset, c *coder) (*partition, error) {
	p := &partition{id: id, begun: committed.At >= 0, changed: true}
	if !p.begun {
		p.window = window.New(0)
		return p, nil
	}
	progress, err := c.decode(committed.At, committed.Metadata)
	p.window, p.known = window.Restore(committed.At, progress.done), progress.delivered
	return p, err
}

// fits says whether the record at an offset may be taken: whether the map still fits
// into so many characters, whatever is done next and in whatever order. A record that is
// alone may: it is the committed offset then, and needs no map.
func (p *partition) fits(offset int64, limit int) bool {
	w := p.window
	if w.Open() == 0 {
		return true
	}
	return worstChars(max(w.End(), offset+1)-w.Committable(), w.Open()+1+w.Ahead()) <= int64(limit)
}

// take opens the record of a lease; false if it is done already. missing is how many
// records that an earlier owner had delivered were before it and are not in the log.
func (p *partition) take(s *slot) (taken bool, missing int) {
	for len(p.known) > 0 && p.known[0].offset < s.offset {
		missing++
		p.known = p.known[1:]
	}
	if !p.window.Take(s.offset) {
		return false, missing
	}
	p.begun, p.changed = true, true
	s.base = s.lease.Attempt
	if len(p.known) > 0 && p.known[0].offset == s.offset {
		s.times = p.known[0].times
		s.lease.Attempt += s.times
		p.known = p.known[1:]
	}
	s.before = p.newest
	if p.newest != nil {
		p.newest.after = s
	} else {
		p.oldest = s
	}
	p.newest = s
	return true, missing
}

// done closes the record of a slot.
func (p *partition) done(s *slot) {
	if !p.window.Done(s.offset) {
		return
	}
	p.changed = true
	if s.before != nil {
		s.before.after = s.after
	} else {
		p.oldest = s.after
	}
	if s.after != nil {
		s.after.before = s.before
	} else {
		p.newest = s.before
	}
	s.before, s.after = nil, nil
}

// progress is what a commit at the returned offset has to say; -1 where there is nothing
// to commit.
func (p *partition) progress() (int64, progress) {
	if !p.begun {
		return -1, progress{}
	}
	out := progress{done: p.window.Beyond()}
	for s := p.oldest; s != nil; s = s.after {
		if s.times > 0 {
			out.delivered = append(out.delivered, delivered{s.offset, s.times})
		}
	}
	out.delivered = append(out.delivered, p.known...)
	return p.window.Committable(), out
}
