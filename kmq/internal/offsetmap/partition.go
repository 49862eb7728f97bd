package offsetmap

import (
	"slices"

	"kafkabench.example/kafka-bench/kmq/internal/lease"
	"kafkabench.example/kafka-bench/kmq/internal/member"
	"kafkabench.example/kafka-bench/kmq/internal/window"
)

type phase uint8

const (
	done phase = iota // or never taken, since it was done before
	void              // the log was cut: the offset has another record, or none
	held              // fetched, but its metadata might not fit
	live
	waiting // for the deadline of its lease
	reading // it is due, and is read again
	moving
)

// slot is one fetched record; its lease changes with each delivery.
type slot struct {
	run   *run
	lease *lease.Lease
	move  *move
	base  int32 // first attempt from this offset
	phase phase
	aside uint8 // how often the cluster refused its dead letter for good
	marks uint8 // stuck and others
}

// A run is small, so that a record that is never done keeps little memory.
type run struct {
	of    *partition
	slots []slot
	open  int
	void  bool // copies and expired leases may still use void slots
}

const runSlots = 32

// A pool is bounded, because a fetch may bring thousands of records of one partition.
type pool struct {
	free []*run
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

// Only settled leases refer to slots of free runs, and a lease is checked before its slot is used.
func (q *pool) put(r *run) {
	if cap(r.slots) == runSlots && !r.void && len(q.free) < q.most {
		r.of = nil
		q.free = append(q.free, r)
	}
}

func (s *slot) times() int {
	n := s.lease.Attempt - int(s.base)
	if s.lent() || s.promised() {
		n++
	}
	return n
}

// promised reports whether the slot's delivery is to be durable before it is lent. In a partition that is being revoked,
// it is not lent any more.
func (s *slot) promised() bool { return s.marks&pledged != 0 && !s.run.of.leaving }

// While a record is moving, the deadline is an earlier delivery's.
func (s *slot) lent() bool { return s.phase != moving && s.lease.Limited() }

type partition struct {
	id     int32
	window *window.Window
	runs   []*run // in offset order; the first has an open slot
	spent  int
	pool   *pool

	suspicion

	epochs member.Epochs // leader epochs of what was read, and of what the commit says
	known  []delivered   // deliveries by an earlier owner, not taken yet
	held   []*lease.Lease
	paused bool
	moving int
	read   int64 // the offset after the last fetched record

	begun   bool // it has a commit, or a record was taken
	leaving bool
	gone    bool

	changed bool
	commit  member.Offset
	tight   bool // the map was too long
}

// restore returns a partition from its commit. If the metadata is unreadable, the partition begins
// at the committed offset, and the error says why.
func restore(id int32, committed member.Offset, c *coder, runs *pool) (*partition, error) {
	p := &partition{id: id, pool: runs, begun: committed.At >= 0, changed: true, read: committed.At}
	p.commit.At = -1
	if !p.begun {
		p.window = window.New(0)
		return p, nil
	}
	progress, err := c.decode(committed.At, committed.Metadata)
	p.window, p.known = window.Restore(committed.At, progress.done), progress.delivered
	p.epochs, p.suspect = progress.epochs, progress.open
	return p, err
}

// deleted returns how many records of r, which retention deleted, are not known to be done.
func (p *partition) deleted(r window.Range) int64 {
	p.known = slices.DeleteFunc(p.known, func(d delivered) bool { return d.offset >= r.From && d.offset < r.To })
	p.read = r.To
	return p.window.Unknown(r)
}

// cut forgets everything from an offset on, because the log has other records there.
func (p *partition) cut(offset int64) {
	for _, r := range slices.Clone(p.runs) {
		for i := range r.slots {
			if s := &r.slots[i]; s.phase > void && s.lease.At.Offset >= offset {
				if s.phase == moving && s.marks&dropped != 0 {
					p.moving-- // it is read first, and now never
				}
				s.phase, r.void = void, true
				p.less(r)
			}
		}
	}
	p.known = slices.DeleteFunc(p.known, func(d delivered) bool { return d.offset >= offset })
	p.window.Cut(offset)
	p.read, p.changed = min(p.read, offset), true
}

// fits reports whether a record may be taken: the map must fit after any later acknowledgements. A
// single open record always fits: its offset is the committed one.
func (p *partition) fits(offset int64, limit int) bool {
	return p.window.Open() == 0 || p.fit(offset, 1, limit)
}

// fit may return false although each of the n records could be taken alone or later.
func (p *partition) fit(offset int64, n, limit int) bool {
	w := p.window
	end := max(w.End(), offset+1)
	span, more := end-w.Committable(), worstEpochs(p.epochs, end)
	if p.suspect {
		more += worstCounts(w.Open()+n+len(p.known), span)
	}
	return worstFits(span, w.Open()+n+w.Ahead(), limit, more)
}

// newRun returns a run that is not dropped before filled is called.
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
	s.aside, s.marks = 0, 0 // from an earlier record in this slot
	if s.run == nil {
		s.run = r
	}
	l.Private = s
	r.open++
	return s
}

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
		if p.known[0].lent {
			s.marks |= wasLent
		}
		p.known = p.known[1:]
	}
	return true, missing
}

// pass moves the window to the end of what was fetched, unless records wait before it.
func (p *partition) pass() {
	if len(p.held) == 0 && p.read > p.window.Next() {
		p.window.Pass(p.read)
		p.begun, p.changed = true, true
	}
}

func (p *partition) done(s *slot) {
	if p.window.Done(s.lease.At.Offset) {
		p.changed = true
		p.leave(s)
	}
}

// leave drops empty runs: at the front at once, others when they are the majority.
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

// progress returns the committable offset, or -1, and the commit's progress. The partition does not
// see deliveries, so it counts as changed while a record is ready for delivery.
func (p *partition) progress() (int64, progress) {
	p.changed = false
	if !p.begun {
		return -1, progress{}
	}
	p.clear()
	out := progress{done: p.window.Beyond(), open: !p.leaving || p.suspect}
	for _, r := range p.runs {
		for i := range r.slots {
			s := &r.slots[i]
			if s.phase <= held {
				continue
			}
			if times := s.times(); times > 0 {
				out.delivered = append(out.delivered, delivered{s.lease.At.Offset, times, s.phase == live && s.lent() || s.promised()})
			}
			p.changed = p.changed || s.phase == live && !s.lent()
		}
	}
	out.delivered = append(out.delivered, p.known...)
	at := p.window.Committable()
	end := at
	if n := len(out.done); n > 0 {
		end = out.done[n-1].To
	}
	if n := len(out.delivered); n > 0 {
		end = max(end, out.delivered[n-1].offset+1)
	}
	out.epochs = p.epochs.Within(at, end)
	return at, out
}
