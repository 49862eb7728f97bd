package campaign

import (
	"context"
	"fmt"
	"os"
	"time"

	"kafka-bench/internal/bench"
	"kafka-bench/internal/cluster"
	"kafka-bench/internal/scenario"
	"kafka-bench/internal/unit"
)

// Warmer puts the brokers of a local Kafka under load before the first run on them,
// where its scenario asks for that: a JVM interprets what it has not yet compiled, and
// the run that comes first would pay for it, whatever it measures. Nothing of that load
// is kept. A cluster is warmed up once; the one that replaces it is another.
type Warmer struct {
	// Tell is told what takes time.
	Tell func(string)

	warm cluster.Cluster // the last that was warmed up
	took time.Duration   // and for how long it was
}

// prepare warms up the cluster of a run that is about to begin, unless it is warm, and
// returns for how long it was warmed up. Of a nil Warmer no cluster is.
func (w *Warmer) prepare(ctx context.Context, run bench.Config) (time.Duration, error) {
	if w == nil || !startedHere(run.Cluster) {
		return 0, nil
	}
	if w.warm == run.Cluster {
		return w.took, nil
	}
	length := time.Duration(run.Scenario.Cluster.Warmup)
	if length > 0 {
		w.Tell("warming up the new brokers for " + unit.Span(length))
		if err := putUnderLoad(ctx, run); err != nil {
			return 0, fmt.Errorf("warming up the brokers (cluster.warmup): %w", err)
		}
	}
	w.warm, w.took = run.Cluster, length
	return length, nil
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

// warmup is the load that warms up the brokers of s: one producer as fast as it goes and
// one consumer, with the records, the settings and the replicas of s, in a topic of which
// each broker leads a partition.
func warmup(s scenario.Scenario) scenario.Scenario {
	w := scenario.Defaults()
	w.Name, w.Driver, w.Cluster = "warm-up", s.Driver, s.Cluster
	w.Topic = scenario.Topic{
		Partitions: max(s.Topic.Partitions, s.Cluster.Brokers), Replication: s.Topic.Replication, Config: s.Topic.Config,
	}
	arrival := w.Load.Arrival
	w.Load = s.Load
	w.Load.Rate, w.Load.Arrival, w.Load.Volume = unit.MaxRate, arrival, 0
	w.Load.Producers, w.Load.Processes, w.Load.Clients = 1, 1, 0
	w.Phases = scenario.Phases{Measure: s.Cluster.Warmup, Drain: unit.Duration(warmupDrain)}
	return w.Resolve()
}

// warmsUp is how long that takes, with the topic, the group and the drain.
func warmsUp(s scenario.Scenario) time.Duration {
	if s.Cluster.Warmup == 0 {
		return 0
	}
	return time.Duration(s.Cluster.Warmup) + firstGuess
}
