package bench

import (
	"errors"
	"fmt"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/plan/native"
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
		add(l.Batch == scenario.OneRecord, Need{driver.OneRecordBatches, "load.batch", "give a size, as in 64KiB"})
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
	const common = "set it to " + driver.Range + " or " + driver.RoundRobin
	add(c.Assignor == driver.Sticky, Need{driver.StickyAssignor, "consume.assignor", common})
	add(c.Assignor == driver.Cooperative, Need{driver.CooperativeSticky, "consume.assignor", common})
	add(c.SessionTimeout > 0, Need{driver.SessionTimeouts, "consume.session_timeout", "leave it out"})
	add(kills(s), Need{driver.KillConsumer, "faults", "stop the consumer, or pause it"})
	return needs
}

// CheckClients returns what the driver, or its client, has against the settings that s gives the
// client by its own names; nil if it gives none. No connection is opened.
func CheckClients(s scenario.Scenario, d driver.Driver) error {
	l, c := s.Load, s.Consume
	tuner, able := d.(driver.Tuner)
	if !able {
		if len(l.Client)+len(c.Client) > 0 {
			return fmt.Errorf("load.client and consume.client: the driver %s passes no settings on; leave them out", d.Name())
		}
		return nil
	}
	const nowhere, any = "localhost:1", "any"
	produces, consumes := tuner.Tables()
	producer, consumer := producerConfig(s, d), consumerConfig(c)
	producer.Brokers, producer.Topic, producer.OnDone = []string{nowhere}, any, func(driver.Done) {}
	consumer.Brokers, consumer.Topic, consumer.Group = []string{nowhere}, any, any
	var faults []error
	check := func(path string, table native.Table, given map[string]string, try func() error) {
		refused := table.Check(given)
		for _, fault := range refused {
			faults = append(faults, fmt.Errorf("%s.%w", path, fault))
		}
		if len(given) > 0 && len(refused) == 0 {
			if err := try(); err != nil {
				faults = append(faults, fmt.Errorf("%s: %w", path, err))
			}
		}
	}
	check("load.client", produces, l.Client, func() error { return tuner.TryProducer(producer) })
	check("consume.client", consumes, c.Client, func() error { return tuner.TryConsumer(consumer) })
	return errors.Join(faults...)
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
