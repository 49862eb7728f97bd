package load

import (
	"math/rand/v2"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/measure/latency"
	"kafkabench.example/kafka-bench/internal/measure/ledger"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
	"kafkabench.example/kafka-bench/internal/plan/payload"
)

// countDeliveries counts records that are handed over now, the first of them for the first time.
func countDeliveries(r *snapshot.Received, axis *Axis, now, records, first int64) {
	r.Delivered += records
	r.Unique += first
	switch {
	case axis.InWindow(now):
		r.DeliveredInWindow += records
		r.UniqueInWindow += first
	case now >= axis.End():
		r.UniqueAfter += first
	}
}

// worker is the application behind a consumer: it is handed records and works
// on them one after another.
//
// The work is a server in the sense of queueing theory, whose completion times
// are arithmetic: a record's work begins when the record is there and the one
// before it is done, and takes as long as was drawn. A sleep that ends late by a
// timer's millisecond makes one observation late, but not the work of the
// records behind it, so the capacity of a consumer is workers ÷ mean work, as
// the scenario says, and not what the timers leave of it.
type worker struct {
	axis     *Axis
	plan     Plan
	idle     bool // no record ever costs anything
	stamped  bool
	open     bool // open loop: intended times exist
	timed    int  // the producers below this number have times
	sized    bool // bytes are counted
	run      uint32
	rng      *rand.Rand
	recorder *latency.Recorder

	// handling is full while records are handed over and worked on; whoever
	// takes a partition away fills it too, and so waits for the work at hand.
	// It is a lock, but one that is held while time passes.
	handling chan struct{}
	freeAt   int64 // when the server is done with what it was handed
	// handed is what was last handed over and has no time of its processing yet,
	// until its work is done.
	handed  []handed
	stopped <-chan struct{} // closed when the group is stopped

	counts snapshot.Received // guarded by the recorder's lock
}

// handed is a record that was handed over, and when it was due.
type handed struct{ offset, intended int64 }

// handle hands over those of the records whose turn has come (they were there
// from the given time on), waits until their work is done, and returns how many
// that were: at least one, or 0 if the assignment has ended. It is called again
// for the rest.
func (w *worker) handle(a *assignment, records []driver.Received, there int64) int {
	p := a.partition
	w.handling <- struct{}{}
	defer func() { <-w.handling }()
	if a.ended {
		return 0
	}
	now := w.axis.Now()
	n, work := len(records), int64(0)
	if !w.idle {
		n, work = w.schedule(len(records), there, now)
	}
	records = records[:n]
	if a.handed == 0 {
		a.from = records[0].Offset
	}
	a.handed = records[n-1].Offset + 1
	w.deliver(p, records, now, work)
	if !w.idle {
		if !w.sleepUntil(w.freeAt, a.cut) || !w.resumed(a) {
			w.abandon(a)
			return 0
		}
		w.finish(n)
	}
	a.processed.Store(records[n-1].Offset + 1)
	return n
}

// pass notes that an assignment has come to an offset, because what lies before it
// was processed or is no record. A commit then covers the control records too, so
// that a group that has read everything has no lag.
func (w *worker) pass(a *assignment, next int64) {
	w.handling <- struct{}{}
	defer func() { <-w.handling }()
	if a.ended {
		return
	}
	a.partition.passed(next)
	a.processed.Store(next)
}

// schedule lets the server begin with every record whose turn has come by now,
// at least one and at most n, and returns how many those are and their work.
func (w *worker) schedule(n int, there, now int64) (begun int, work int64) {
	current := w.plan.at(now)
	w.freeAt = max(w.freeAt, there)
	for begun < n && (begun == 0 || w.freeAt <= now) {
		drawn := current.draw(w.rng)
		w.freeAt += drawn
		work += w.axis.overlap(w.freeAt-drawn, w.freeAt)
		begun++
	}
	return begun, work
}

// abandon gives up the work at hand, which is then done by nobody, or by whoever is
// handed the records again. The server is free at once.
func (w *worker) abandon(a *assignment) {
	a.ended = true // nothing behind these may count as processed
	p, now := a.partition, w.axis.Now()
	p.receiver.Lock()
	defer p.receiver.Unlock()
	w.recorder.Lock()
	defer w.recorder.Unlock()
	w.counts.WorkInWindow -= w.axis.overlap(min(now, w.freeAt), w.freeAt)
	w.freeAt = min(now, w.freeAt)
	for _, h := range w.handed {
		if p.unfinished == nil {
			p.unfinished = make(map[int64]struct{})
		}
		p.unfinished[h.offset] = struct{}{}
	}
}

// sleepUntil waits; it returns false when the group is stopped before, or the
// member cut off.
func (w *worker) sleepUntil(at int64, cut <-chan struct{}) bool {
	left := at - w.axis.Now()
	if left <= 0 {
		return true
	}
	timer := time.NewTimer(time.Duration(left))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-w.stopped:
		return false
	case <-cut:
		return false
	}
}

// resumed waits while the member is paused; it returns false when the group is
// stopped before, or the member cut off. One that leaves finishes its work first.
func (w *worker) resumed(a *assignment) bool {
	if a.halt.wait(a.alive) {
		return true
	}
	select {
	case <-w.stopped:
		return false
	case <-a.cut:
		return false
	default:
		return true
	}
}

// deliver enters records that are handed over now into histograms and books.
func (w *worker) deliver(p *partition, records []driver.Received, now, work int64) {
	p.receiver.Lock()
	defer p.receiver.Unlock()
	w.recorder.Lock()
	defer w.recorder.Unlock()
	n, first := int64(len(records)), p.hand(records, now)
	if w.stamped {
		n, first = w.check(p, records, now)
	}
	countDeliveries(&w.counts, w.axis, now, n, first)
	if w.idle {
		w.counts.Processed += n
	}
	w.counts.WorkInWindow += work
	if w.sized && w.axis.InWindow(now) {
		w.counts.Bytes += bytesOf(records)
	}
}

// bytesOf is the size of all keys and values.
func bytesOf(records []driver.Received) (sum int64) {
	for i := range records {
		sum += int64(len(records[i].Key) + len(records[i].Value))
	}
	return sum
}

// check reads the stamps of records that are handed over now and returns how
// many of them are intact records of this run, and how many arrive for the first time.
func (w *worker) check(p *partition, records []driver.Received, now int64) (ours, first int64) {
	w.handed = w.handed[:0]
	for i := range records {
		switch intact, fresh := w.checkOne(p, &records[i], now); {
		case fresh:
			first++
			fallthrough
		case intact:
			ours++
		}
	}
	return ours, first
}

func (w *worker) checkOne(p *partition, r *driver.Received, now int64) (ours, first bool) {
	stamp, check := payload.ReadStamp(r.Value)
	switch {
	case check == payload.Foreign || check == payload.Intact && stamp.Run != w.run:
		p.receiver.Foreign()
		return false, false
	case check == payload.Corrupt || stamp.Partition != p.id:
		p.receiver.Corrupt()
		return false, false
	}
	measured := stamp.Intended >= 0
	switch finding := p.receiver.Deliver(int(stamp.Producer), stamp.Sequence, measured); {
	case finding == ledger.Stray: // from a producer that this run does not have
		return false, false
	case finding == ledger.Duplicate || p.again(int(stamp.Producer), stamp.Sequence):
		// A user has felt the first delivery; the second has no time of its own. But
		// what was lost in the midst of its work is processed only now.
		if _, lost := p.unfinished[r.Offset]; lost {
			delete(p.unfinished, r.Offset)
			w.handed = append(w.handed, handed{r.Offset, stamp.Intended})
		}
		return true, false
	}
	if int(stamp.Producer) >= w.timed {
		return true, true
	}
	w.recorder.Record(measured, latency.E2EServiceTime, now-stamp.Actual)
	w.counts.Timed++
	w.counts.ServiceNs += now - stamp.Actual
	if w.open {
		w.recorder.Record(measured, latency.E2EResponseTime, now-stamp.Intended)
		if !w.idle {
			w.handed = append(w.handed, handed{r.Offset, stamp.Intended})
		}
	}
	return true, true
}

// finish records that the work on the n records last handed over is done, which
// has a time only when it is for the first time.
func (w *worker) finish(n int) {
	now := w.axis.Now()
	w.recorder.Lock()
	defer w.recorder.Unlock()
	w.counts.Processed += int64(n)
	for _, h := range w.handed {
		w.recorder.Record(h.intended >= 0, latency.ProcessedResponseTime, now-h.intended)
	}
}
