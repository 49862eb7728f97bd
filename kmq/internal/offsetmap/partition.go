package offsetmap

import (
	"slices"

	"kafkabench.example/kafka-bench/kmq/internal/lease"
	"kafkabench.example/kafka-bench/kmq/internal/member"
	"kafkabench.example/kafka-bench/kmq/internal/window"
)

type phase uint8

const (
	done    phase = iota // or never taken, since it was done before
	void                 // the log was cut: the offset now belongs to another record, or to none
	held                 // fetched and not taken, since its metadata might not fit
	live                 // ready, or delivered to the application
	waiting              // released, in its delay
	moving               // being copied to its partition or to the dead-letter topic
)

// slot is one fetched record. Its lease changes with each delivery; the slot stays.
type slot struct {
	run   *run
	lease *lease.Lease // nil when it is done
	move  *move        // while moving
	base  int32        // the attempt of the first delivery from this offset
	phase phase
	// Permanent refusals of its copies: to its partition, and as a dead letter.
	refused, aside uint8
}

// run is a small block of records fetched in order from one partition, so that a record that is
// never done keeps only little memory.
type run struct {
	of    *partition
	slots []slot
	open  int  // slots that are not done
	void  bool // some slots are void: copies and expired leases may still use them
}

const runSlots = 32

// pool keeps finished runs of full length for reuse by any partition of an engine. It keeps no more
// than the records in flight need: a fetch may bring thousands of records of one partition at a
// time.
type pool struct {
	free []*run // every slot is done
	most int
}

func newPool(inFlight int) *pool { return &pool{most: (inFlight + runSlots - 1) / runSlots} }

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

// put keeps a run that is done. Only settled leases still refer to its slots, and those are checked
// before their slots.
func (q *pool) put(r *run) {
	if cap(r.slots) == runSlots && !r.void && len(q.free) < q.most {
		r.of = nil // so that the partition can be freed
		q.free = append(q.free, r)
	}
}

// times returns how often the record was delivered from this offset, by earlier owners too. A
// delivery counts from its deadline, which is set when the record is delivered.
func (s *slot) times() int {
	n := s.lease.Attempt - int(s.base)
	if s.lent() {
		n++
	}
	return n
}

// lent reports whether it is locked; a lease in a move has the deadline of an earlier delivery.
func (s *slot) lent() bool { return s.phase != moving && !s.lease.Deadline().IsZero() }

// partition is an assigned partition, guarded by the engine's lock.
type partition struct {
	id     int32
	window *window.Window
	runs   []*run // in offset order; the first has an open slot
	spent  int    // number of runs without open slots
	pool   *pool  // source of runs

	known  []delivered    // deliveries by an earlier owner of records not taken yet
	held   []*lease.Lease // leases of held slots
	paused bool           // not fetched, because many records are held
	moving int            // copies being written
	read   int64          // offset after the last fetched record

	begun   bool // there was a commit or a record
	leaving bool // it delivers nothing again
	gone    bool // revoked

	changed bool          // since the last commit was built
	commit  member.Offset // the last commit built
	tight   bool          // no commit was built: the map is too long
}

// restore returns a partition from its commit. The error says why the metadata is unreadable; the
// partition then begins at the committed offset.
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

// deleted records that retention deleted a range, and returns how many records of it are not known
// to be done.
func (p *partition) deleted(r window.Range) int64 {
	p.known = slices.DeleteFunc(p.known, func(d delivered) bool { return d.offset >= r.From && d.offset < r.To })
	p.read = r.To
	return p.window.Unknown(r)
}

// cut forgets everything from an offset on, because the log was truncated there and has other
// records now. Flush still waits for copies being written. The caller ends the leases.
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

// fits reports whether the record at an offset may be taken: the map must fit the limit in
// characters for any later acknowledgements. A single open record always fits: it is the committed
// offset, and needs no map.
func (p *partition) fits(offset int64, limit int) bool {
	return p.window.Open() == 0 || p.fit(offset, 1, limit)
}

// fit reports whether n records up to an offset may be taken. Then each of them may, since the span
// and the number of groups only grow with the others. It may return false although each could be
// taken alone or later.
func (p *partition) fit(offset int64, n, limit int) bool {
	w := p.window
	return worstFits(max(w.End(), offset+1)-w.Committable(), w.Open()+n+w.Ahead(), limit)
}

// newRun adds a run for n records, which is kept until filled is called.
func (p *partition) newRun(n int) *run {
	r := p.pool.get(p, n)
	r.open = 1
	p.runs = append(p.runs, r)
	return r
}

func (p *partition) filled(r *run) { p.less(r) }

func (r *run) fetched(i int, l *lease.Lease) *slot {
	s := &r.slots[i]
	s.lease, s.phase = l, held
	s.refused, s.aside = 0, 0 // of the slot's earlier record
	if s.run == nil {
		s.run = r
	}
	l.Private = s
	r.open++
	return s
}

// take opens the record of a slot; it returns false if the record is done already. missing counts
// the earlier records that a former owner delivered and the log no longer has.
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

func (p *partition) done(s *slot) {
	if p.window.Done(s.lease.At.Offset) {
		p.changed = true
		p.leave(s)
	}
}

// leave empties a slot. Empty runs are dropped: at the front at once, others when they are the
// majority.
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

// progress returns the committable offset, or -1 if there is none, and the commit's progress. The
// partition does not see when a record is delivered, so it counts as changed while one is ready.
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
