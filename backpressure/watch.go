package backpressure

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

type watched struct {
	read    func(context.Context) error
	missed  func(error)
	advance func()
}

// watch reads in this goroutine and watches the clock in another: a source that ignores its context
// must not keep the gate from becoming blind.
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
