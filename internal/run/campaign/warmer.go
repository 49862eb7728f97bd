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

// Warmer puts the brokers of a local Kafka under load before the first run on them,
// where its scenario asks for that: a JVM interprets what it has not yet compiled, and
// the run that comes first would pay for it, whatever it measures. Nothing of that load
// is kept. A cluster is warmed up once for each kind of run; the one that replaces it is
// another.
type Warmer struct {
	// Tell is told what takes time.
	Tell func(string)
	// Planned are the scenarios of the runs to come, as far as they are known: all
	// kinds among them are warmed up for before the first run.
	Planned []scenario.Scenario

	on   cluster.Cluster // the last that was warmed up
	warm map[string]bool // the kinds that it was warmed up for
	took time.Duration   // and for how long altogether
}

// kind is what tells apart what brokers are asked to do: the engine of a queue, and ""
// for consumers that are ordinary ones.
func kind(s scenario.Scenario) string { return s.Consume.Queue.Engine }

// prepare warms up the cluster of a run that is about to begin, unless it is warm, and
// returns for how long it was warmed up. Of a nil Warmer no cluster is.
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

// busiest has of each kind among a scenario and those that are planned on the same
// cluster the one with the most producers, in the order in which the kinds come.
func busiest(first scenario.Scenario, planned []scenario.Scenario) (all []scenario.Scenario) {
	place := map[string]int{}
	for _, s := range append([]scenario.Scenario{first}, planned...) {
		if !sameCluster(first, s) {
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

// with names the engine of a queue, if there is one.
func with(engine string) string {
	if engine == "" {
		return ""
	}
	return " with the queue's engine " + engine
}

// startedHere tells whether a cluster's brokers are JVMs that were started for the
// present runs. The embedded broker has nothing to compile, and brokers that somebody
// else has started are as warm as they are.
func startedHere(c cluster.Cluster) bool {
	_, named := c.(*cluster.Named)
	return !named && c.Info().Kind == cluster.KindKafka
}

// putUnderLoad makes a run that is thrown away.
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

// warmupDrain is the most that the consumer of a warm-up may take for what is left.
const warmupDrain = 5 * time.Second

// warmup is the load that warms up the brokers of s: one producer as fast as it goes, or
// the producers of s where they go as fast as they can, and one consumer, or the queue of
// s, of which nothing is dropped. It has the records, the settings and the replicas of s,
// in a topic of which each broker leads a partition.
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

// warmsUp is how long it takes to warm up a cluster for all kinds of runs on it, of which
// s is one, each with its topics, its group and its drain.
func warmsUp(s scenario.Scenario, planned []scenario.Scenario) (all time.Duration) {
	for _, k := range busiest(s, planned) {
		if k.Cluster.Warmup > 0 {
			all += time.Duration(k.Cluster.Warmup) + firstGuess
		}
	}
	return all
}
