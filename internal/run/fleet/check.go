package fleet

import (
	"errors"
	"fmt"

	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/run/bench"
)

// A lane is one producer's records in one partition. It takes 192 bytes on each receiving agent.
const maxLanes = 1 << 20

// Check returns everything in a scenario that this many agents cannot do, with remedies; nil if
// they can do it all. senders is how many of them send with bench.Apart.
func Check(s scenario.Scenario, of, senders int, placement string) error {
	placement = bench.Placed(s, placement)
	var faults []error
	refuse := func(bad bool, format string, args ...any) {
		if bad {
			faults = append(faults, fmt.Errorf(format, args...))
		}
	}
	l, c := s.Load, s.Consume
	if l.Record.Payload.File != "" {
		faults = append(faults, bench.ErrFileWithAgents)
	}
	refuse(len(s.Faults) > 0, "faults: with --agents nothing is broken; leave one of the two out")
	refuse(s.Backpressure.Gates() && s.Backpressure.Signal == "delivered",
		"backpressure.signal delivered: no agent knows what the others deliver; set it to committed")
	refuse(l.Processes > 1, "load.processes: each agent is a process; set it to 1, and give more --agents")
	refuse(c.Processes > 1, "consume.processes: each agent is a process; set it to 1, and give more --agents")
	refuse(c.CPU > 0, "consume.cpu: confine the agents by what starts them (systemd, Kubernetes), and leave it out")
	refuse(c.Memory > 0, "consume.memory: confine the agents by what starts them (systemd, Kubernetes), and leave it out")
	refuse(s.Backpressure.Gates() && s.Backpressure.MaxLag > 0 && s.Backpressure.MaxLag < int64(of),
		"backpressure.max_lag: %d records divided by %d agents is no record for some of them; give at least %d",
		s.Backpressure.MaxLag, of, of)
	send, receive, who := of, of, "agents"
	fewer := func(key string, n, of int) {
		refuse(n > 0 && n < of, "%s: %d are fewer than the %d %s, each of which needs one; give at least %d", key, n, of, who, of)
	}
	if placement == bench.Apart {
		send, receive = senders, of-senders
		refuse(l.Producers == 0, "load.producers: --senders have nothing to send; give at least %d, or leave out --senders and --receivers", send)
		refuse(c.Consumers == 0, "consume.consumers: --receivers have nothing to receive; give at least %d, or leave out --senders and --receivers", receive)
		who = "senders"
	}
	fewer("load.producers", l.Producers, send)
	if placement == bench.Apart {
		who = "receivers"
	}
	fewer("consume.consumers", c.Consumers, receive)
	if c.Consumers > 0 {
		fewer("topic.partitions", s.Topic.Partitions, receive)
	}
	if placement == bench.Own && l.Producers > 0 && c.Consumers > 0 {
		refuse(l.Partitioning == "key",
			"load.partitioning key: with --placement own an agent sends only to the partitions that its consumers have; choose --placement any")
		refuse(c.Groups > 1, "consume.groups: with --placement own a partition has one owner; choose --placement any")
	}
	refuse(l.Producers*s.Topic.Partitions > maxLanes, "load.producers × topic.partitions: %d lanes are more than %d; give fewer of one",
		l.Producers*s.Topic.Partitions, maxLanes)
	return errors.Join(faults...)
}
