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

// roundSize bounds how many records a worker prepares in one hold of its lock.
const roundSize = 256

// completeEvery bounds how long an idle worker leaves a completed record out of the books.
const completeEvery = 5 * time.Millisecond

// retryEvery is how often a worker with waiting records asks again whether it may send.
const retryEvery = time.Millisecond

// producer is one worker on the sending side. The recorder's lock, which the worker takes once a round, guards the
// queue and the fields from recorder on. Only the worker's goroutine uses the others.
type producer struct {
	id      int // among all workers of its kind
	number  int // in the stamps and the books
	fills   bool
	axis    *load.Axis
	clients []driver.Producer // at least one; see Config
	admission

	queue              // open loop
	share       *share // part of the volume; nil: no bound
	until       int64  // due time at which the share ends
	maxDeferred int64
	nextIndex   int64 // closed loop: index of the next record
	roundOf     int   // closed loop: records in a round; 0: no rounds
	ofRound     int   // records of this round that are still to be sent
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
	// deferredPeak is the most records that waited after a round.
	deferredPeak atomic.Int64
	abandon      <-chan struct{}

	recorder  *latency.Recorder
	books     *ledger.Sender
	timelines []timeline          // by partition; nil without consumers
	acks      []load.GapWatch     // by partition
	counts    [2]snapshot.Sent    // by phase: warm-up, measured
	errors    [2]map[string]int64 // by phase and message
	// sentNs is the first send and ackedNs the last ack among the acked records of the measured window.
	sentNs, ackedNs int64
}

func phaseOf(measured bool) int {
	if measured {
		return 1
	}
	return 0
}

// runOpen offers every record at its due time until the schedule ends. It returns when no record waits or is in
// flight, or when the run abandons it.
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
	p.notice(p.axis.Now()) // late records that cannot be sent are deferred
}

// endEmptyShare ends the share of a worker that has no record to offer, at the due time of its first measured record.
// It must run before any record is due: later, the window could have ended before that time.
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

func (p *producer) finished() bool {
	return p.due.Due() >= p.end() && p.waiting == 0 && p.inFlight == 0
}

func (p *producer) end() int64 { return min(p.axis.End(), p.until) }

// pause returns how long the worker may sleep.
func (p *producer) pause(now int64) time.Duration {
	left := 100 * time.Millisecond // to notice an early end
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

// notice moves the first cursor over all due records, and records the pacer's lateness for each.
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

func (p *producer) drop(n int64) {
	p.recorder.Lock()
	defer p.recorder.Unlock()
	for range n {
		p.counts[phaseOf(p.take().due >= 0)].ShedByQueue++
	}
}

// prepare takes up to room admitted records off the queue, enters them into the books, and returns their number. It
// sheds refused records that may not wait.
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

// prepareEach is prepare if each partition has its own gate: it chooses the partition, and then asks that gate. No
// record passes a kept one of its partition. A refused record that stays at the sending cursor keeps its partition,
// and delays the records behind it, even if their partitions have credits.
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

// refuse decides about the refused record at the sending cursor and reports whether the queue goes on behind it. Only
// record numbers decide which records are kept. The caller holds the recorder's lock.
func (p *producer) refuse() (goesOn bool) {
	c := &p.counts[phaseOf(p.sent.Due() >= 0)]
	switch {
	case p.excess == backpressure.Defer:
		return false
	case p.excess == backpressure.Shed:
		p.takeFresh()
		c.ShedByGate++
	case p.sent.Index()/int64(p.workers)%p.keep == 0: // one in keep of this worker's records
		p.keepFresh()
	default:
		p.takeFresh()
		c.ShedByDegrade++
	}
	return true
}

// place gives an admitted record its slot. The caller holds the recorder's lock.
func (p *producer) place(r dueRecord, now int64) {
	s := p.slots.take()
	s.intended, s.index = r.due, r.index
	p.assign(s, r.partition, now)
}

// assign gives a record its key, sequence and, if it has none, a partition. The caller holds the recorder's lock.
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

// handful is how many records of a closed loop share one reading of the clock (about 5 µs). So the processor fetches
// their memory together. The reading comes first, so no send time is too late.
const handful = 16

// hand stamps the prepared records and produces them. Each has its own send time, read just before its produce call;
// without a schedule, a handful shares one.
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

// onDone takes a completion on the client's goroutine. It only stamps and appends (promises-stamp-and-push).
func (p *producer) onDone(d driver.Done) {
	p.slots.report(completion{tag: d.Tag, acked: p.axis.Now(), offset: d.Offset, err: d.Err, outcome: d.Outcome})
}

// complete enters everything that the client has reported into histograms and books.
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

func (p *producer) noteSpan(first bool, sentNs, ackedNs int64) {
	if first {
		p.sentNs, p.ackedNs = sentNs, ackedNs
		return
	}
	p.sentNs, p.ackedNs = min(p.sentNs, sentNs), max(p.ackedNs, ackedNs)
}

// recordTimes records a record's send times. Records without an ack have metrics of their own.
func (p *producer) recordTimes(measured bool, f *flight, acked bool, at int64) {
	service, response := latency.SendServiceTime, latency.SendResponseTime
	if !acked {
		service, response = latency.UnackedServiceTime, latency.UnackedResponseTime
	}
	p.recorder.Record(measured, service, at-f.actual)
	if p.sent == nil { // closed loop: no intended time
		return
	}
	p.recorder.Record(measured, latency.SendDelay, f.actual-f.intended)
	p.recorder.Record(measured, response, at-f.intended)
}

// maxErrors bounds the distinct error messages of a worker; more count as "other errors".
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
