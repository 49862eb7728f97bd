package bench

import (
	"context"
	"time"
)

// startSamplers starts what looks at the run from the side.
func (r *run) startSamplers() {
	s := r.cfg.Scenario
	first := r.count(r.startedNs) // here: on a busy machine the sampler may start after the load
	r.samplers.Go(func() { r.sampleIntervals(time.Duration(s.Sampling.Interval), first) })
	r.samplers.Go(func() { r.every(time.Duration(s.Sampling.Interval), r.lookAtDirty) })
	if r.brokerWatch != nil {
		r.samplers.Go(func() {
			r.every(r.brokerWatch.every, func(ctx context.Context) { r.brokerWatch.look(ctx, between) })
		})
	}
	if all := r.faultsOf(); len(all) > 0 {
		r.samplers.Go(func() { r.injectFaults(all) })
	}
	if r.replicas != nil {
		r.samplers.Go(func() { r.every(time.Duration(s.Sampling.Replicas), r.replicas.look) })
	}
	if len(r.groups) == 0 {
		return
	}
	if all := turns(s.Consume); len(all) > 0 {
		r.samplers.Go(func() { r.watchChanges(all) })
		if s.Backpressure.Controller != "off" {
			r.samplers.Go(r.watchSettling)
		}
	}
	r.samplers.Go(func() { r.every(time.Duration(s.Sampling.Lag), r.lag.forSeries) })
	if r.gated() {
		r.samplers.Go(func() {
			ctx, cancel := r.whileSampling()
			defer cancel()
			r.keepGate(ctx)
		})
	}
}

func (r *run) stopSamplers() {
	close(r.stop)
	r.samplers.Wait()
}

// every calls f at a period until the samplers are stopped; f's context ends
// then too.
func (r *run) every(period time.Duration, f func(context.Context)) {
	ctx, cancel := r.whileSampling()
	defer cancel()
	atEach(ctx, period, func() { f(ctx) })
}

// whileSampling is a context that ends when the samplers are stopped.
func (r *run) whileSampling() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		select {
		case <-r.stop:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}
