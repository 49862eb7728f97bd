package campaign

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/bench"
	"kafkabench.example/kafka-bench/internal/run/observe"
)

// Source returns the cluster of a run, or why the run can have none. Runs that ask for the same
// cluster share it.
type Source interface {
	For(ctx context.Context, s scenario.Scenario) (cluster.Cluster, error)
}

// Engine makes runs, one at a time, each on the cluster that its scenario asks for.
type Engine struct {
	Source Source
	// Open returns the driver of a name. If it is nil, all runs use the driver of Bench.
	Open func(name string) (driver.Driver, error)
	// Bench configures every run, except its scenario, driver and cluster.
	Bench bench.Config
	// Ready is called before each run, when its cluster exists; nil is not called.
	Ready func(s scenario.Scenario, c cluster.Info)
	// Warmer warms up brokers that were just started, if a scenario asks for it; nil never does.
	Warmer *Warmer
	// RetryInvalid is how many times an invalid run is made again, at most.
	RetryInvalid int
	// Fleet returns the agents that make runs on a cluster; nil makes the runs in this process.
	Fleet func(ctx context.Context, c cluster.Cluster) (bench.Fleet, error)
}

// Make makes one run of s and waits for its end. It calls began, which may be nil, with the run's
// folder as soon as that exists. An error means that there was no run. An invalid run is made again
// up to RetryInvalid times, unless something ended it early: began is called again, and the last run
// names the folders of the others.
func (e Engine) Make(ctx context.Context, s scenario.Scenario, began func(dir string)) (*bench.Outcome, error) {
	var retried []string
	for {
		o, err := e.makeOne(ctx, s, began, retried)
		if err != nil || len(retried) == e.RetryInvalid || o.Run.Verdict.Status != result.Invalid || o.Run.Run.Interrupted {
			return o, err
		}
		retried = append(retried, filepath.Base(o.Dir))
		if e.Bench.Watch != nil {
			e.Bench.Watch.Event(result.Event{Kind: "progress", What: fmt.Sprintf(
				"the run in %s is invalid (%s) and is made again", o.Dir, strings.Join(o.Run.Verdict.Reasons, "; "))})
		}
	}
}

func (e Engine) makeOne(ctx context.Context, s scenario.Scenario, began func(dir string), retried []string) (
	_ *bench.Outcome, err error) {
	cfg := e.Bench
	cfg.RetryOf = retried
	if e.Open != nil {
		if cfg.Driver, err = e.Open(s.Driver); err != nil {
			return nil, err
		}
	}
	starting, cancel := e.Bench.Starting(ctx)
	defer cancel()
	c, err := e.Source.For(starting, s)
	if err != nil {
		return nil, err
	}
	cfg.Scenario, cfg.Cluster = s, c
	cfg.Guards.Remote = cfg.Guards.Remote || advertisesOthers(c)
	if cfg.WarmedUp, err = e.Warmer.prepare(ctx, cfg); err != nil {
		return nil, err
	}
	if e.Fleet != nil {
		if cfg.Fleet, err = e.Fleet(starting, c); err != nil {
			return nil, err
		}
	}
	if e.Ready != nil {
		e.Ready(s, c.Info())
	}
	if began != nil {
		cfg.Watch = watcher{began: began, next: e.Bench.Watch}
	}
	return bench.Run(ctx, cfg)
}

// advertisesOthers reports whether a broker is not on this machine, even if a tunnel leads there.
func advertisesOthers(c cluster.Cluster) bool {
	return slices.ContainsFunc(c.Bootstrap(), func(address string) bool { return !cluster.OnThisMachine(address) })
}

type watcher struct {
	began func(dir string)
	next  observe.Watcher
}

func (w watcher) Began(dir string) {
	w.began(dir)
	if w.next != nil {
		w.next.Began(dir)
	}
}

func (w watcher) Interval(i result.Interval) {
	if w.next != nil {
		w.next.Interval(i)
	}
}

func (w watcher) Event(e result.Event) {
	if w.next != nil {
		w.next.Event(e)
	}
}

// Pulse implements bench.PulseWatcher.
func (w watcher) Pulse(p result.Pulse) {
	if next, follows := w.next.(bench.PulseWatcher); follows {
		next.Pulse(p)
	}
}

// refusedSession is Kafka's error for a session timeout that a broker does not allow.
const refusedSession = "INVALID_SESSION_TIMEOUT"

// Failure wraps an error of a run with the name of its scenario, and with the key whose value a
// broker refused.
func Failure(s scenario.Scenario, err error) error {
	if strings.Contains(err.Error(), refusedSession) {
		return fmt.Errorf("scenario %s: consume.session_timeout %s: %w", s.Name, s.Consume.SessionTimeout, err)
	}
	return fmt.Errorf("scenario %s: %w", s.Name, err)
}
