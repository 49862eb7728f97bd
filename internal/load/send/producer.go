package send

import (
	"math"
	"slices"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/measure/latency"
	"kafkabench.example/kafka-bench/internal/measure/ledger"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
	"kafkabench.example/kafka-bench/internal/plan/payload"
)

// roundSize bounds the records that a worker prepares in one hold of its lock.
const roundSize = 256

// completeEvery bounds how long a completed record of an idle worker stays out of the books.
const completeEvery = 5 * time.Millisecond

// retryEvery is how often waiting records ask for admission again.
const retryEvery = time.Millisecond

// The recorder's lock, taken once a round, guards the queue and the fields from recorder on; only the worker's
// goroutine uses the others.
type producer struct {
	id      int
	number  int
	fills   bool
	axis    *load.Axis
	clients []driver.Producer
	admission

	queue
	share       *share // nil: no bound
	until       int64  // due time at which the share ends
	maxDeferred int64
	nextIndex   int64
	roundOf     int // records in a closed loop's round; 0: no rounds
	ofRound     int
	pace        pace
	workers     int
	chooser     chooser
	corpus      *payload.Corpus
	keys        *payload.Keys
	stamped     bool
	header      bool
	run         uint32
	recordBytes int

	source *source
	head   *head
	told   int64 // records that the source counts as waiting

	slots    *slots
	round    []*slot
	inFlight int
	abandon  <-chan struct{}

	recorder  *latency.Recorder
	books     *ledger.Sender
	timelines []timeline // by partition; nil without consumers
	acks      []load.GapWatch
	counts    [2]snapshot.Sent
	errors    [2]map[string]int64
	errorText string // the last error, and its kind
	errorKind string
	// sentNs is the first send and ackedNs the last ack among the acked records of the measured window.
	sentNs, ackedNs int64
}

func phaseOf(measured bool) int {
	if measured {
		return 1
	}
	return 0
}

// runOpen offers every record at its due time. It returns when no record waits or is in flight, or
// when the run abandons the worker.
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
	p.notice(p.axis.Now()) // defer late records that cannot be sent
}

// endEmptyShare ends the share of a worker without records, before any record is due: later, the window could
// already have ended.
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

func (p *producer) pause(now int64) time.Duration {
	left := 100 * time.Millisecond
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
	p.tellSource()
}

func (p *producer) tellSource() {
	if p.gate == nil {
		return
	}
	p.source.add(p.waiting - p.told)
	p.told = p.waiting
	if !p.ordered() {
		return
	}
	first := int64(nobody)
	if p.waiting > 0 && p.slots.available() > 0 { // a full buffer of one worker holds back no other
		first = p.oldestDue()
	}
	if first != p.head.due.Load() {
		p.head.due.Store(first)
	}
}

func (p *producer) drop(n int64) {
	p.recorder.Lock()
	defer p.recorder.Unlock()
	for range n {
		p.counts[phaseOf(p.take().due >= 0)].ShedByQueue++
	}
}

// prepare fills a round with the records that the gate admits. Refused records wait if the excess
// is Defer; otherwise prepare sheds or keeps them (refuse).
func (p *producer) prepare(now, room int64) (granted int64) {
	switch {
	case room == 0:
		return 0
	case p.ordered():
		room = p.inTurn(now, room)
	}
	if granted = p.admit(room); granted == 0 && (room == 0 || p.excess == Defer) {
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

// ordered reports whether the worker's records wait in turn with those of the other workers.
func (p *producer) ordered() bool { return p.gate != nil && p.excess == Defer }

// inTurn returns how many of the waiting records may ask the gate: not those that are much younger
// than what waits elsewhere.
func (p *producer) inTurn(now, room int64) (n int64) {
	turn := p.source.turn(now)
	if turn == nobody {
		return room
	}
	for next := p.sent.Clone(); n < room && next.Due() <= turn; n++ {
		next.Advance()
	}
	return n
}

// refuse reports whether the worker may go on with the records behind the refused one. The caller
// holds the recorder's lock.
func (p *producer) refuse() (goesOn bool) {
	c := &p.counts[phaseOf(p.sent.Due() >= 0)]
	switch {
	case p.excess == Defer:
		return false
	case p.excess == Shed:
		p.takeFresh()
		c.ShedByGate++
	case p.sent.Index()/int64(p.workers)%p.keep == 0:
		p.keepFresh()
	default:
		p.takeFresh()
		c.ShedByDegrade++
	}
	return true
}

// place requires the recorder's lock.
func (p *producer) place(r dueRecord, now int64) {
	s := p.slots.take()
	s.intended, s.index = r.due, r.index
	p.assign(s, now)
}

// assign requires the recorder's lock.
func (p *producer) assign(s *slot, now int64) {
	s.record.Key = p.keys.Key(uint64(s.index))
	partition := p.chooser.choose(now, s.record.Key, p.recordBytes)
	s.record.Partition, s.partition = partition, partition
	s.sequence = p.books.Next(partition, s.measured())
	if p.timelines != nil {
		p.timelines[partition].add(s.sequence, s.intended)
	}
	p.counts[phaseOf(s.measured())].Admitted++
	p.round = append(p.round, s)
	p.inFlight++
}

// handful is how many records of a closed loop share one reading of the clock, so that the
// processor fetches their memory together. A handful takes about 5 µs. The reading comes first, so
// no send time is too late.
const handful = 16

// hand produces the prepared records, each with a send time read just before its call; without a schedule, a
// handful shares one.
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
		if p.header {
			p.putHeader(s, &stamp)
		}
	} else {
		s.record.Value = p.corpus.Value(s.record.Value[:0], uint64(s.index), nil)
	}
	s.bytes = int32(len(s.record.Key) + len(s.record.Value))
}

func (p *producer) putHeader(s *slot, stamp *payload.Stamp) {
	if s.record.Stamp == nil {
		s.record.Stamp = new(payload.Header)
	}
	p.corpus.PutHeader(s.record.Stamp, uint64(s.index), stamp)
}

func (p *producer) onDone(d driver.Done) {
	p.slots.report(completion{tag: d.Tag, acked: p.axis.Now(), offset: d.Offset, err: d.Err, outcome: d.Outcome})
}

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
	if p.gate != nil {
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
	if p.gate != nil {
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

func (p *producer) recordTimes(measured bool, f *flight, acked bool, at int64) {
	service, response := latency.SendServiceTime, latency.SendResponseTime
	if !acked {
		service, response = latency.UnackedServiceTime, latency.UnackedResponseTime
	}
	p.recorder.Record(measured, service, at-f.actual)
	if p.sent == nil {
		return
	}
	p.recorder.Record(measured, latency.SendDelay, f.actual-f.intended)
	p.recorder.Record(measured, response, at-f.intended)
}

// maxErrors bounds a worker's kinds of errors; more count as "other errors".
const maxErrors = 20

// The records of a batch fail one after another with the same text.
func (p *producer) countError(measured bool, err error) {
	if text := err.Error(); text != p.errorText {
		p.errorText, p.errorKind = text, errorKind(text)
	}
	errors, kind := p.errors[phaseOf(measured)], p.errorKind
	if _, known := errors[kind]; !known && len(errors) >= maxErrors {
		kind = "other errors"
	}
	errors[kind]++
}

func (p *producer) abandoned() bool {
	select {
	case <-p.abandon:
		return true
	default:
		return false
	}
}
