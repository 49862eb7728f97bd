package bench

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/fault"
)

// scheduled is a fault with the time that the scenario has for it.
type scheduled struct {
	fault.Fault
	scenario.ScheduledFault
}

// faultsOf are the faults of the run's scenario, in the order of their times.
func (r *run) faultsOf() []scheduled {
	on := r.stand()
	all := make([]scheduled, len(r.cfg.Scenario.Faults))
	for i, f := range r.cfg.Scenario.Faults {
		all[i] = scheduled{fault.New(f, on), f}
	}
	return all
}

// stand is what of the run can be broken.
func (r *run) stand() fault.Stand {
	on := fault.Stand{
		Cluster: r.cfg.Cluster, Partitions: r.topic.Partitions,
		Tell: func(what string) { r.journal.now("broker", what, "") },
	}
	for _, g := range r.groups {
		on.Groups = append(on.Groups, g)
	}
	if r.replicas != nil {
		on.Topic = r.replicas
	}
	return on
}

// numbers bounds the numbers of consumers, those included that faults start.
func numbers(s scenario.Scenario) int {
	bound := s.Consume.Consumers
	for _, f := range s.Faults {
		if t := f.Target(); t.Kind == scenario.ConsumerTarget {
			bound = max(bound, t.Number+1)
		}
	}
	return bound
}

// checkFaults finds out before the run whether every fault can be injected, and
// prepares to watch the replicas where one befalls a broker.
func (r *run) checkFaults(ctx context.Context) error {
	for _, f := range r.faultsOf() {
		if err := f.Available(); err != nil {
			return fmt.Errorf("%s at %s: %w", f.Name(), f.At, err)
		}
	}
	if !breaksBrokers(r.cfg.Scenario) {
		return nil
	}
	return r.openReplicas(ctx)
}

// breaksBrokers tells whether a fault of the scenario befalls a broker.
func breaksBrokers(s scenario.Scenario) bool { return slices.ContainsFunc(s.Faults, fault.OfBrokers) }

// injectFaults injects the faults at their times. A window that ends early ends the
// faults too, and an interrupt those that are under way. What befalls a broker takes
// as long as the broker does, and nobody waits for it; what befalls consumers is done
// in the order of the scenario.
func (r *run) injectFaults(all []scheduled) {
	sampling, cancel := r.whileSampling()
	defer cancel()
	ctx, giveUp := r.cfg.Starting(sampling)
	defer giveUp()
	var underway sync.WaitGroup
	defer underway.Wait()
	for _, f := range all {
		if r.waitForInterval(int64(f.At)) || r.axis.Now() >= r.axis.End() {
			return
		}
		if fault.OfBrokers(f.ScheduledFault) {
			underway.Go(func() { r.injectFor(ctx, f.Fault, f.ScheduledFault) })
			continue
		}
		undo := r.inject(ctx, f.Fault, f.At.String())
		underway.Go(func() { r.undo(ctx, undo, f.For) })
	}
}

// injectFor injects a fault, and undoes it after its time where it has one.
func (r *run) injectFor(ctx context.Context, f fault.Fault, planned scenario.ScheduledFault) {
	r.undo(ctx, r.inject(ctx, f, planned.At.String()), planned.For)
}

// undo injects what undoes a fault, after a time; nil is nothing to undo. It may come
// after the measured window, while the run drains.
func (r *run) undo(ctx context.Context, f fault.Fault, after unit.Duration) {
	if f == nil || after == 0 {
		return
	}
	at := r.axis.Now() + int64(after)
	if r.waitForInterval(at) {
		return
	}
	r.inject(ctx, f, unit.Duration(max(0, at)).String())
}

// inject injects a fault, and returns what undoes it; nil if nothing does. It is told
// before it is done: what it brings about comes after it in the journal.
func (r *run) inject(ctx context.Context, f fault.Fault, at string) (undo fault.Fault) {
	name := f.Name()
	var err error
	done := result.Fault{StartNs: r.axis.Now()}
	done.Name, done.Target, _ = strings.Cut(name, " ")
	if aimed, open := f.(fault.Aimed); open {
		if f, err = aimed.Aim(ctx); err != nil {
			r.notDone(ctx, name, at, done.StartNs, err)
			return nil
		}
		done.Hit, done.StartNs = targetOf(f), r.axis.Now()
	}
	r.journal.event(result.Event{AtNs: done.StartNs, Kind: "fault", What: name, Reason: done.Hit})
	place := r.began(done)
	if done.Detail, err = f.Inject(ctx); err != nil {
		r.failed(ctx, place, err)
		r.notDone(ctx, name, at, done.StartNs, err)
		return nil
	}
	r.ended(place, done, f)
	if undone, can := f.(fault.Undone); can && (done.Name == scenario.Kill || done.Name == scenario.Stop || done.Name == scenario.Pause) {
		return undone.Undo()
	}
	return nil
}

// targetOf is what a fault befalls, by its name.
func targetOf(f fault.Fault) string {
	_, target, _ := strings.Cut(f.Name(), " ")
	return target
}

// notDone notes that a fault, which was to be at a time, was not done or not to its
// end, unless the run is over. One that belongs into the measured window makes it
// another run than was asked for. What fails in the drain, as the undoing of a fault,
// does not touch what was measured, but what is found out by the drain: it is a warning.
func (r *run) notDone(ctx context.Context, name, at string, startNs int64, err error) {
	if ctx.Err() != nil {
		return
	}
	text := fmt.Sprintf("%s at %s was not done: %v", name, at, err)
	r.faulting.Lock()
	if startNs < r.axis.End() {
		r.notInjected = append(r.notInjected, text)
	} else {
		r.notInDrain = append(r.notInDrain, text)
	}
	r.faulting.Unlock()
	r.journal.now("error", name+" was not done", err.Error())
}

// began notes a fault that is under way, and returns its place.
func (r *run) began(f result.Fault) (place int) {
	r.faulting.Lock()
	defer r.faulting.Unlock()
	r.injected = append(r.injected, f)
	return len(r.injected) - 1
}

// failed notes why a fault did not succeed. It stays, without an end: nobody knows how
// much of it happened, and a broker that was stopped on the way to an error is gone.
func (r *run) failed(ctx context.Context, place int, err error) {
	detail := "failed: " + err.Error()
	if ctx.Err() != nil {
		detail = "the run was over before it was done"
	}
	r.faulting.Lock()
	defer r.faulting.Unlock()
	r.injected[place].Detail = detail
}

// ended notes that a fault was done, and what that ends: a start or a resume is the
// end of what it undoes, and a restart of itself.
func (r *run) ended(place int, done result.Fault, f fault.Fault) {
	ofConsumer := strings.HasPrefix(done.Target, scenario.ConsumerTarget)
	if done.Detail != "" {
		kind := "broker"
		if ofConsumer {
			kind = scenario.ConsumerTarget
		}
		r.journal.now(kind, done.Detail, "")
	}
	at := r.axis.Now()
	if ofConsumer || done.Name == scenario.Resume {
		at = done.StartNs // the one joins in the background, the other goes on at once
	}
	r.faulting.Lock()
	defer r.faulting.Unlock()
	switch done.Name {
	case scenario.Restart:
		done.EndNs = &at
		r.endFault(targetOf(f), at)
	case scenario.Start, scenario.Resume:
		r.endFault(targetOf(f), at)
	}
	r.injected[place] = done
}

// endFault notes that a target is there again, whatever befell it. The caller holds the
// lock.
func (r *run) endFault(target string, at int64) {
	for i := range r.injected {
		f := &r.injected[i]
		if undone := f.Name == scenario.Kill || f.Name == scenario.Stop || f.Name == scenario.Pause; undone && (f.Target == target || f.Hit == target) {
			f.EndNs = cmp.Or(f.EndNs, &at)
		}
	}
}

// faultsDone are the faults that were injected, those included that failed on the way,
// in the order in which they began, once the samplers have ended.
func (r *run) faultsDone() []result.Fault { return slices.Clone(r.injected) }

// putOutKilled has the brokers forget the members of a group that could not leave, for
// whose session timeouts its deletion would have to wait: they were killed, or the
// broker was to whom they would have said it.
func (r *run) putOutKilled(ctx context.Context, group string) {
	if kills(r.cfg.Scenario) || r.replicas != nil {
		_ = r.admin.PutOut(ctx, group) // they are forgotten by themselves, only later
	}
}
