// Package peers runs Kafka's own performance tools in turns with our runs, on the same cluster.
// The tools get the same shape of topic and the same client settings.
//
// Many users know the figures of kafka-producer-perf-test and kafka-consumer-perf-test, but these
// tools make other experiments than ours. kafka-producer-perf-test has one producer, and its
// --throughput is an upper limit of the rate, not a schedule. kafka-consumer-perf-test reads a topic
// that was filled before. [Differences] returns all differences for a scenario; every run of a tool
// has them as warnings.
//
// A [Pair] runs both tools once: the second consumes what the first produced.
//
// Files to know: peers.go, pair.go.
package peers

import (
	"errors"
	"fmt"
	"time"

	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/plan/unit"
)

// Names of the tools, as of Kafka's scripts.
const (
	Producer = "kafka-producer-perf-test"
	Consumer = "kafka-consumer-perf-test"
)

// Check returns every part of the scenario that the tools cannot do. Parts that they do differently
// are no mistake; see Differences.
func Check(s scenario.Scenario) error {
	var faults []error
	refuse := func(wrong bool, format string, args ...any) {
		if wrong {
			faults = append(faults, fmt.Errorf("scenario %s: "+format, append([]any{s.Name}, args...)...))
		}
	}
	refuse(s.Load.Producers == 0, "load.producers is 0, and the peers read only records that they produced; give at least 1")
	refuse(s.Load.Arrival.Process != "constant", "load.arrival is %s, and %s has a constant rate or none; use constant", s.Load.Arrival.Process, Producer)
	refuse(s.Load.Record.Size.Distribution != "fixed", "load.record.size is %s, and %s has one size; give one, as in 512B", s.Load.Record.Size.Distribution, Producer)
	refuse(s.Load.Record.Keys.Distribution != "none", "load.record.keys is %s, and %s sends no keys; use none", s.Load.Record.Keys.Distribution, Producer)
	refuse(s.Topic.Existing != "", "topic.existing is %s, and the peers create their own topic; leave it out", s.Topic.Existing)
	refuse(s.Backpressure.Controller != "off", "backpressure is %s, and %s has none; use off", s.Backpressure.Controller, Producer)
	refuse(s.Load.Volume != 0, "load.volume is %v, and the peers run for a time; leave it out", s.Load.Volume)
	refuse(s.Load.Count() != 0, "load.records is %d, and the peers run for a time; leave it out", s.Load.Count())
	refuse(s.Load.Round != 0, "load.round is %d, and %s waits for no round; leave it out", s.Load.Round, Producer)
	return errors.Join(faults...)
}

// Differences returns what the tools do differently from our run of the scenario.
func Differences(s scenario.Scenario) []string {
	all := []string{
		fmt.Sprintf("%s reads the filled topic as fast as it can, with one consumer, its own fetch settings and no work; ours reads while the load is on", Consumer),
	}
	if s.Load.Producers > 1 {
		all = append(all, fmt.Sprintf("%s has one producer, ours %d", Producer, s.Load.Producers))
	}
	if s.Load.Compression != "none" {
		all = append(all, fmt.Sprintf("%s sends capital letters at random, ours %s: they compress differently", Producer, s.Load.Record.Payload))
	}
	if s.Load.Rate.IsMax() {
		all = append(all, fmt.Sprintf("%s sends as many records as ours acked in the time", Producer))
	} else {
		all = append(all, fmt.Sprintf("for %s the rate is a ceiling, for ours a schedule: it does not count the records that it could not send", Producer))
	}
	if len(s.Load.Client)+len(s.Consume.Client) > 0 {
		all = append(all, fmt.Sprintf("load.client and consume.client are settings of %s, so that only ours has them", s.Driver))
	}
	if time.Duration(s.Load.Linger)%time.Millisecond != 0 {
		all = append(all, fmt.Sprintf("linger %v is rounded up to whole milliseconds for %s", s.Load.Linger, Producer))
	}
	return all
}

func records(s scenario.Scenario, perSecond float64) (warmup, all int64) {
	if !s.Load.Rate.IsMax() {
		perSecond = s.Load.Rate.PerSecond()
	}
	in := func(d unit.Duration) int64 { return int64(perSecond * time.Duration(d).Seconds()) }
	warmup = in(s.Phases.Warmup)
	return warmup, warmup + max(in(s.Phases.Measure), 1)
}
