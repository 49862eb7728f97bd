package kmq

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"
)

// BatchHandler processes several records in one call. Nil acknowledges all of them, [Failed] says which ones have failed,
// and any other error is the result of each of them, as if a [Handler] had returned it. A panic is a failed attempt of all.
//
// The context ends as soon as that of one of the deliveries does, with the same cause. If another member has the partition
// of some of them ([ErrLost]), an error does not count as an attempt of the others.
type BatchHandler func(ctx context.Context, batch []Delivery) error

// Failed is an error of a [BatchHandler]: the result of each delivery that has failed, by its index in the batch. The
// others are acknowledged.
type Failed map[int]error

// Error returns the number of failed deliveries and one of the errors.
func (f Failed) Error() string {
	for i, err := range f {
		return fmt.Sprintf("%d deliveries of a batch failed, such as number %d: %v", len(f), i, err)
	}
	return "no delivery of a batch failed"
}

// BatchConfig configures [Queue.RunBatch]. In each field, zero means the default.
type BatchConfig struct {
	// RunConfig is as for [Queue.Run], with Workers as the largest number of running batches: Workers × Size is at most
	// [MaxWorkers]. A record's Timeout includes its wait for the batch. Middleware wraps the part of each record.
	RunConfig
	// Size is the largest number of records in a batch. The default is 100. A batch has no more records than
	// [Config.MaxInFlight], and with an [Order] one of each partition or key.
	Size int
	// Wait is how long the first record of a batch waits for others. The default is 100 ms; the range is 1 ms to 1 min.
	Wait time.Duration
}

// RunBatch is [Queue.Run] for handlers of several records: a batch begins when it has Size records, or when its first
// record has waited for Wait. Each record has its own lock, attempts, retries and result.
func (q *Queue) RunBatch(ctx context.Context, handle BatchHandler, cfg BatchConfig) error {
	m := new(mistakes)
	if handle == nil {
		m.add("RunBatch has no handler")
	}
	m.count("Workers", &cfg.Workers, defaultWorkers, 1, MaxWorkers)
	m.count("Size", &cfg.Size, 100, 1, MaxWorkers/max(1, min(cfg.Workers, MaxWorkers)))
	m.between("Wait", &cfg.Wait, 100*time.Millisecond, time.Millisecond, time.Minute)
	if err := m.err(); err != nil {
		return err
	}
	b := &batcher{handle: handle, size: cfg.Size, wait: cfg.Wait, running: make(chan struct{}, cfg.Workers)}
	cfg.Workers *= cfg.Size
	return q.Run(ctx, b.process, cfg.RunConfig)
}

// batcher gathers the records of many workers.
type batcher struct {
	handle  BatchHandler
	size    int
	wait    time.Duration
	running chan struct{} // a token for each running handler

	mu   sync.Mutex
	open *batch // takes further records; nil: there is none
}

type batch struct {
	ctx        context.Context
	cancel     context.CancelCauseFunc
	deliveries []Delivery
	timer      *time.Timer
	done       chan struct{}
	err        error // once done is closed
}

// process is the handler of one record.
func (b *batcher) process(ctx context.Context, d Delivery) error {
	one, index := b.join(ctx, d)
	defer context.AfterFunc(ctx, func() {
		one.cancel(context.Cause(ctx))
		if one.timer.Stop() {
			b.begin(one)
		}
	})()
	<-one.done
	return one.result(ctx, index)
}

func (b *batcher) join(ctx context.Context, d Delivery) (one *batch, index int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.open == nil {
		one := &batch{done: make(chan struct{})}
		one.ctx, one.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
		one.timer = time.AfterFunc(b.wait, func() { b.begin(one) })
		b.open = one
	}
	one, index = b.open, len(b.open.deliveries)
	one.deliveries = append(one.deliveries, d)
	if len(one.deliveries) == b.size {
		b.open = nil
		if one.timer.Stop() {
			go b.begin(one)
		}
	}
	return one, index
}

// begin waits until fewer than Workers handlers run; meanwhile others may join the batch. If its context ends first, no
// handler has it.
func (b *batcher) begin(one *batch) {
	select {
	case b.running <- struct{}{}:
		defer func() { <-b.running }()
	case <-one.ctx.Done():
	}
	b.mu.Lock()
	if b.open == one {
		b.open = nil
	}
	b.mu.Unlock()
	if one.ctx.Err() != nil {
		one.err = After(0)
		close(one.done)
		return
	}
	one.run(b.handle)
}

func (one *batch) run(handle BatchHandler) {
	returned := false
	defer func() {
		if !returned {
			one.err = &HandlerPanic{Value: recover(), Stack: debug.Stack()}
		}
		close(one.done)
		one.cancel(nil)
	}()
	one.err = handle(one.ctx, one.deliveries)
	returned = true
}

func (one *batch) result(ctx context.Context, index int) error {
	if p, panicked := errors.AsType[*HandlerPanic](one.err); panicked {
		panic(p)
	}
	if failed, some := errors.AsType[Failed](one.err); some {
		return failed[index]
	}
	cause := context.Cause(one.ctx)
	if one.err != nil && ctx.Err() == nil && (errors.Is(cause, ErrLost) || errors.Is(cause, ErrClosed)) {
		return After(0)
	}
	return one.err
}
