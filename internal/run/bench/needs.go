package bench

import (
	"errors"
	"fmt"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/plan/native"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/run/fault"
)

// A Need is something that a scenario asks of the client under test, and that some clients lack.
type Need struct {
	Capability driver.Capability
	Key        string // of the scenario
	Remedy     string // how to do without it
}

// NeedsOf returns what s needs of its client, in the order of the scenario's keys. Without one of
// its needs, a run would fail or measure something else. A capability without which only figures
// are missing is no need.
func NeedsOf(s scenario.Scenario) (needs []Need) {
	add := func(needed bool, n Need) {
		if needed {
			needs = append(needs, n)
		}
	}
	l, c := s.Load, s.Consume
	filled := s.Filled()
	if l.Producers > 0 || filled {
		_, alone := s.OneRecordBound(driver.LeastBatchBytes) // any client can send these in batches of one
		add(l.Batch == scenario.OneRecord && !alone,
			Need{driver.OneRecordBatches, "load.batch", "give a size, as in 64KiB, or records of one size from 256B"})
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
	alone := c.Processes > 1 && c.Processes >= c.Consumers // then the process is killed
	add(kills(s) && !alone, Need{driver.KillConsumer, "faults",
		"give each consumer its own process (consume.processes), or stop or pause it"})
	return needs
}

// CheckClients returns the settings of s that its client refuses, under the scenario's names and its
// own; nil if there are none. It opens no connection.
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
	check := func(of string, opened bool, table native.Table, given map[string]string, try func() error) {
		path, refused := of, table.Check(given)
		if len(given) > 0 {
			path += ".client"
		}
		for _, fault := range refused {
			faults = append(faults, fmt.Errorf("%s.%w", path, fault))
		}
		if opened && len(refused) == 0 {
			if err := try(); err != nil {
				faults = append(faults, fmt.Errorf("%s: %w", path, err))
			}
		}
	}
	check("load", l.Producers > 0 || s.Filled(), produces, l.Client, func() error { return tuner.TryProducer(producer) })
	check("consume", c.Consumers > 0 && !c.Queue.Used(), consumes, c.Client, func() error { return tuner.TryConsumer(consumer) })
	return errors.Join(faults...)
}

// CheckTopic returns why s has no existing topic to use; nil if it may have one. fresh reports whether
// the cluster is started for the run.
func CheckTopic(s scenario.Scenario, fresh bool) error {
	switch name := s.Topic.Existing; {
	case name == scenario.YourTopic:
		return fmt.Errorf("topic.existing: %s stands for a topic of yours; give --set topic.existing=TOPIC, and its cluster with --brokers",
			name)
	case name != "" && fresh:
		return fmt.Errorf("topic.existing: a cluster that is started for the run has no topic %q; name its cluster with --brokers or --cluster, or leave it out",
			name)
	}
	return nil
}

// CheckFaults returns why the broker faults of s cannot hit a cluster of this kind
// (cluster.KindKafka and so on), or a cluster that is kept after the run; nil if they can.
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

func kills(s scenario.Scenario) bool {
	for _, f := range s.Faults {
		if f.Action() == scenario.Kill && f.Target().Kind == scenario.ConsumerTarget {
			return true
		}
	}
	return false
}
