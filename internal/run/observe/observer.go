// Package observe reads lag, counts, brokers, replicas and the machine while a run goes on.
//
// It writes what it reads to the run's journal. An Observer owns the goroutines. Each kind of
// reading has its own type, which keeps the values until the run is judged.
//
// Files to know: observer.go, journal.go, intervals.go, usage.go (of processes in an interval),
// lag.go, changes.go, machine.go, replicas.go, brokers.go, brokerlog.go (local brokers of a run of
// agents).
package observe

import (
	"context"
	"sync"
	"time"

	"kafkabench.example/kafka-bench/internal/load"
)

// Sampler reads something at a period.
type Sampler interface {
	Every() time.Duration
	// Look reads once. ctx ends when the observer is stopped.
	Look(ctx context.Context)
}

// Observer runs the readers of a run until it is stopped.
type Observer struct {
	axis    *load.Axis
	running sync.WaitGroup
	ctx     context.Context
	cancel  context.CancelFunc
}

// New returns an observer whose waits are timed on axis.
func New(axis *load.Axis) *Observer {
	o := &Observer{axis: axis}
	o.ctx, o.cancel = context.WithCancel(context.Background())
	return o
}

// Start calls the sampler at its period, until Stop.
func (o *Observer) Start(s Sampler) {
	o.Go(func(ctx context.Context) { AtEach(ctx, s.Every(), func() { s.Look(ctx) }) })
}

// Go runs f in a goroutine that Stop waits for; its context ends with Stop.
func (o *Observer) Go(f func(ctx context.Context)) { o.running.Go(func() { f(o.ctx) }) }

// WaitUntil waits until a time of the axis. It reports whether the observer was stopped earlier.
func (o *Observer) WaitUntil(atNs int64) (stopped bool) {
	timer := time.NewTimer(time.Duration(atNs - o.axis.Now()))
	defer timer.Stop()
	select {
	case <-timer.C:
		return false
	case <-o.ctx.Done():
		return true
	}
}

// Stop ends all readers and waits for them. Further calls do nothing.
func (o *Observer) Stop() {
	o.cancel()
	o.running.Wait()
}

// AtEach calls f at a period until ctx ends.
func AtEach(ctx context.Context, period time.Duration, f func()) {
	tick := time.NewTicker(period)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			f()
		case <-ctx.Done():
			return
		}
	}
}
