package kmq

import (
	"context"
	"fmt"
	"hash/maphash"
	"sync"
	"time"

	"kafkabench.example/kafka-bench/kmq/internal/engine"
)

// Handler processes one record. Nil acknowledges it, [Reject] gives it up, and any other error
// releases it for another attempt after the [Backoff]. A handler may settle or extend the delivery
// itself; after it settled, its result is ignored.
//
// A panic releases the record and ends the Run, which then panics with a [HandlerPanic].
type Handler func(ctx context.Context, d Delivery) error

// Order says which records may be processed at the same time.
type Order string

// The orders. They apply to first deliveries; redelivered records follow later ones. Share supports
// only Unordered.
const (
	Unordered   Order = "none"      // any records; workers may outnumber partitions
	ByPartition Order = "partition" // one record of each partition at a time, in offset order
	ByKey       Order = "key"       // one record of each key at a time, in offset order; records without a key in any order
)

// RunOption changes how Run delivers records.
type RunOption func(*runOptions)

type runOptions struct{ order Order }

// InOrder makes Run keep an order; the default is Unordered.
func InOrder(o Order) RunOption { return func(r *runOptions) { r.order = o } }

// MaxWorkers is the largest number of workers for [Queue.Run].
const MaxWorkers = 100_000

// HandlerPanic is the value with which [Queue.Run] panics after a handler panicked.
type HandlerPanic struct {
	Value any    // the handler's panic value; nil if it called runtime.Goexit
	Stack []byte // the handler's stack
}

// Error returns the panic value and the stack.
func (p *HandlerPanic) Error() string {
	return fmt.Sprintf("kmq: a handler panicked: %v\n%s", p.Value, p.Stack)
}

// settleGrace is the time to write handlers' results after ctx has ended.
const settleGrace = 30 * time.Second

// Run delivers records to 1 to [MaxWorkers] workers until ctx ends or the queue is closed or
// drained. It then starts no more handlers, waits for running ones, and gives back received records
// that no handler began. It returns nil if the queue is closed or drained, ctx's error if ctx
// ended, and otherwise the error that stopped it.
//
// The handlers' contexts end with ctx. A record whose handler then fails, except with a [Reject],
// is given back like one that no handler began. It is delivered again at once, here or by another
// process. With Markers and OffsetMap neither counts as a delivery. Run still writes the results of
// handlers, for at most 30 s after ctx has ended. A result that is not written by then causes a
// redelivery, and Run returns an error that says so. [Queue.Drain] ends a Run gently: it still
// processes the received records, and the handlers' contexts do not end.
//
// A worker has one record at a time. Run receives no more records than it has idle workers, except
// those that an [Order] makes wait. Waiting records count against MaxInFlight: at the bound Run
// receives nothing until an earlier record is done. Run renews their locks. If a lock still
// expires, for example because the cluster is out of reach, the record is not handled and is
// delivered again.
//
// After [ErrDelayed] a worker keeps the failed record and tries to release it every 50 ms. It stops
// when the release succeeds, the lock expires or the Run ends.
//
// The engine Plain cannot release a record. There the worker keeps a failed record and retries it
// after the [Backoff].
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
		return fmt.Errorf("%w: a share group gives the records of one partition to several members, so Run cannot keep the order %q: choose markers, offsetmap or plain", ErrUnsupported, o.order)
	}
	return nil
}

type run struct {
	q      *Queue
	handle Handler
	order  Order
	seed   maphash.Seed

	idle    chan struct{} // one token for each worker without a record
	work    chan job
	workers sync.WaitGroup

	// handling is the handlers' context; it ends with ctx or the run.
	handling context.Context
	halt     context.CancelCauseFunc
	// settling outlives handling by settleGrace, to write the results of handlers.
	settling context.Context
	release  context.CancelFunc

	keeping sync.WaitGroup // the goroutine that renews locks
	kept    context.CancelFunc

	rejecting sync.WaitGroup // retried rejections

	mu        sync.Mutex
	lines     map[uint64]*line // lines whose first record has a worker
	complaint *engine.Complaint
	err       error // the error that ended the run
	panic     *HandlerPanic
}

type job struct {
	Delivery
	line *line // the line behind this delivery; nil if it is in none
}

// line holds the deliveries that wait until the one ahead is done.
type line struct {
	name    uint64
	ahead   Delivery // the delivery that a worker has
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

// mostAtOnce bounds one Receive; at 500 records its own cost is negligible.
const mostAtOnce = 500

// moreIdle takes the tokens of more idle workers and returns their number.
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

// start gives a delivery to a worker and returns true, or adds it to its line and returns false.
func (r *run) start(d Delivery) bool {
	l, ahead := r.join(d)
	if ahead {
		r.work <- job{Delivery: d, line: l} // does not block: the caller holds a worker's token
	}
	return ahead
}

// join adds a delivery to its line, which is nil if it needs none, and reports whether it is first.
// It runs before the handler, which may change the record's key and partition.
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

// line returns the name of a delivery's line, and false if it has none. Keys with the same hash
// share a line, which only makes them wait for each other.
func (r *run) line(d Delivery) (uint64, bool) {
	switch {
	case r.order == ByPartition:
		return uint64(d.lease.At.Partition), true
	case r.order == ByKey && d.Record.Key != nil:
		return maphash.Bytes(r.seed, d.Record.Key), true
	}
	return 0, false
}

// next takes the delivery behind a job; it returns false and ends the line if none waits.
func (r *run) next(j job) (job, bool) {
	if j.line == nil {
		return job{}, false
	}
	w := r.pop(j.line)
	if w == nil {
		return job{}, false
	}
	if w.renewing != nil {
		<-w.renewing // the handler's own use of the lock must come later
	}
	return job{Delivery: w.Delivery, line: j.line}, true
}

// pop takes the first waiting delivery of a line; it returns nil and ends the line if none waits.
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

func (r *run) worker() {
	for j := range r.work {
		for more := true; more; j, more = r.next(j) {
			r.process(j.Delivery)
		}
		r.idle <- struct{}{}
	}
}

// end waits for the handlers and returns Run's result, or panics with a handler's panic.
func (r *run) end(ctx context.Context, err error) error {
	close(r.work)
	r.workers.Wait()
	if r.q.stopping.Err() == nil {
		r.halt(err) // without a Drain, rejections are not retried to the end
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
