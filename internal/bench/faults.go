package bench

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"kafka-bench/internal/result"
	"kafka-bench/internal/scenario"
	"kafka-bench/internal/unit"
)

// A fault is something that can be done to a run while it goes on.
type fault interface {
	// Name says what is done to what, as people say it: kill consumer 1.
	Name() string
	// Available is why this run can't have it done, or nil. It is asked once
	// everything is open, and before any load is offered.
	Available() error
	// Inject does it, and returns once it is done, with a sentence of what the
	// target took with it, if there is anything to say.
	Inject(ctx context.Context) (detail string, err error)
}

// scheduled is a fault with the time that the scenario has for it.
type scheduled struct {
	fault
	scenario.ScheduledFault
}

// faultsOf are the faults of the run's scenario, in the order of their times.
func (r *run) faultsOf() []scheduled {
	all := make([]scheduled, len(r.cfg.Scenario.Faults))
	for i, f := range r.cfg.Scenario.Faults {
		all[i] = scheduled{consumerFault{r.groups, f.Action(), f.Target().Number}, f}
	}
	return all
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

// checkFaults finds out before the run whether every fault can be injected.
func (r *run) checkFaults(context.Context) error {
	for _, f := range r.faultsOf() {
		if err := f.Available(); err != nil {
			return fmt.Errorf("%s at %s: %w", f.Name(), f.At, err)
		}
	}
	return nil
}

// injectFaults injects the faults at their times. A window that ends early ends the
// faults too.
func (r *run) injectFaults(all []scheduled) {
	ctx, cancel := r.whileSampling()
	defer cancel()
	for _, f := range all {
		if r.waitForInterval(int64(f.At)) || r.axis.Now() >= r.axis.End() {
			return
		}
		r.inject(ctx, f)
	}
}

// inject injects a fault. It is told before it is done: what it brings about comes
// after it in the journal.
func (r *run) inject(ctx context.Context, f scheduled) {
	done := result.Fault{Name: f.Action(), Target: f.Target().String(), StartNs: r.axis.Now()}
	r.journal.event(result.Event{AtNs: done.StartNs, Kind: "fault", What: f.Name()})
	var err error
	if done.Detail, err = f.Inject(ctx); err != nil {
		if r.axis.Now() < r.axis.End() { // else the run ended before it was done
			r.notInjected = append(r.notInjected, fmt.Sprintf("%s at %s was not done: %v", f.Name(), f.At, err))
			r.journal.now("error", f.Name()+" was not done", err.Error())
		}
		return
	}
	if done.Detail != "" {
		r.journal.now("consumer", done.Detail, "")
	}
	if done.Name == scenario.Start {
		r.endFault(done.Target, done.StartNs)
	}
	r.injected = append(r.injected, done)
}

// endFault notes that a target is there again.
func (r *run) endFault(target string, at int64) {
	for i := range slices.Backward(r.injected) {
		if f := &r.injected[i]; f.Target == target && f.Name != scenario.Start {
			f.EndNs = cmp.Or(f.EndNs, &at)
			return
		}
	}
}

// warningsOfTheFaults say which faults there was no time for.
func (r *run) warningsOfTheFaults() (warnings []string) {
	if r.interrupted {
		return nil // that says enough
	}
	for _, f := range r.cfg.Scenario.Faults {
		if int64(f.At) >= r.axis.End() {
			warnings = append(warnings, fmt.Sprintf("%s at %s did not happen: the measured window had ended", f, f.At))
		}
	}
	return warnings
}

// killed names the consumers that were killed, each once; empty where none was.
func (r *run) killed() string {
	var names []string
	for _, f := range r.injected {
		if f.Name == scenario.Kill && !slices.Contains(names, f.Target) {
			names = append(names, f.Target)
		}
	}
	return strings.Join(names, " and ")
}

// putOutKilled has the brokers forget the killed members of a group, for whose
// session timeouts its deletion would have to wait.
func (r *run) putOutKilled(ctx context.Context, group string) {
	if r.killed() != "" {
		_ = r.admin.PutOut(ctx, group) // they are forgotten by themselves, only later
	}
}

// duplicatesWarning says of duplicates whether they were to be expected.
func (r *run) duplicatesWarning() string {
	if who := r.killed(); who != "" {
		return "%s deliveries were duplicates, as is to be expected after a kill: what " + who + " had not committed was delivered again"
	}
	return "%s deliveries were duplicates"
}

// consumerFault is what a scenario does to the consumer of a number, in every group.
type consumerFault struct {
	groups groups
	action string
	number int
}

func (f consumerFault) Name() string { return fmt.Sprintf("%s consumer %d", f.action, f.number) }

// Available wants a driver that can kill where it is to.
func (f consumerFault) Available() error {
	if f.action != scenario.Kill {
		return nil
	}
	for _, g := range f.groups {
		if err := g.CanKill(); err != nil {
			return err
		}
	}
	return nil
}

func (f consumerFault) Inject(context.Context) (string, error) {
	var details []string
	for i := range f.groups {
		detail, err := f.injectInto(i)
		if err != nil {
			return "", err
		}
		if detail != "" {
			details = append(details, detail)
		}
	}
	return strings.Join(details, "; "), nil
}

func (f consumerFault) injectInto(group int) (detail string, err error) {
	g := f.groups[group]
	switch f.action {
	case scenario.Start:
		return "", g.Start(f.number)
	case scenario.Stop:
		return "", g.Leave(f.number)
	}
	loss, err := g.Kill(f.number)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("consumer %d had partitions %v, and had not committed %s records that it was handed",
		f.number, loss.Partitions, unit.Count(loss.Uncommitted)), nil
}
