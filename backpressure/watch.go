package backpressure

import (
	"context"
	"errors"
	"sync"
	"time"
)

// pace is how often a ceiling may move between two readings: often enough that
// what it lets go at once is small, and seldom enough to cost nothing.
const pace = 10 * time.Millisecond

// errNoSource is what Watch says of a gate that has nothing to read.
var errNoSource = errors.New("backpressure: the gate has no source to watch; set Config.Source, or call Report yourself")

// Watch reads the lag from the source, at once and then at each interval, until
// ctx ends; it reports what it reads and what it misses. A reading that takes
// longer than half the grace time is given up. Watch returns nil when ctx has
// ended, and an error only if the gate has no source. What is in force stays so
// after it; who is refused later than the grace time finds the gate blind.
func (g *Gate) Watch(ctx context.Context) error {
	return watch(ctx, &g.cfg, g.moving(), watched{
		read: func(ctx context.Context) error {
			mark := g.Mark()
			reading, err := g.cfg.Source.Read(ctx)
			if err == nil {
				g.Report(mark, reading)
			}
			return err
		},
		missed:  func(err error) { g.Missed(err) },
		advance: g.Advance,
	})
}

// watched is what Watch needs of a gate.
type watched struct {
	read    func(context.Context) error // asks the source once and reports
	missed  func(error)
	advance func()
}

// watch reads in this goroutine and looks at the clock in another: a source that
// hangs in spite of its context must not keep the gate from noticing.
func watch(ctx context.Context, cfg *Config, moving bool, w watched) error {
	if cfg.Source == nil {
		return errNoSource
	}
	ctx, stop := context.WithCancel(ctx)
	var clock sync.WaitGroup
	defer clock.Wait()
	defer stop()
	clock.Go(func() { keepTime(ctx, cfg, moving, w) })

	tick := time.NewTicker(cfg.Interval)
	defer tick.Stop()
	for {
		reading, done := context.WithTimeout(ctx, max(cfg.Interval, cfg.Grace/2))
		err := w.read(reading)
		done()
		if err != nil && ctx.Err() == nil {
			w.missed(err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// keepTime moves the ceiling with the time and notices when nothing was read for
// too long, until ctx ends.
func keepTime(ctx context.Context, cfg *Config, moving bool, w watched) {
	every := max(cfg.Grace/20, pace)
	if moving {
		every = pace
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			w.advance()
			w.missed(nil)
		}
	}
}
