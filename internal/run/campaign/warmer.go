package campaign

import (
	"context"
	"fmt"
	"os"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/run/bench"
)

// Warmer loads the brokers of a local Kafka before the first run on them, because a JVM first has
// to compile its code. It warms up each cluster once for each kind of run.
type Warmer struct {
	Tell func(string)
	// Planned are the known scenarios of runs to come. Their kinds are warmed up before the first
	// run.
	Planned []scenario.Scenario

	on   cluster.Cluster // the last warmed-up cluster
	warm map[string]bool // kinds for which on is warm
	took time.Duration   // total time of the warm-ups of on
}

// kind is the engine of a scenario's queue, or "" for ordinary consumers.
func kind(s scenario.Scenario) string { return s.Consume.Queue.Engine }

// prepare returns the total time of the cluster's warm-ups. A nil Warmer does nothing.
func (w *Warmer) prepare(ctx context.Context, run bench.Config) (time.Duration, error) {
	if w == nil || !startedHere(run.Cluster) {
		return 0, nil
	}
	if w.on != run.Cluster {
		w.on, w.warm, w.took = run.Cluster, map[string]bool{}, 0
	}
	if w.warm[kind(run.Scenario)] {
		return w.took, nil
	}
	for _, s := range busiest(run.Scenario, w.Planned) {
		length := time.Duration(s.Cluster.Warmup)
		if length > 0 && !w.warm[kind(s)] {
			w.Tell("warming up the new brokers for " + unit.Span(length) + with(kind(s)))
			run.Scenario = s
			if err := putUnderLoad(ctx, run); err != nil {
				return 0, fmt.Errorf("warming up the brokers (cluster.warmup): %w", err)
			}
			w.took += length
		}
		w.warm[kind(s)] = true
	}
	return w.took, nil
}

// busiest returns, of those with first's cluster and driver, the scenario with the most producers
// for each kind, in the order of the kinds.
func busiest(first scenario.Scenario, planned []scenario.Scenario) (all []scenario.Scenario) {
	place := map[string]int{}
	for _, s := range append([]scenario.Scenario{first}, planned...) {
		if !sameCluster(first, s) || s.Driver != first.Driver {
			continue
		}
		switch i, known := place[kind(s)]; {
		case !known:
			place[kind(s)] = len(all)
			all = append(all, s)
		case s.Load.Producers > all[i].Load.Producers:
			all[i] = s
		}
	}
	return all
}

func with(engine string) string {
	if engine == "" {
		return ""
	}
	return " with the queue's engine " + engine
}

func startedHere(c cluster.Cluster) bool {
	_, named := c.(*cluster.Named)
	return !named && c.Info().Kind == cluster.KindKafka
}

func putUnderLoad(ctx context.Context, run bench.Config) error {
	aside, err := os.MkdirTemp("", "kafka-bench-warm-up-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(aside) }()
	run.Scenario, run.Out, run.KeepTopics = warmup(run.Scenario), aside, false
	run.Watch, run.Caveats = nil, nil
	outcome, err := bench.Run(ctx, run)
	switch {
	case err != nil:
		return err
	case outcome.Run.Run.Interrupted:
		return context.Canceled
	}
	return nil
}

const warmupDrain = 5 * time.Second

// warmup returns a scenario with one producer that sends as fast as it can. If the producers of s
// do that too, the scenario has the producers of s. It has one consumer, or the queue of s without
// drops. Each broker leads a partition.
func warmup(s scenario.Scenario) scenario.Scenario {
	w := scenario.Defaults()
	w.Name, w.Driver, w.Cluster = "warm-up", s.Driver, s.Cluster
	w.Topic = scenario.Topic{
		Partitions: max(s.Topic.Partitions, s.Cluster.Brokers), Replication: s.Topic.Replication,
		Config: s.Topic.Config,
	}
	arrival := w.Load.Arrival
	w.Load = s.Load
	w.Load.Arrival, w.Load.Processes = arrival, 1
	w.Load.Volume, w.Load.Records, w.Load.RecordsEach, w.Load.Round = 0, 0, 0, 0
	if !s.Load.Rate.IsMax() || s.Load.Producers == 0 {
		w.Load.Rate, w.Load.Producers, w.Load.Clients = unit.MaxRate, 1, 0
	}
	if s.Consume.Queue.Used() {
		w.Consume.Consumers, w.Consume.Queue = s.Consume.Consumers, s.Consume.Queue
		w.Consume.Queue.Drop = scenario.Drop{}
	}
	w.Phases = scenario.Phases{Measure: s.Cluster.Warmup, Drain: unit.Duration(warmupDrain)}
	return w.Resolve()
}

func warmsUp(s scenario.Scenario, planned []scenario.Scenario) (all time.Duration) {
	for _, k := range busiest(s, planned) {
		if k.Cluster.Warmup > 0 {
			all += time.Duration(k.Cluster.Warmup) + firstGuess
		}
	}
	return all
}
