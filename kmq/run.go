package kmq

import (
	"context"
	"fmt"
	"hash/maphash"
	"sync"
	"time"

	"kafkabench.example/kafka-bench/kmq/internal/engine"
)

// Handler processes one record: nil acknowledges it, [Reject] gives it up, any other error
// releases it for another attempt after the [Backoff]. It may settle the delivery itself,
// and extend it; what it returns then does not matter.
//
// A panic releases the record too, ends the Run, and goes on in the goroutine that called
// it, as a [HandlerPanic].
type Handler func(ctx context.Context, d Delivery) error

// Order is which records may be processed at the same time.
type Order string

// The orders. They hold for first deliveries: a record that is delivered again comes
// behind the others. Share keeps none.
const (
	Unordered   Order = "none"      // any, more than there are partitions
	ByPartition Order = "partition" // one of each partition at a time, in the order of offsets
	ByKey       Order = "key"       // one of each key at a time, likewise; records without a key in any order
)

// RunOption changes how Run hands out records.
type RunOption func(*runOptions)

type runOptions struct{ order Order }

// InOrder has Run keep an order; without it there is none.
func InOrder(o Order) RunOption { return func(r *runOptions) { r.order = o } }

// MaxWorkers is the most that [Queue.Run] may be asked for.
const MaxWorkers = 100_000

// HandlerPanic is what [Queue.Run] panics with after a handler did.
type HandlerPanic struct {
	Value any    // what the handler panicked with; nil if it ended its goroutine
	Stack []byte // of the handler
}

// Error says what the panic was, and where.
func (p *HandlerPanic) Error() string {
	return fmt.Sprintf("kmq: a handler panicked: %v\n%s", p.Value, p.Stack)
}

// settleGrace is how long a handler's answer may take to be written once ctx has ended.
const settleGrace = 30 * time.Second

// Run hands records to so many workers, from 1 to [MaxWorkers], until ctx ends or the queue
// is closed or drained. It then starts no more handlers, waits for those that run, gives
// back what it had received and not begun, and returns: nil if the queue is closed or
// drained, ctx's error if that ended, and otherwise what makes going on pointless.
//
// The handlers' contexts end with ctx. What a handler then fails with, but for a [Reject],
// is no failure of its own: its record is given back, as is what was not begun, and comes
// again at once, or from the next process. With the engines Markers and OffsetMap neither
// counts as a delivery. What handlers answered is still written, for which a Run may take
// 30 s beyond the end of ctx where the cluster does not answer; what is not written by then
// comes again, and the error says so. [Queue.Drain] ends a Run gently: what was received is
// still processed, and the handlers' contexts go on.
//
// A worker has one record at a time, and none is received for which there is no worker, but
// those that an [Order] keeps waiting. They count against MaxInFlight: at the bound nothing
// is received until a record ahead of them is done. Their locks are renewed while they
// wait; one that runs out all the same (the cluster could not be reached) is not handled,
// and comes again.
//
// At the bound of [ErrDelayed] a worker keeps the record whose handler failed, and tries to
// release it every 50 ms until there is room, or the record's lock or the Run ends.
//
// The engine Plain can't release a record. There a record whose handler failed stays with
// its worker, and is tried again after the [Backoff], as an ordinary consumer would.
func (q *Queue) Run(ctx context.Context, workers int, handle Handler, options ...RunOption) error {
	o := runOptions{order: Unordered}
	for _, set := range options {
		set(&o)
	}
	if err := q.checkRun(workers, handle, o); err != nil {
		return err
	}
	r := newRun(ctx, q, workers, handle, o.order)
	err := r.dispatch(ctx)
	return r.end(ctx, err)
}

func (q *Queue) checkRun(workers int, handle Handler, o runOptions) error {
	f := new(mistakes)
	if workers < 1 || workers > MaxWorkers {
		f.add("Run is asked for %d workers: ask for 1 to %d", workers, MaxWorkers)
	}
	if handle == nil {
		f.add("Run has no handler")
	}
	switch o.order {
	case Unordered, ByPartition, ByKey:
	default:
		f.add("the order is %q: choose %s, %s or %s", o.order, Unordered, ByPartition, ByKey)
	}
	if err := f.err(); err != nil {
		return err
	}
	if q.kind == Share && o.order != Unordered {
		return fmt.Errorf("%w: the broker of a share group gives the records of one partition to several members, so that no order can be kept by %s: choose markers, offsetmap or plain", ErrUnsupported, o.order)
	}
	return nil
}

// run is one Run.
type run struct {
	q      *Queue
	handle Handler
	order  Order
	seed   maphash.Seed

	idle    chan struct{} // a token for each worker without a record
	work    chan job
	workers sync.WaitGroup

	// handling is the handlers' context; it ends when ctx does, or the run.
	handling context.Context
	halt     context.CancelCauseFunc
	// settling outlives handling by the settleGrace, for what handlers answered before.
	settling context.Context
	release  context.CancelFunc

	keeping sync.WaitGroup // the keeper
	kept    context.CancelFunc

	rejecting sync.WaitGroup // what is rejected later

	mu        sync.Mutex
	lines     map[uint64]*line // those that have a worker
	complaint *engine.Complaint
	err       error // what ended the run
	panic     *HandlerPanic
}

// job is a delivery for a worker.
type job struct {
	Delivery
	line *line // that it is ahead of; nil: of none
}

// line are the deliveries that wait until one ahead of them is done.
type line struct {
	name    uint64
	ahead   Delivery // that has the worker
	waiting []*waiter
}

func newRun(ctx context.Context, q *Queue, workers int, handle Handler, order Order) *run {
	r := &run{
		q: q, handle: handle, order: order, seed: maphash.MakeSeed(),
		idle: make(chan struct{}, workers), work: make(chan job, workers),
		lines: make(map[uint64]*line), complaint: engine.NewComplaint(q.log),
	}
	r.handling, r.halt = context.WithCancelCause(ctx)
	r.settling, r.release = context.WithCancel(context.WithoutCancel(ctx))
	context.AfterFunc(r.handling, func() { time.AfterFunc(settleGrace, r.release) })
	for range workers {
		r.idle <- struct{}{}
		r.workers.Go(r.worker)
	}
	r.keep()
	return r
}

// dispatch receives for the workers that are idle, until there is nothing to be had.
func (r *run) dispatch(ctx context.Context) error {
	for {
		select {
		case <-r.idle:
		case <-r.handling.Done():
			return r.handling.Err()
		}
		free := 1 + r.moreIdle()
		ds, err := r.q.Receive(r.handling, free)
		for _, d := range ds {
			if r.start(d) {
				free--
			}
		}
		for range free {
			r.idle <- struct{}{}
		}
		if err != nil {
			return err
		}
	}
}

// most of one Receive: enough that its cost does not show.
const mostAtOnce = 500

// moreIdle takes the tokens of further workers.
func (r *run) moreIdle() (n int) {
	for n < mostAtOnce-1 {
		select {
		case <-r.idle:
			n++
		default:
			return n
		}
	}
	return n
}

// start gives a delivery to a worker, or has it wait in line; false if it waits.
func (r *run) start(d Delivery) bool {
	l, ahead := r.join(d)
	if ahead {
		r.work <- job{Delivery: d, line: l} // there is room: a token was taken for it
	}
	return ahead
}

// join has a delivery stand in its line, nil where it stands in none, and says whether
// nothing is before it. That is asked once, before a handler has the record: what it
// makes of the key and the partition is its own business.
func (r *run) join(d Delivery) (l *line, ahead bool) {
	name, ordered := r.line(d)
	if !ordered {
		return nil, true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if l = r.lines[name]; l != nil {
		l.waiting = append(l.waiting, &waiter{Delivery: d})
		return l, false
	}
	l = &line{name: name, ahead: d}
	r.lines[name] = l
	return l, true
}

// line names what a delivery must not overtake; false if that is nothing. Two keys with
// the same hash only wait for each other without need.
func (r *run) line(d Delivery) (uint64, bool) {
	switch {
	case r.order == ByPartition:
		return uint64(d.lease.At.Partition), true
	case r.order == ByKey && d.Record.Key != nil:
		return maphash.Bytes(r.seed, d.Record.Key), true
	}
	return 0, false
}

// next takes the delivery that waits behind a job; false, and no line any more, if none does.
func (r *run) next(j job) (job, bool) {
	if j.line == nil {
		return job{}, false
	}
	w := r.pop(j.line)
	if w == nil {
		return job{}, false
	}
	if w.renewing != nil {
		<-w.renewing // what the handler does with the lock comes after it
	}
	return job{Delivery: w.Delivery, line: j.line}, true
}

// pop takes the first that waits in a line; nil, and no line any more, if none does.
func (r *run) pop(l *line) *waiter {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(l.waiting) == 0 {
		delete(r.lines, l.name)
		return nil
	}
	next := l.waiting[0]
	next.begun, l.ahead = true, next.Delivery
	l.waiting[0] = nil
	l.waiting = l.waiting[1:]
	return next
}

// worker processes deliveries, one after the other, and the line behind each.
func (r *run) worker() {
	for j := range r.work {
		for more := true; more; j, more = r.next(j) {
			r.process(j.Delivery)
		}
		r.idle <- struct{}{}
	}
}

// end waits for the handlers and says how the run ended.
func (r *run) end(ctx context.Context, err error) error {
	close(r.work)
	r.workers.Wait()
	if r.q.stopping.Err() == nil {
		r.halt(err) // nobody drains the queue, and waits for what is rejected later
	}
	r.rejecting.Wait()
	r.kept()
	r.keeping.Wait()
	r.release()
	r.halt(nil)
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.panic != nil:
		panic(r.panic)
	case r.err != nil:
		return r.err
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil && r.q.stopping.Err() != nil:
		return nil
	}
	return err
}
