package kmq

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"kafkabench.example/kafka-bench/kmq/internal/engine"
	"kafkabench.example/kafka-bench/kmq/internal/lease"
)

// abandonAfter is how long Run waits for handlers whose contexts have ended.
const abandonAfter = 5 * time.Second

// Run calls the handler with records until ctx ends or the queue is closed. It returns nil if all handlers have ended
// then, and otherwise the error that stopped it.
//
// When ctx ends, nothing more is taken, and records that no handler began are given back. Running handlers may go on for
// RunConfig.Shutdown; then their contexts end with the cause [ErrClosed]. A record whose handler then fails, except with a
// [Reject], is given back like one that no handler began: it is delivered again at once, and with Markers and OffsetMap the
// delivery does not count. Run returns at most 5 s later, with an error if handlers still run; these records are delivered
// again.
//
// A handler's context also ends if its lock has expired ([ErrExpired]), if another member has the partition
// ([ErrLost]), or if the queue is closed ([ErrClosed]): context.Cause returns which. If partitions are revoked, their
// handlers may go on for 10 s before that.
//
// A worker has one record at a time. Run takes no more records than it has idle workers, except with an [Order]: records
// that wait for their turn count against MaxInFlight. They are neither locked nor counted before their handler begins.
//
// After [ErrDelayed] a worker keeps the failed record and tries to release it every 50 ms. It stops
// when the lock expires or the Run ends.
//
// Several Runs of a queue may run at the same time, unless it has an Order: then a second one returns [ErrConfig].
//
// Plain cannot release a record: the worker itself retries a failed record after [Config.Retry].
func (q *Queue) Run(ctx context.Context, handle Handler, cfg RunConfig) error {
	handle, err := cfg.resolve(handle)
	if err != nil {
		return err
	}
	if q.order == ByPartition || q.order == ByKey {
		if !q.running.CompareAndSwap(false, true) {
			return fmt.Errorf("%w: another Run of this queue keeps its order %s: end it first, or open another queue", ErrConfig, q.order)
		}
		defer q.running.Store(false)
	}
	r := newRun(ctx, q, handle, cfg)
	return r.end(r.dispatch())
}

// handlerOf is the key of a value that marks the context of a queue's handlers.
type handlerOf struct{ *Queue }

type run struct {
	q      *Queue
	handle Handler
	cfg    RunConfig

	lines *lines
	start time.Time

	all     []*worker
	jobs    []job
	ahead   []*lease.Lease
	idle    chan struct{} // a token for each worker without a record
	work    chan job
	workers sync.WaitGroup

	taking   context.Context // ends when the run's context or handling does
	handling context.Context // of the handlers
	halt     context.CancelCauseFunc
	settling context.Context // ends when Run returns
	release  context.CancelFunc

	rejecting sync.WaitGroup

	mu        sync.Mutex
	complaint *engine.Complaint
	err       error
	panic     *HandlerPanic
}

type job struct {
	lease *lease.Lease
	lent  bool
	begun time.Duration // since the run's start: when it was lent
	line  *line         // behind this record; or nil
}

func newRun(ctx context.Context, q *Queue, handle Handler, cfg RunConfig) *run {
	r := &run{
		q: q, handle: handle, cfg: cfg, lines: newLines(q), start: time.Now(),
		idle: make(chan struct{}, cfg.Workers), work: make(chan job, cfg.Workers),
		complaint: engine.NewComplaint(q.log),
	}
	of := context.WithValue(context.WithoutCancel(ctx), handlerOf{q}, true)
	r.handling, r.halt = context.WithCancelCause(of)
	r.settling, r.release = context.WithCancel(of)
	taking, cancel := context.WithCancel(ctx)
	r.taking = taking
	context.AfterFunc(r.handling, cancel)
	for range cfg.Workers {
		w := &worker{run: r}
		r.all = append(r.all, w)
		r.idle <- struct{}{}
		r.workers.Go(w.work)
	}
	go r.renewLocks()
	return r
}

func (r *run) dispatch() error {
	more := false // records than idle workers
	for {
		select {
		case <-r.idle:
		case <-r.taking.Done():
			return nil
		}
		if r.handling.Err() != nil { // taking ends a moment later
			return nil
		}
		if more { // others end meanwhile: to take many records costs little more than to take one
			runtime.Gosched()
		}
		free := 1 + r.moreIdle()
		leases, err := r.q.take(r.taking, free)
		if err == nil {
			var begun int
			begun, err = r.begin(leases)
			free -= begun
		}
		more = free == 0
		for range free {
			r.idle <- struct{}{}
		}
		switch {
		case err == nil:
		case r.taking.Err() != nil || errors.Is(err, ErrClosed):
			return nil
		default:
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

// begin lends the records that need not wait in a line, and gives them to workers. It returns how many these are.
func (r *run) begin(leases []*lease.Lease) (begun int, err error) {
	jobs, ahead := r.jobs[:0], r.ahead[:0] // dispatch's own, to save memory
	defer func() {
		clear(jobs)
		clear(ahead)
		r.jobs, r.ahead = jobs, ahead
	}()
	for _, l := range leases {
		if ln, first := r.lines.join(l); first {
			jobs, ahead = append(jobs, job{lease: l, line: ln}), append(ahead, l)
		}
	}
	if len(ahead) == 0 {
		return 0, nil
	}
	lent, err := r.q.engine.Lend(r.taking, ahead, r)
	if err != nil {
		return 0, err
	}
	now := time.Since(r.start)
	for _, j := range jobs {
		j.begun, j.lent = now, len(lent) == len(jobs) || slices.Contains(lent, j.lease)
		r.work <- j // never blocks: a worker's token was taken for it
	}
	return len(jobs), nil
}

// next returns the record behind one that has ended.
func (r *run) next(j job) (job, bool) {
	if j.line == nil {
		return job{}, false
	}
	j.lease, j.lent = r.lines.next(j.line, j.lease, r.handling.Err() != nil), false
	return j, j.lease != nil
}

// stop gives back the records that no handler began, in their order.
func (r *run) stop() {
	waiting := r.lines.stop()
	var lent []*lease.Lease
	for more := true; more; {
		select {
		case j := <-r.work:
			if j.lent {
				lent = append(lent, j.lease)
			} else {
				waiting = append(waiting, j.lease)
			}
		default:
			more = false
		}
	}
	close(r.work)
	slices.SortFunc(waiting, func(a, b *lease.Lease) int {
		return cmp.Or(cmp.Compare(a.At.Partition, b.At.Partition), cmp.Compare(a.At.Offset, b.At.Offset))
	})
	r.q.engine.Return(waiting)
	for _, l := range slices.Backward(lent) { // each goes before all others
		r.giveBack(Delivery{Record: l.Record, lease: l, queue: r.q})
	}
}

// end waits for the handlers for as long as RunConfig.Shutdown allows, and panics with a handler's panic.
func (r *run) end(err error) error {
	r.stop()
	defer r.release()
	left := r.awaitHandlers()
	r.lines.leave(r.q)
	r.halt(ErrClosed)
	if left == 0 {
		r.rejecting.Wait()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.panic != nil:
		panic(r.panic)
	case r.err != nil:
		return r.err
	case left > 0:
		return fmt.Errorf("kmq: %d handlers ignore that their contexts have ended; their records are delivered again", left)
	}
	return err
}

// awaitHandlers returns how many handlers still run in the end.
func (r *run) awaitHandlers() (left int) {
	ended := make(chan struct{})
	go func() {
		r.workers.Wait()
		close(ended)
	}()
	grace := time.NewTimer(r.cfg.Shutdown)
	defer grace.Stop()
	select {
	case <-ended:
		return 0
	case <-grace.C:
		r.halt(ErrClosed)
	case <-r.handling.Done():
	}
	grace.Reset(abandonAfter)
	select {
	case <-ended:
		return 0
	case <-grace.C:
	}
	for _, w := range r.all {
		if w.working() {
			left++
		}
	}
	return left
}
