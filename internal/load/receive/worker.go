package receive

import (
	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/measure/latency"
	"kafkabench.example/kafka-bench/internal/measure/ledger"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
	"kafkabench.example/kafka-bench/internal/plan/payload"
)

type worker struct {
	axis     *load.Axis
	server   load.Server
	idle     bool
	stamped  bool
	open     bool
	timed    int
	run      uint32
	offsets  load.Offsets
	recorder *latency.Recorder

	// handling is full while records are delivered and processed, and while an assignment is marked
	// as ended.
	handling chan struct{}
	handed   []handed

	counts snapshot.Received // with the recorder's lock
}

// intended is a time on the worker's axis; measured was decided on the producer's axis.
type handed struct {
	offset, intended int64
	measured         bool
}

// handle delivers the records whose work can begin by now, and waits for the work. The records
// arrived at the time there. handle returns the number of delivered records, at least 1, or 0 if
// the assignment has ended.
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

// pass raises the processed offset past control records, so that a group at the end has no lag.
func (w *worker) pass(a *assignment, next int64) {
	w.handling <- struct{}{}
	defer func() { <-w.handling }()
	if a.ended {
		return
	}
	a.partition.passed(next)
	a.processed.Store(next)
}

// abandon gives up the current work, which the partition's next owner may do again.
func (w *worker) abandon(a *assignment) {
	a.ended = true
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

// resumed waits while the member is paused; false if it is killed or the group stopped. A leaving member finishes
// its work first.
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

func bytesOf(records []driver.Received) (sum int64) {
	for i := range records {
		sum += int64(len(records[i].Key) + len(records[i].Value))
	}
	return sum
}

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
	stamp, check := payload.ReadRecord(r.Stamp, r.Value)
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
	if finding == ledger.Duplicate || p.again(int(stamp.Producer), stamp.Sequence) {
		// Only a record's first delivery has times (no-time-for-duplicates). But if the work of
		// that delivery was lost, the record is processed now, and the processed time is recorded.
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

func (w *worker) finish(n int) {
	now := w.axis.Now()
	w.recorder.Lock()
	defer w.recorder.Unlock()
	w.counts.Processed += int64(n)
	for _, h := range w.handed {
		w.recorder.Record(h.measured, latency.ProcessedResponseTime, now-h.intended)
	}
}
