package offsetmap

import (
	"slices"

	"kafkabench.example/kafka-bench/kmq/internal/lease"
	"kafkabench.example/kafka-bench/kmq/internal/member"
	"kafkabench.example/kafka-bench/kmq/internal/window"
)

// phase is where a record is.
type phase uint8

const (
	done    phase = iota // or never taken, since it was done before
	void                 // the log was cut: another record has this offset now, or none
	held                 // not taken yet, for lack of room in the metadata
	live                 // ready, or in the application's hands
	waiting              // released, until its delay is over
	moving               // on its way into a topic: to the tail, or to the dead letters
)

// slot is one record that was fetched. Its lease changes from delivery to delivery; the
// slot stays.
type slot struct {
	run   *run
	lease *lease.Lease // nil when it is done
	move  *move        // while moving
	base  int32        // the attempt of the first delivery from this place
	phase phase
	// How many copies of it were refused for good: for the tail, and as dead letters.
	refused, aside uint8
}

// run are some records of a partition that were fetched one after the other. They share
// a piece of memory, which is small, so that one that is never done does not hold much.
type run struct {
	of    *partition
	slots []slot
	open  int  // slots that are not done
	void  bool // some are: copies, and leases that ran out, may still ask for them
}

const runSlots = 32

// pool are runs of full length that are done, to be used again by any partition of an
// engine. It holds no more of them than all that may be in flight needs: a fetch brings
// thousands of records of one partition after thousands of another.
type pool struct {
	free []*run // every slot is done
	most int
}

// newPool is a pool for so many records in flight.
func newPool(inFlight int) *pool { return &pool{most: (inFlight + runSlots - 1) / runSlots} }

// get is a run for n records of a partition.
func (q *pool) get(p *partition, n int) *run {
	last := len(q.free) - 1
	if last < 0 || n <= runSlots/2 {
		return &run{of: p, slots: make([]slot, n)}
	}
	r := q.free[last]
	q.free[last], q.free = nil, q.free[:last]
	r.of, r.slots = p, r.slots[:n]
	return r
}

// put keeps a run that is done. Nothing asks for its slots any more, but leases that are
// settled, and those are asked first.
func (q *pool) put(r *run) {
	if cap(r.slots) == runSlots && !r.void && len(q.free) < q.most {
		r.of = nil // may be gone, with all that it holds, long before the run is used again
		q.free = append(q.free, r)
	}
}

// times is how often the record was delivered from this place, by earlier owners too: a
// lease is lent when it is handed out, and has a deadline then.
func (s *slot) times() int {
	n := s.lease.Attempt - int(s.base)
	if s.lent() {
		n++
	}
	return n
}

// lent is whether it is: what is being rejected has the deadline of a delivery that is over.
func (s *slot) lent() bool { return s.phase != moving && !s.lease.Deadline().IsZero() }

// partition is what an owner knows of one. It is under the lock of the engine.
type partition struct {
	id     int32
	window *window.Window
	runs   []*run // in the order of offsets; the first has a slot that is not done
	spent  int    // of runs, those that are done
	pool   *pool  // where runs come from, and go to

	known  []delivered    // by an earlier owner, of records that were not taken yet
	held   []*lease.Lease // those of slots that are held
	paused bool           // nothing is fetched: much is held
	moving int            // copies that are being written
	read   int64          // the offset after the last record that was fetched

	begun   bool // there was a commit, or a record
	leaving bool // nothing of it is delivered again
	gone    bool // given to somebody else

	changed bool          // since the commit was last made up
	commit  member.Offset // as it was last made up
	tight   bool          // it could not be: the map is too long
}

// restore makes a partition of what is committed of it. The error says why its metadata
// could not be read; the partition then begins at the committed offset.
func restore(id int32, committed member.Offset, c *coder, runs *pool) (*partition, error) {
	p := &partition{id: id, pool: runs, begun: committed.At >= 0, changed: true, read: committed.At}
	if !p.begun {
		p.window = window.New(0)
		return p, nil
	}
	progress, err := c.decode(committed.At, committed.Metadata)
	p.window, p.known = window.Restore(committed.At, progress.done), progress.delivered
	return p, err
}

// deleted notes that a log begins above the records that come next, and returns how many
// are missing: those that are not known to be done.
func (p *partition) deleted(r window.Range) int64 {
	p.known = slices.DeleteFunc(p.known, func(d delivered) bool { return d.offset >= r.From && d.offset < r.To })
	p.read = r.To
	return p.window.Unknown(r)
}

// cut forgets everything from an offset on: the log ended there, and goes on with other
// records. Copies of what was there that are being written are still waited for. The
// leases are the caller's business.
func (p *partition) cut(offset int64) {
	for _, r := range slices.Clone(p.runs) {
		for i := range r.slots {
			if s := &r.slots[i]; s.phase > void && s.lease.At.Offset >= offset {
				s.phase, r.void = void, true
				p.less(r)
			}
		}
	}
	p.known = slices.DeleteFunc(p.known, func(d delivered) bool { return d.offset >= offset })
	p.window.Cut(offset)
	p.read, p.changed = offset, true
}

// fits says whether the record at an offset may be taken: whether the map still fits
// into so many characters, whatever is done next and in whatever order. A record that is
// alone may: it is the committed offset then, and needs no map.
func (p *partition) fits(offset int64, limit int) bool {
	return p.window.Open() == 0 || p.fit(offset, 1, limit)
}

// fit says that n records up to an offset may be taken, one after the other: what fits
// together fits in part, since neither the span nor the number of groups is larger then.
// It may say no where each of them may be taken, alone or as others are done already.
func (p *partition) fit(offset int64, n, limit int) bool {
	w := p.window
	return worstFits(max(w.End(), offset+1)-w.Committable(), w.Open()+n+w.Ahead(), limit)
}

// newRun makes room for n records. It is kept, however few of them are open, until
// filled.
func (p *partition) newRun(n int) *run {
	r := p.pool.get(p, n)
	r.open = 1
	p.runs = append(p.runs, r)
	return r
}

func (p *partition) filled(r *run) { p.less(r) }

// fetched puts the lease of a record into its slot.
func (r *run) fetched(i int, l *lease.Lease) *slot {
	s := &r.slots[i]
	s.lease, s.phase = l, held
	s.refused, s.aside = 0, 0 // of the record that had the slot before
	if s.run == nil {
		s.run = r
	}
	l.Private = s
	r.open++
	return s
}

// take opens the record of a slot; false if it is done already. missing is how many
// records that an earlier owner had delivered were before it and are not in the log.
func (p *partition) take(s *slot) (taken bool, missing int) {
	offset := s.lease.At.Offset
	for len(p.known) > 0 && p.known[0].offset < offset {
		missing++
		p.known = p.known[1:]
	}
	if !p.window.Take(offset) {
		p.leave(s)
		return false, missing
	}
	p.begun, p.changed = true, true
	s.phase, s.base = live, int32(s.lease.Attempt)
	if len(p.known) > 0 && p.known[0].offset == offset {
		s.lease.Attempt += p.known[0].times
		p.known = p.known[1:]
	}
	return true, missing
}

// done closes the record of a slot.
func (p *partition) done(s *slot) {
	if p.window.Done(s.lease.At.Offset) {
		p.changed = true
		p.leave(s)
	}
}

// leave empties a slot, and drops runs that are empty: at the front at once, further on
// when they are the greater part.
func (p *partition) leave(s *slot) {
	s.phase, s.lease = done, nil
	if s.move != nil {
		s.move = nil
	}
	p.less(s.run)
}

func (p *partition) less(r *run) {
	if r.open--; r.open == 0 {
		p.spent++
		p.shrink()
	}
}

func (p *partition) shrink() {
	n := 0
	for n < len(p.runs) && p.runs[n].open == 0 {
		p.pool.put(p.runs[n])
		n++
	}
	clear(p.runs[:n])
	p.runs, p.spent = p.runs[n:], p.spent-n
	if p.spent*2 > len(p.runs) {
		p.runs = slices.DeleteFunc(p.runs, func(r *run) bool {
			if r.open > 0 {
				return false
			}
			p.pool.put(r)
			return true
		})
		p.spent = 0
	}
}

// progress is what a commit at the returned offset has to say; -1 where there is nothing
// to commit. Nobody tells the partition that a record is handed out, so while one is ready
// it counts as changed.
func (p *partition) progress() (int64, progress) {
	p.changed = false
	if !p.begun {
		return -1, progress{}
	}
	out := progress{done: p.window.Beyond()}
	for _, r := range p.runs {
		for i := range r.slots {
			s := &r.slots[i]
			if s.phase <= held {
				continue
			}
			if times := s.times(); times > 0 {
				out.delivered = append(out.delivered, delivered{s.lease.At.Offset, times})
			}
			p.changed = p.changed || s.phase == live && !s.lent()
		}
	}
	out.delivered = append(out.delivered, p.known...)
	return p.window.Committable(), out
}
