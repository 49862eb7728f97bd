package backpressure

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"kafkabench.example/kafka-bench/internal/lagcontrol"
)

// ErrNever is wrapped by the error of an Acquire that could never succeed: see [Gate.Acquire].
var ErrNever = lagcontrol.ErrNever

// ErrClosed is returned by an Acquire of a closed gate.
var ErrClosed = errors.New("backpressure: the gate is closed for good")

// Gate counts admitted records against the bound of its controller. Until Close it reads the lag in
// a goroutine of its own. All methods may be called from any number of goroutines.
type Gate struct {
	gate   *lagcontrol.Gate
	ctx    context.Context
	cancel context.CancelFunc
	watch  sync.WaitGroup
}

// Open returns a gate, which the caller must Close. The error joins all mistakes of the config. Open
// reads the lag once, within ctx, and returns the error of the source; with FailOpen it returns the gate
// nevertheless.
func Open(ctx context.Context, cfg Config) (*Gate, error) {
	internal, err := cfg.internal()
	if err != nil {
		return nil, err
	}
	core, err := lagcontrol.New(internal)
	if err != nil {
		return nil, err
	}
	g := &Gate{gate: core}
	g.ctx, g.cancel = context.WithCancel(context.Background())
	if internal.Source != nil {
		if err := core.Read(ctx); err != nil && !cfg.FailOpen {
			return nil, err
		}
		g.watch.Go(func() { g.watchAfter(cmp.Or(cfg.Interval, lagcontrol.DefaultInterval)) })
	}
	return g, nil
}

// watchAfter begins an interval after the reading of Open.
func (g *Gate) watchAfter(interval time.Duration) {
	select {
	case <-g.ctx.Done():
	case <-time.After(interval):
		_ = g.gate.Watch(g.ctx) // it fails only without a source
	}
}

// Close ends the waiting calls of Acquire, and the reading of the lag; it returns when the goroutine
// of the gate has ended. A closed gate admits nothing. Close may be called twice.
func (g *Gate) Close() {
	g.cancel()
	g.watch.Wait()
}

// Acquire waits until n records may be sent. They then count as admitted. If ctx ends first, it
// returns the error of ctx; if the gate is closed, [ErrClosed]. Calls are served in order of arrival,
// whatever their n.
//
// It returns an error that wraps [ErrNever] if the bound can never hold n records. It also returns
// that error if the call is first in line, nothing is outstanding and n is above the bound in
// force. A moving bound may be below n only for a moment; ask for fewer records to avoid the error.
func (g *Gate) Acquire(ctx context.Context, n int64) error {
	if g.ctx.Err() != nil {
		return ErrClosed
	}
	if n <= 0 || g.gate.Take(n) {
		return nil
	}
	waiting, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(g.ctx, cancel)()
	err := g.gate.Acquire(waiting, n)
	if err != nil && g.ctx.Err() != nil && ctx.Err() == nil {
		return ErrClosed
	}
	return err
}

// TryAcquire asks for n records, all or none, and reports whether they may be sent. It never waits.
// It returns false while calls of Acquire wait.
func (g *Gate) TryAcquire(n int64) bool { return g.ctx.Err() == nil && g.gate.TryAcquire(n) }

// Done reports that the fate of n admitted records is known: acknowledged, or failed and never in
// the log. Use it also to return records that were not sent. Report each record once, with Done or
// Unsure; otherwise the lag could exceed the bound. The gate ignores reports beyond the number of
// admitted records, and reports the change "misused" once.
//
// The bound holds only if each record that Done reports is below the high watermark or not in the
// log. An acknowledgement with acks=all ensures that. With acks=1 on a replicated topic this
// becomes true a moment later: for an exact bound, use [Fixed] and Acked. With acks=0 the fate is
// never known.
func (g *Gate) Done(n int64) { g.gate.Done(n) }

// Unsure reports that the client gave up n admitted records without knowing their fate, for example
// after a timeout. They count as if they were in the log until Config.Doubt has passed.
func (g *Gate) Unsure(n int64) { g.gate.Unsure(n) }

// Acked reports the offset of an admitted record. Only a gate with a share needs it. Call it before
// Done for the same record: otherwise the record does not count between the two calls.
func (g *Gate) Acked(topic string, partition int32, offset int64) {
	g.gate.Acked(topic, partition, offset)
}

// Stats returns the gate's counters and its present state.
func (g *Gate) Stats() Stats { return publicStats(g.gate.Stats()) }
