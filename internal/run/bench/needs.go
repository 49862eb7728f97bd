package bench

import (
	"fmt"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/run/fault"
)

// A Need is something that a scenario asks of the client under test beyond producing,
// consuming and committing, which not every client has.
type Need struct {
	Capability driver.Capability
	Key        string // of the scenario, that asks for it
	Remedy     string // what would do without
}

// NeedsOf are what a run of s needs of its client, in the order of the scenario's
// keys. Of a client that lacks one of them the run would fail, or measure something
// else than it was asked to. What only takes figures away is none: they are not
// measured, and the result says so.
func NeedsOf(s scenario.Scenario) (needs []Need) {
	add := func(needed bool, n Need) {
		if needed {
			needs = append(needs, n)
		}
	}
	l, c := s.Load, s.Consume
	filled := s.Filled()
	if l.Producers > 0 || filled {
		add(l.Level != 0, Need{driver.CompressionLevels, "load.level", "leave it out"})
		add(l.Idempotent, Need{driver.Idempotence, "load.idempotent", "set it to false"})
		add(l.InFlight != scenario.Defaults().Load.InFlight,
			Need{driver.InFlightLimit, "load.in_flight", "leave it out"})
	}
	if c.Consumers == 0 || c.Queue.Used() { // a queue has clients of its own
		return needs
	}
	add(filled && l.Producers == 0, Need{driver.PausePartitions, s.FillKey(),
		"give load.producers: without, the consumers are held until the topic is filled"})
	add(c.Assignment == "manual", Need{driver.ManualPartitions, "consume.assignment", "set it to group"})
	add(!c.Hold.Off(), Need{driver.PausePartitions, "consume.hold", "leave it out"})
	add(c.Parallel == "partition" && c.Works(),
		Need{driver.PausePartitions, "consume.parallel",
			"set it to consumer: a partition with a backlog of its own has to be paused"})
	add(c.Protocol == "consumer", Need{driver.ServerGroups, "consume.protocol", "set it to classic"})
	add(c.SessionTimeout > 0, Need{driver.SessionTimeouts, "consume.session_timeout", "leave it out"})
	add(kills(s), Need{driver.KillConsumer, "faults", "stop the consumer, or pause it"})
	return needs
}

// CheckFaults says why the faults of s can't befall the brokers of a cluster of a kind
// (cluster.KindKafka and so on), or of one that is kept up after the run; nil if they can,
// or befall none.
func CheckFaults(s scenario.Scenario, kind string, kept bool) error {
	for _, f := range s.Faults {
		if !fault.OfBrokers(f) {
			continue
		}
		if err := fault.Refusal(kind, kept); err != nil {
			return fmt.Errorf("%s at %s: %w", f, f.At, err)
		}
	}
	return nil
}

// kills tells whether a consumer is to vanish.
func kills(s scenario.Scenario) bool {
	for _, f := range s.Faults {
		if f.Action() == scenario.Kill && f.Target().Kind == scenario.ConsumerTarget {
			return true
		}
	}
	return false
}
