package arrival

// stream is a cursor on the records index, index+workers, ... of a profile.
//
// In a piece of constant rate, the next due time is the current one plus whole ns and a remainder, as in
// Bresenham's line: exact, without a division.
type stream struct {
	dueNs   int64
	endNs   int64
	stepNs  int64  // whole ns between records
	stepRem uint64 // its remainder, in 1/rate ns
	rem     uint64 // remainder of the current due time, in 1/rate ns
	rate    uint64 // credits per ns
	index   int64
	workers int64

	ramp    bool
	due     credits // of a ramp: earned up to the current record
	cost    uint64
	startNs int64
	at      int // current piece; len(profile.pieces): no more records
	profile *profile
}

func (p *profile) Stripe(worker, workers int) Stream {
	s := &stream{profile: p, index: int64(worker), workers: int64(workers), startNs: p.startNs}
	if worker < 0 || worker >= workers || workers > MaxWorkers {
		s.finish()
		return s
	}
	s.cost = p.recordCost * uint64(workers)
	s.settle(p.recordCost * uint64(worker))
	return s
}

func (s *stream) Index() int64 { return s.index }

func (s *stream) Due() int64 { return s.dueNs }

func (s *stream) Clone() Stream {
	clone := *s
	return &clone
}

func (s *stream) Advance() {
	s.index += s.workers
	if s.ramp {
		s.climb()
		return
	}
	s.dueNs += s.stepNs
	s.rem += s.stepRem
	if s.rem >= s.rate {
		s.rem -= s.rate
		s.dueNs++
	}
	if s.dueNs >= s.endNs {
		s.leave()
	}
}

func (s *stream) climb() {
	p := &s.profile.pieces[s.at]
	s.due = s.due.add(credits{lo: s.cost})
	if s.due.less(p.credit) {
		s.dueNs = s.startNs + p.passes(s.due)
		return
	}
	s.next(s.due.sub(p.credit).lo)
}

func (s *stream) leave() {
	if s.at == len(s.profile.pieces) {
		s.finish()
		return
	}
	// The previous record was in the piece, so the difference is below one step's cost, and correct
	// despite overflow.
	earned := uint64(s.dueNs-s.startNs)*s.rate + s.rem
	s.next(earned - s.profile.pieces[s.at].credit.lo)
}

// next moves to the record that is due credits after the next piece's start.
func (s *stream) next(credits uint64) {
	s.startNs += s.profile.pieces[s.at].length
	s.at++
	s.settle(credits)
}

// settle moves to the record that is due left credits after the current piece's start, perhaps in a
// later piece.
func (s *stream) settle(left uint64) {
	p := s.profile
	for {
		if s.at == len(p.pieces) {
			if p.cycle == 0 {
				s.finish()
				return
			}
			s.at -= p.cycle
			left = s.skipCycles(left)
		}
		if s.startNs >= horizonNs {
			s.finish()
			return
		}
		q := &p.pieces[s.at]
		if (credits{lo: left}).less(q.credit) {
			s.enter(q, left)
			return
		}
		left -= q.credit.lo
		s.startNs += q.length
		s.at++
	}
}

func (s *stream) skipCycles(left uint64) uint64 {
	p := s.profile
	if p.cycleCredit.hi > 0 {
		return left
	}
	cycles := left / p.cycleCredit.lo
	if cycles > uint64(horizonNs/p.cycleLength) {
		s.startNs = horizonNs
		return 0
	}
	s.startNs += int64(cycles) * p.cycleLength
	return left % p.cycleCredit.lo
}

func (s *stream) enter(q *piece, left uint64) {
	s.ramp = q.from != q.to
	if s.ramp {
		s.due = credits{lo: left}
		s.dueNs = s.startNs + q.passes(s.due)
		return
	}
	s.rate = q.from
	s.endNs = s.startNs + q.length
	s.stepNs, s.stepRem = int64(s.cost/s.rate), s.cost%s.rate
	s.dueNs, s.rem = s.startNs+int64(left/s.rate), left%s.rate
}

func (s *stream) finish() {
	s.at = len(s.profile.pieces)
	s.ramp, s.rate, s.stepNs, s.stepRem, s.rem = false, 1, 0, 0, 0
	s.dueNs, s.endNs = Never, Never
}
