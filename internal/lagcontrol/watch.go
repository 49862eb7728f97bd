package lagcontrol

import (
	"context"
	"errors"
	"sync"
	"time"
)

const pace = 10 * time.Millisecond

var errNoSource = errors.New("backpressure: the gate has no source to watch; set Config.Source, or call Report yourself")

// Watch reads the lag from the source until ctx ends: at once, and then at each interval. After
// each reading it calls Report or Missed. It gives up a reading that takes longer than half the
// grace time (at least one interval). Watch returns nil when ctx has ended, and an error only if
// the gate has no source. After Watch, the last ceiling stays in force until the gate refuses a
// record after the grace time: then the gate is blind.
func (g *Gate) Watch(ctx context.Context) error {
	if g.cfg.Source == nil {
		return errNoSource
	}
	ctx, stop := context.WithCancel(ctx)
	var clock sync.WaitGroup
	defer clock.Wait()
	defer stop()
	// A source that ignores its context must not keep the gate from becoming blind.
	clock.Go(func() { g.keepTime(ctx) })

	tick := time.NewTicker(g.cfg.Interval)
	defer tick.Stop()
	for {
		if err := g.Read(ctx); err != nil && ctx.Err() == nil {
			g.Missed(err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// Read reads the lag from the source once and reports it. It gives up after the time that Watch
// describes.
func (g *Gate) Read(ctx context.Context) error {
	ctx, done := context.WithTimeout(ctx, max(g.cfg.Interval, g.cfg.Grace/2))
	defer done()
	mark := g.Mark()
	reading, err := g.cfg.Source.Read(ctx)
	if err == nil {
		g.Report(mark, reading)
	}
	return err
}

func (g *Gate) keepTime(ctx context.Context) {
	every := max(g.cfg.Grace/20, pace)
	if g.pacer != nil {
		every = pace
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			g.Advance()
			g.Missed(nil)
		}
	}
}
