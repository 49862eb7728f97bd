package send

import (
	"math"
	"slices"
	"sync/atomic"
	"time"

	"kafkabench.example/kafka-bench/backpressure"
	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/measure/latency"
	"kafkabench.example/kafka-bench/internal/measure/ledger"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
	"kafkabench.example/kafka-bench/internal/plan/payload"
)

// roundSize bounds how many records a worker prepares under its lock at once.
const roundSize = 256

// completeEvery bounds how long a completed record waits for its worker to enter it
// into the books while the worker has nothing else to do.
const completeEvery = 5 * time.Millisecond

// retryEvery is how often a worker that holds records back looks again whether
// they may go.
const retryEvery = time.Millisecond

// producer is one worker on the sending side. The fields above the lock belong
// to the worker's goroutine alone; those below are guarded by the recorder's
// lock, which the worker takes once per round.
type producer struct {
	id      int // among all workers of its kind
	number  int // in the stamps and the books
	fills   bool
	axis    *load.Axis
	clients []driver.Producer // at least one; see Config
	admission

	queue              // open loop
	share       *share // of the volume; nil: no bound
	until       int64  // when the share was spent
	maxDeferred int64
	nextIndex   int64 // closed loop: the index of the next record
	roundOf     int   // closed loop: records in a round; 0: there are no rounds
	ofRound     int   // how many records of this round are still to be sent
	workers     int
	chooser     chooser
	corpus      *payload.Corpus
	keys        *payload.Keys
	stamped     bool
	run         uint32
	recordBytes int // for the sticky chooser

	slots    *slots
	round    []*slot
	inFlight int
	// deferredPeak is the most that ever waited after a round.
	deferredPeak atomic.Int64
	abandon      <-chan struct{}

	recorder  *latency.Recorder
	books     *ledger.Sender
	timelines []timeline          // by partition; nil where nobody consumes
	acks      []load.GapWatch     // by partition
	counts    [2]snapshot.Sent    // by phase: warm-up, measured
	errors    [2]map[string]int64 // by phase and message
	// Of the acknowledged records of the measured window, when the first was sent and the
	// last was acknowledged.
	sentNs, ackedNs int64
}

func phaseOf(measured bool) int {
	if measured {
		return 1
	}
	return 0
}

// runOpen offers every record at its due time until the schedule ends, then
// stays until nothing waits and nothing is in flight, or until it is abandoned.
func (p *producer) runOpen(s sleeper) {
	defer s.close()
	p.endEmptyShare()
	for !p.abandoned() {
		now := p.axis.Now()
		p.complete()
		p.notice(now)
		p.send(now)
		if p.finished() {
			return
		}
		s.sleep(p.pause(p.axis.Now()))
	}
	p.notice(p.axis.Now()) // what came due and can't be sent any more is deferred
}

// endEmptyShare tells, before anything is due, when the first measured record of a worker would be
// due that has none to offer. Said only by then, the window could have ended before.
func (p *producer) endEmptyShare() {
	if p.share == nil || !p.share.empty() {
		return
	}
	first := p.due.Clone()
	for first.Due() < 0 {
		first.Advance()
	}
	p.until = first.Due()
	p.share.end(math.MinInt64, p.until)
}

// finished tells whether the schedule has ended and everything is completed.
func (p *producer) finished() bool {
	return p.due.Due() >= p.end() && p.waiting == 0 && p.inFlight == 0
}

// end is the time from which on the worker offers nothing.
func (p *producer) end() int64 { return min(p.axis.End(), p.until) }

// pause is how long the worker may sleep: until the next record is due, or less
// when something else wants its attention.
func (p *producer) pause(now int64) time.Duration {
	left := 100 * time.Millisecond // so that an early end is noticed
	if next := p.due.Due(); next < p.end() {
		left = min(left, time.Duration(next-now))
	}
	if p.waiting > 0 {
		left = min(left, retryEvery)
	}
	if p.inFlight > 0 {
		left = min(left, completeEvery)
	}
	return left
}

// notice moves the first cursor over everything that has come due and records
// how late the worker is in noticing: the pacer's own lateness.
func (p *producer) notice(now int64) {
	end := p.end()
	if p.due.Due() > now || p.due.Due() >= end {
		return
	}
	p.recorder.Lock()
	defer p.recorder.Unlock()
	for due := p.due.Due(); due <= now && due < end; due = p.due.Due() {
		measured := due >= 0
		p.recorder.Record(measured, latency.PacerLateness, now-due)
		p.counts[phaseOf(measured)].Scheduled++
		spent := p.share != nil && measured && p.share.take(p.corpus.ValueBytes(uint64(p.due.Index())))
		p.due.Advance()
		p.waiting++
		if spent {
			p.until = p.due.Due()
			p.share.end(due, p.until)
			return
		}
	}
}

// send sends what waits, as far as the client has room and the gate admits.
func (p *producer) send(now int64) {
	for p.waiting > 0 {
		room := min(p.waiting, int64(p.slots.available()), roundSize)
		granted := p.prepare(now, room)
		if granted > 0 {
			p.hand()
		}
		if granted < roundSize {
			break
		}
		p.complete()
	}
	if p.waiting > p.maxDeferred {
		p.drop(p.waiting - p.maxDeferred)
	}
	if p.waiting > p.deferredPeak.Load() {
		p.deferredPeak.Store(p.waiting)
	}
}

// drop sheds the n oldest records of the queue, which is too long: under overload
// the oldest is worth the least.
func (p *producer) drop(n int64) {
	p.recorder.Lock()
	defer p.recorder.Unlock()
	for range n {
		p.counts[phaseOf(p.take().due >= 0)].ShedByQueue++
	}
}

// prepare takes up to room records off the queue that the gate admits, gives each its
// place in the books, and returns how many they are. What is not admitted and not to
// wait is shed.
func (p *producer) prepare(now, room int64) (granted int64) {
	if p.partitioned != nil {
		return p.prepareEach(now, room)
	}
	if granted = p.admit(room); granted == 0 && (room == 0 || p.excess == backpressure.Defer) {
		return 0
	}
	p.recorder.Lock()
	defer p.recorder.Unlock()
	p.round = p.round[:0]
	for range granted {
		p.place(p.take(), now)
	}
	for goesOn := granted < room; goesOn && p.fresh() > 0; {
		goesOn = p.refuse()
	}
	return granted
}

// prepareEach is prepare where each partition has a gate of its own: the partition of
// a record is chosen first, and then that one's gate is asked. None passes one of its
// partition that is kept. A record that is not admitted and stays at the sending cursor
// holds up those behind it, though their partitions may have room: its partition is
// chosen and is not chosen again.
func (p *producer) prepareEach(now, room int64) (granted int64) {
	p.recorder.Lock()
	defer p.recorder.Unlock()
	p.round = p.round[:0]
	for _, lane := range p.kept.byAge() {
		for ; granted < room && lane.len() > 0 && p.admits(lane.head().partition); granted++ {
			p.place(p.takeKept(lane), now)
		}
	}
	for granted < room && p.fresh() > 0 {
		if p.chosen == unplaced {
			p.chosen = p.chooser.choose(now, p.keys.Key(uint64(p.sent.Index())), p.recordBytes)
		}
		if !p.kept.waits(p.chosen) && p.admits(p.chosen) {
			p.place(p.takeFresh(), now)
			granted++
		} else if !p.refuse() {
			break
		}
	}
	return granted
}

// refuse decides what becomes of the record at the sending cursor, which was not
// admitted, and tells whether the queue goes on behind it. Which records are kept
// follows from their numbers alone. The caller holds the recorder's lock.
func (p *producer) refuse() (goesOn bool) {
	c := &p.counts[phaseOf(p.sent.Due() >= 0)]
	switch {
	case p.excess == backpressure.Defer:
		return false
	case p.excess == backpressure.Shed:
		p.takeFresh()
		c.ShedByGate++
	case p.sent.Index()/int64(p.workers)%p.keep == 0: // one of so many of this worker's
		p.keepFresh()
	default:
		p.takeFresh()
		c.ShedByDegrade++
	}
	return true
}

// place gives a record that is admitted a slot and its place in the books. The caller
// holds the recorder's lock.
func (p *producer) place(r dueRecord, now int64) {
	s := p.slots.take()
	s.intended, s.index = r.due, r.index
	p.assign(s, r.partition, now)
}

// assign gives a record its key, sequence and, if it has none, a partition. The caller
// holds the recorder's lock.
func (p *producer) assign(s *slot, partition int32, now int64) {
	s.record.Key = p.keys.Key(uint64(s.index))
	if partition == unplaced {
		partition = p.chooser.choose(now, s.record.Key, p.recordBytes)
	}
	s.record.Partition, s.partition = partition, partition
	s.sequence = p.books.Next(partition, s.measured())
	if p.timelines != nil {
		p.timelines[partition].add(s.sequence, s.intended)
	}
	p.counts[phaseOf(s.measured())].Admitted++
	p.round = append(p.round, s)
	p.inFlight++
}

// handful is how many records of a closed loop are stamped at once and then
// given to the client: the memory of all of them is then on its way at the same
// time. Together they are some five microseconds of work, and the one reading of
// the clock comes before them: no send time is too late, no service time too short.
const handful = 16

// hand stamps the prepared records and gives them to the client, each by itself,
// its actual send time read just before the produce call. Only where there is no
// schedule to hold the time against, a handful shares one reading.
func (p *producer) hand() {
	size := 1
	if p.sent == nil {
		size = handful
	}
	for some := range slices.Chunk(p.round, size) {
		now := p.axis.Now()
		wall := p.axis.Wall(now)
		for _, s := range some {
			s.actual, s.record.Created = now, wall
			p.fill(s)
		}
		for _, s := range some {
			p.clients[int(s.partition)%len(p.clients)].Produce(&s.record)
		}
	}
}

// fill writes the record's bytes.
func (p *producer) fill(s *slot) {
	if p.stamped {
		stamp := payload.Stamp{
			Run: p.run, Producer: uint16(p.number), Partition: s.partition,
			Sequence: s.sequence, Intended: s.intended, Actual: s.actual,
		}
		s.record.Value = p.corpus.Value(s.record.Value[:0], uint64(s.index), &stamp)
	} else {
		s.record.Value = p.corpus.Value(s.record.Value[:0], uint64(s.index), nil)
	}
	s.bytes = int32(len(s.record.Key) + len(s.record.Value))
}

// onDone takes the report on a record, on the client's goroutine.
func (p *producer) onDone(d driver.Done) {
	p.slots.report(completion{tag: d.Tag, acked: p.axis.Now(), offset: d.Offset, err: d.Err, outcome: d.Outcome})
}

// complete enters everything that the client has reported into histograms and
// books.
func (p *producer) complete() {
	done := p.slots.takeDone()
	if len(done) == 0 {
		return
	}
	p.recorder.Lock()
	defer p.recorder.Unlock()
	p.inFlight -= len(done)
	for i := range done {
		p.completeOne(p.slots.landed(done[i].tag), &done[i])
	}
	if p.gated() {
		p.tell()
	}
}

func (p *producer) completeOne(f *flight, d *completion) {
	measured := f.measured()
	c := &p.counts[phaseOf(measured)]
	switch d.outcome {
	case driver.Acked:
		p.books.Acked(f.partition, f.sequence, d.offset)
		c.Acked++
		c.AckedBytes += int64(f.bytes)
		if measured {
			p.noteSpan(c.Acked == 1, f.actual, d.acked)
		}
		p.acks[f.partition].Acked(d.acked, f.intended)
		if p.axis.InWindow(d.acked) {
			c.AckedInWindow++
		}
	case driver.Failed:
		p.books.Failed(f.partition, f.sequence)
		c.Failed++
	case driver.Unknown:
		p.books.Unknown(f.partition, f.sequence)
		c.Unknown++
	}
	if p.gated() {
		p.note(f.partition, d)
	}
	if d.outcome != driver.Acked {
		p.acks[f.partition].Unacked(f.intended)
	}
	if d.err != nil {
		p.countError(measured, d.err)
	}
	p.recordTimes(measured, f, d.outcome == driver.Acked, d.acked)
}

// noteSpan widens the time in which the worker's records were sent and acknowledged.
func (p *producer) noteSpan(first bool, sentNs, ackedNs int64) {
	if first {
		p.sentNs, p.ackedNs = sentNs, ackedNs
		return
	}
	p.sentNs, p.ackedNs = min(p.sentNs, sentNs), max(p.ackedNs, ackedNs)
}

// recordTimes records a record's send times. Those of a record that was not
// acknowledged are times of their own: its user waited as long as the client took to
// give up, and had no success then.
func (p *producer) recordTimes(measured bool, f *flight, acked bool, at int64) {
	service, response := latency.SendServiceTime, latency.SendResponseTime
	if !acked {
		service, response = latency.UnackedServiceTime, latency.UnackedResponseTime
	}
	p.recorder.Record(measured, service, at-f.actual)
	if p.sent == nil { // closed loop: there is no intended time
		return
	}
	p.recorder.Record(measured, latency.SendDelay, f.actual-f.intended)
	p.recorder.Record(measured, response, at-f.intended)
}

// maxErrors bounds the distinct error messages that a worker keeps apart.
const maxErrors = 20

func (p *producer) countError(measured bool, err error) {
	errors, message := p.errors[phaseOf(measured)], err.Error()
	if _, known := errors[message]; !known && len(errors) >= maxErrors {
		message = "other errors"
	}
	errors[message]++
}

func (p *producer) abandoned() bool {
	select {
	case <-p.abandon:
		return true
	default:
		return false
	}
}
