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
// itself; after it has settled the delivery, the handler's result is ignored.
//
// A panic is a failed attempt, as [RunConfig.OnPanic] says.
type Handler func(ctx context.Context, d Delivery) error

// Order says which records may be processed at the same time.
type Order string

// Orders apply to first deliveries. A redelivered record may come after records that were produced
// later. Share supports only Unordered.
const (
	Unordered   Order = "none"      // any records; workers may outnumber partitions
	ByPartition Order = "partition" // one of each partition, in offset order
	ByKey       Order = "key"       // one of each key, in offset order; records without a key in any order
)

// RunConfig says how [Queue.Run] calls the handler. In each field, zero means the default.
type RunConfig struct {
	Workers int     // running handlers at most; the default is 16, the range 1 to [MaxWorkers]
	OnPanic OnPanic // the default is FailAttempt
}

// OnPanic says what a panic of a handler does.
type OnPanic string

// The values of OnPanic. A handler that calls runtime.Goexit, as testing.T.FailNow does, counts as one that panics.
const (
	FailAttempt OnPanic = "fail"  // the attempt has failed; the panic is logged, and its stack is kept for the dead letter
	Crash       OnPanic = "crash" // Run releases the record, ends, and panics with a [HandlerPanic]
)

const defaultWorkers = 16

// MaxWorkers is the largest number of workers for [Queue.Run].
const MaxWorkers = 100_000

// HandlerPanic is the value with which [Queue.Run] panics after a handler panicked, with [Crash].
type HandlerPanic struct {
	Value any    // nil if the handler called runtime.Goexit
	Stack []byte // of the handler
}

// Error returns the panic value and the stack.
func (p *HandlerPanic) Error() string {
	return fmt.Sprintf("kmq: a handler panicked: %v\n%s", p.Value, p.Stack)
}

const settleGrace = 30 * time.Second

// Run delivers records to a number of workers until ctx ends or the queue is closed or
// drained. It then waits for running handlers and gives back records that no handler began. It
// returns nil if the queue is closed or drained, ctx's error if ctx ended, and otherwise the error
// that stopped it.
//
// The handlers' contexts end with ctx. A record whose handler then fails, except with a [Reject],
// is given back like one that no handler began. It is delivered again at once; with Markers and
// OffsetMap the ended delivery does not count. Run writes the results of handlers for at most 30 s
// after ctx has ended. A result that is not written by then causes a redelivery, and Run returns an
// error. [Queue.Drain] ends a Run gently: it processes the received records, and the handlers'
// contexts do not end.
//
// A worker has one record at a time. Run receives no more records than it has idle workers, except
// with an [Order]. Records that wait for their turn count against MaxInFlight: at the bound Run
// receives nothing. Run renews their locks. If a lock still expires, the record is not handled and
// is delivered again.
//
// After [ErrDelayed] a worker keeps the failed record and tries to release it every 50 ms. It stops
// when the lock expires or the Run ends.
//
// Plain cannot release a record: the worker itself retries a failed record after the [Backoff].
func (q *Queue) Run(ctx context.Context, handle Handler, cfg RunConfig) error {
	if err := cfg.resolve(handle); err != nil {
		return err
	}
	r := newRun(ctx, q, handle, cfg)
	err := r.dispatch(ctx)
	return r.end(ctx, err)
}

func (c *RunConfig) resolve(handle Handler) error {
	m := new(mistakes)
	if handle == nil {
		m.add("Run has no handler")
	}
	m.count("Workers", &c.Workers, defaultWorkers, 1, MaxWorkers)
	switch c.OnPanic {
	case "":
		c.OnPanic = FailAttempt
	case FailAttempt, Crash:
	default:
		m.add("OnPanic is %q: choose %s or %s", c.OnPanic, FailAttempt, Crash)
	}
	return m.err()
}

type run struct {
	q      *Queue
	handle Handler
	cfg    RunConfig
	order  Order
	seed   maphash.Seed

	idle    chan struct{} // a token for each worker without a record
	work    chan job
	workers sync.WaitGroup

	handling context.Context
	halt     context.CancelCauseFunc
	settling context.Context // ends settleGrace after handling
	release  context.CancelFunc

	keeping sync.WaitGroup
	kept    context.CancelFunc

	rejecting sync.WaitGroup

	mu        sync.Mutex
	lines     map[uint64]*line // lines whose first record has a worker
	complaint *engine.Complaint
	err       error
	panic     *HandlerPanic
}

type job struct {
	Delivery
	line *line // behind this delivery; or nil
}

type line struct {
	name    uint64
	ahead   Delivery
	waiting []*waiter
}

func newRun(ctx context.Context, q *Queue, handle Handler, cfg RunConfig) *run {
	r := &run{
		q: q, handle: handle, cfg: cfg, order: q.order, seed: maphash.MakeSeed(),
		idle: make(chan struct{}, cfg.Workers), work: make(chan job, cfg.Workers),
		lines: make(map[uint64]*line), complaint: engine.NewComplaint(q.log),
	}
	r.handling, r.halt = context.WithCancelCause(ctx)
	r.settling, r.release = context.WithCancel(context.WithoutCancel(ctx))
	context.AfterFunc(r.handling, func() { time.AfterFunc(settleGrace, r.release) })
	for range cfg.Workers {
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

const mostAtOnce = 500

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

// start gives the delivery to a worker and returns true, or adds it to its line and returns false.
func (r *run) start(d Delivery) bool {
	l, ahead := r.join(d)
	if ahead {
		r.work <- job{Delivery: d, line: l} // never blocks: a worker's token was taken for it
	}
	return ahead
}

// join runs before the handler, which may change the record's key and partition.
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

// line returns the name of a delivery's line. Keys with the same hash share a line.
func (r *run) line(d Delivery) (uint64, bool) {
	switch {
	case r.order == ByPartition:
		return uint64(d.lease.At.Partition), true
	case r.order == ByKey && d.Record.Key != nil:
		return maphash.Bytes(r.seed, d.Record.Key), true
	}
	return 0, false
}

func (r *run) next(j job) (job, bool) {
	if j.line == nil {
		return job{}, false
	}
	w := r.pop(j.line)
	if w == nil {
		return job{}, false
	}
	if w.renewing != nil {
		<-w.renewing // the handler must not use the lock during the renewal
	}
	return job{Delivery: w.Delivery, line: j.line}, true
}

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
		r.processLine(j, &attempt{Delivery: j.Delivery})
	}
}

// processLine processes a record and those behind it in its line. A handler that calls runtime.Goexit ends the
// goroutine; then another one goes on.
func (r *run) processLine(j job, a *attempt) {
	defer func() {
		if a.exited {
			a.exited = false
			r.workers.Go(func() {
				r.processLine(j, a)
				r.worker()
			})
		}
	}()
	for more := true; more; {
		r.process(a)
		if j, more = r.next(j); more {
			*a = attempt{Delivery: j.Delivery}
		}
	}
	r.idle <- struct{}{}
}

// end waits for the handlers, and panics with a handler's panic.
func (r *run) end(ctx context.Context, err error) error {
	close(r.work)
	r.workers.Wait()
	if r.q.stopping.Err() == nil {
		r.halt(err) // without a Drain, rejections are not retried
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
