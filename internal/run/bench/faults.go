package bench

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/probe"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/fault"
	"kafkabench.example/kafka-bench/internal/run/judge"
	"kafkabench.example/kafka-bench/internal/run/observe"
	"kafkabench.example/kafka-bench/internal/run/remote"
)

type faults struct {
	*base
	observer *observe.Observer
	groups   remote.Groups
	replicas *observe.Replicas // nil without faults of brokers
	mended   bool

	mu   sync.Mutex // guards seen
	seen judge.Faults
}

type scheduled struct {
	fault.Fault
	scenario.ScheduledFault
}

func (fs *faults) planned() []scheduled {
	on := fs.stand()
	all := make([]scheduled, len(fs.cfg.Scenario.Faults))
	for i, f := range fs.cfg.Scenario.Faults {
		all[i] = scheduled{fault.New(f, on), f}
	}
	return all
}

func (fs *faults) stand() fault.Stand {
	on := fault.Stand{
		Cluster: fs.cfg.Cluster, Partitions: fs.topic.Partitions,
		Tell: func(s fault.Step) { fs.journal.Stamp(result.Event{Kind: "broker", What: s.What, Data: s.Data}) },
	}
	for _, g := range fs.groups {
		on.Groups = append(on.Groups, g)
	}
	if len(fs.groups) > 1 {
		on.GroupNames = fs.groupIDs
	}
	if fs.replicas != nil {
		on.Topic = fs.replicas
	}
	return on
}

// numbers returns how many consumers there can be, including those that faults start.
func numbers(s scenario.Scenario) int {
	bound := s.Consume.Consumers
	for _, f := range s.Faults {
		if t := f.Target(); t.Kind == scenario.ConsumerTarget {
			bound = max(bound, t.Number+1)
		}
	}
	return bound
}

func (fs *faults) check(ctx context.Context) error {
	for _, f := range fs.planned() {
		if err := f.Available(); err != nil {
			return fmt.Errorf("%s at %s: %w", f.Name(), f.At, err)
		}
	}
	if !breaksBrokers(fs.cfg.Scenario) {
		return nil
	}
	fs.couldNotLeave = true
	reader, err := probe.NewReplicaReader(fs.seeds(), fs.access(), fs.topic.Name)
	if err != nil {
		return err
	}
	fs.replicas, err = observe.OpenReplicas(ctx, fs.axis, fs.journal, reader,
		time.Duration(fs.cfg.Scenario.Sampling.Replicas))
	return err
}

func breaksBrokers(s scenario.Scenario) bool { return slices.ContainsFunc(s.Faults, fault.OfBrokers) }

// An interrupt stops injectAll. Faults of consumers run in the scenario's order, those of brokers
// concurrently, because a broker may take long.
func (fs *faults) injectAll(ctx context.Context, all []scheduled) {
	ctx, giveUp := fs.cfg.Starting(ctx)
	defer giveUp()
	var underway sync.WaitGroup
	defer underway.Wait()
	for _, f := range all {
		if fs.observer.WaitUntil(int64(f.At)) || fs.axis.Now() >= fs.axis.End() {
			return
		}
		if fault.OfBrokers(f.ScheduledFault) {
			underway.Go(func() { fs.injectFor(ctx, f.Fault, f.ScheduledFault) })
			continue
		}
		undo := fs.inject(ctx, f.Fault, f.At.String())
		underway.Go(func() { fs.undo(ctx, undo, f.For) })
	}
}

func (fs *faults) injectFor(ctx context.Context, f fault.Fault, planned scenario.ScheduledFault) {
	fs.undo(ctx, fs.inject(ctx, f, planned.At.String()), planned.For)
}

// undo injects f after a delay, if necessary during the drain; a nil f undoes nothing.
func (fs *faults) undo(ctx context.Context, f fault.Fault, after unit.Duration) {
	if f == nil || after == 0 {
		return
	}
	at := fs.axis.Now() + int64(after)
	if fs.observer.WaitUntil(at) {
		return
	}
	fs.inject(ctx, f, unit.Duration(max(0, at)).String())
}

// inject returns the fault that undoes f, or nil. It writes the event first, so that consequences
// follow it in the journal.
func (fs *faults) inject(ctx context.Context, f fault.Fault, at string) (undo fault.Fault) {
	name := f.Name()
	var err error
	done := result.Fault{StartNs: fs.axis.Now()}
	done.Name, done.Target, _ = strings.Cut(name, " ")
	if aimed, open := f.(fault.Aimed); open {
		if f, err = aimed.Aim(ctx); err != nil {
			fs.notDone(ctx, name, at, done.StartNs, err)
			return nil
		}
		done.Hit, done.StartNs = targetOf(f), fs.axis.Now()
	}
	fs.journal.Event(result.Event{AtNs: done.StartNs, Kind: "fault", What: name, Reason: done.Hit, Data: dataOf(done)})
	place := fs.began(done)
	step, err := f.Inject(ctx)
	if err != nil {
		fs.failedAt(ctx, place, err)
		fs.notDone(ctx, name, at, done.StartNs, err)
		return nil
	}
	done.Detail = step.What
	fs.ended(place, done, f, step.Data)
	if undone, can := f.(fault.Undone); can && scenario.Opposite(done.Name) != "" {
		return undone.Undo()
	}
	return nil
}

func dataOf(f result.Fault) map[string]any {
	data := map[string]any{"name": f.Name, "target": f.Target, "state": "begin"}
	if scenario.Mends(f.Name) {
		data["state"] = "end"
	}
	if f.Hit != "" {
		data["hit"] = f.Hit
	}
	return data
}

func targetOf(f fault.Fault) string {
	_, target, _ := strings.Cut(f.Name(), " ")
	return target
}

// A failure in the measured window makes the run invalid; one in the drain is a warning.
func (fs *faults) notDone(ctx context.Context, name, at string, startNs int64, err error) {
	if ctx.Err() != nil {
		return
	}
	text := fmt.Sprintf("%s at %s was not done: %v", name, at, err)
	fs.mu.Lock()
	if startNs < fs.axis.End() {
		fs.seen.NotDone = append(fs.seen.NotDone, text)
	} else {
		fs.seen.NotInDrain = append(fs.seen.NotInDrain, text)
	}
	fs.mu.Unlock()
	fs.journal.Now("error", name+" was not done", err.Error())
}

func (fs *faults) began(f result.Fault) (place int) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.seen.Injected = append(fs.seen.Injected, f)
	fs.couldNotLeave = fs.couldNotLeave || f.Name == scenario.Kill
	return len(fs.seen.Injected) - 1
}

// failedAt leaves the fault without an end: it may have taken effect in part.
func (fs *faults) failedAt(ctx context.Context, place int, err error) {
	detail := "failed: " + err.Error()
	if ctx.Err() != nil {
		detail = "the run was over before it was done"
	}
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.seen.Injected[place].Detail = detail
}

// A start or resume ends the fault that it undoes; a restart ends itself.
func (fs *faults) ended(place int, done result.Fault, f fault.Fault, data map[string]any) {
	ofConsumer := strings.HasPrefix(done.Target, scenario.ConsumerTarget)
	if done.Detail != "" {
		kind := "broker"
		if ofConsumer {
			kind = scenario.ConsumerTarget
		}
		fs.journal.Stamp(result.Event{Kind: kind, What: done.Detail, Data: data})
	}
	at := fs.axis.Now()
	if ofConsumer || done.Name == scenario.Resume {
		at = done.StartNs // a consumer joins in the background; a resumed broker continues at once
	}
	if done.Name == scenario.Restart {
		done.EndNs = &at
		data := dataOf(done)
		data["state"] = "end"
		fs.journal.Event(result.Event{
			AtNs: at, Kind: "fault", What: done.Name + " " + done.Target + " is done", Reason: done.Hit, Data: data,
		})
	}
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if scenario.Opposite(done.Name) == "" {
		fs.endFault(targetOf(f), at)
	}
	fs.seen.Injected[place] = done
}

// fs.mu is held.
func (fs *faults) endFault(target string, at int64) {
	for i := range fs.seen.Injected {
		f := &fs.seen.Injected[i]
		if scenario.Opposite(f.Name) != "" && (f.Target == target || f.Hit == target) {
			f.EndNs = cmp.Or(f.EndNs, &at)
		}
	}
}
