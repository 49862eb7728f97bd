package receive

import (
	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/measure/latency"
	"kafkabench.example/kafka-bench/internal/measure/ledger"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
	"kafkabench.example/kafka-bench/internal/plan/payload"
)

// worker is the application behind a consumer: it is handed records and works
// on them one after another.
type worker struct {
	axis     *load.Axis
	server   load.Server
	idle     bool // no record ever costs anything
	stamped  bool
	open     bool // open loop: intended times exist
	timed    int  // the producers below this number have times
	run      uint32
	offsets  load.Offsets
	recorder *latency.Recorder

	// handling is full while records are handed over and worked on; whoever
	// takes a partition away fills it too, and so waits for the work at hand.
	// It is a lock, but one that is held while time passes.
	handling chan struct{}
	// handed is what was last handed over and has no time of its processing yet,
	// until its work is done.
	handed []handed

	counts snapshot.Received // guarded by the recorder's lock
}

// handed is a record that was handed over, and when it was due on the worker's axis. Its
// producer's own axis says whether it is measured.
type handed struct {
	offset, intended int64
	measured         bool
}

// handle hands over those of the records whose turn has come (they were there
// from the given time on), waits until their work is done, and returns how many
// that were: at least one, or 0 if the assignment has ended. It is called again
// for the rest.
func (w *worker) handle(a *assignment, records []driver.Received, there int64) int {
	w.handling <- struct{}{}
	defer func() { <-w.handling }()
	if a.ended {
		return 0
	}
	now := w.axis.Now()
	n, work := len(records), int64(0)
	if !w.idle {
		n, work = w.server.Begin(len(records), there, now)
	}
	records = records[:n]
	if a.handed == 0 {
		a.from = records[0].Offset
	}
	a.handed = records[n-1].Offset + 1
	w.deliver(a, records, now, work)
	if !w.idle {
		if !w.server.Wait(a.cut) || !a.resumed() {
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

// abandon gives up the work at hand, which is then done by nobody, or by whoever is
// handed the records again. The server is free at once.
func (w *worker) abandon(a *assignment) {
	a.ended = true // nothing behind these may count as processed
	p := a.partition
	p.receiver.Lock()
	defer p.receiver.Unlock()
	w.recorder.Lock()
	defer w.recorder.Unlock()
	w.counts.WorkInWindow -= w.server.Abandon()
	for _, h := range w.handed {
		if p.unfinished == nil {
			p.unfinished = make(map[int64]struct{})
		}
		p.unfinished[h.offset] = struct{}{}
	}
}

// resumed waits while the member is paused. It returns false when the member is killed or
// the group stopped. One that leaves finishes its work first.
func (a *assignment) resumed() bool {
	if a.halt.Wait(a.alive) {
		return true
	}
	select {
	case <-a.cut:
		return false
	default:
		return true
	}
}

// deliver enters records that are handed over now into histograms and books.
func (w *worker) deliver(a *assignment, records []driver.Received, now, work int64) {
	p, bytes := a.partition, bytesOf(records)
	p.receiver.Lock()
	defer p.receiver.Unlock()
	w.recorder.Lock()
	defer w.recorder.Unlock()
	n, first := int64(len(records)), p.hand(records, now)
	if w.stamped {
		n, first = w.check(p, records, now)
	}
	w.axis.CountDeliveries(&w.counts, now, n, first, bytes)
	if now >= 0 {
		a.place.had(n, bytes, now)
	}
	if w.idle {
		w.counts.Processed += n
	}
	w.counts.WorkInWindow += work
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
	finding := p.receiver.Deliver(int(stamp.Producer), stamp.Sequence, measured)
	if finding == ledger.Stray { // from a producer that this run does not have
		return false, false
	}
	if shift, other := w.offsets.Of(stamp.Producer); other {
		stamp.Actual += shift
		stamp.Intended += shift
		w.counts.Crossed++
	}
	switch {
	case finding == ledger.Duplicate || p.again(int(stamp.Producer), stamp.Sequence):
		// A user has felt the first delivery; the second has no time of its own. But
		// what was lost in the midst of its work is processed only now.
		if _, lost := p.unfinished[r.Offset]; lost {
			delete(p.unfinished, r.Offset)
			w.handed = append(w.handed, handed{r.Offset, stamp.Intended, measured})
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
			w.handed = append(w.handed, handed{r.Offset, stamp.Intended, measured})
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
		w.recorder.Record(h.measured, latency.ProcessedResponseTime, now-h.intended)
	}
}
