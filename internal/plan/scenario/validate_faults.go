package scenario

import (
	"fmt"
	"slices"
	"strings"

	"kafkabench.example/kafka-bench/internal/plan/unit"
)

func (c *checker) faults(s Scenario) {
	const path = "faults"
	if len(s.Faults) > maxLevels {
		c.mistake(path, fmt.Sprintf("it has %d faults", len(s.Faults)), fmt.Sprintf("give at most %d", maxLevels))
		return
	}
	if slices.ContainsFunc(s.Faults, func(f ScheduledFault) bool { return f.Target().Kind == ConsumerTarget }) &&
		!c.oneGroup(s.Consume) {
		return
	}
	crew, brokers := newCrew(s.Consume.Consumers), newBrokers(s.Cluster.Brokers)
	for i, f := range s.Faults {
		at := fmt.Sprintf("%s[%d]", path, i)
		c.faultTime(at, f.At, s, i)
		acts := f.acts()
		if len(acts) != 1 {
			c.mistake(at, fmt.Sprintf("it does %d things", len(acts)),
				"give exactly one of kill, stop, start, pause, resume and restart, as in {at: 10s, kill: consumer 0}")
			continue
		}
		c.lasting(at, f)
		crew.until(f.At)
		brokers.until(f.At)
		switch f.Target().Kind {
		case ConsumerTarget:
			c.consumerFate(at, f, crew)
		case BrokerTarget:
			c.brokerFate(at, f, brokers, s.Faults[:i])
		default:
			c.unnamed(at, f, s)
		}
	}
}

// A fault names only a consumer's number.
func (c *checker) oneGroup(g Consume) bool {
	const path = "faults"
	switch {
	case g.Consumers == 0:
		c.mistake(path, "there are no consumers for a fault", "leave it out, or give consume.consumers",
			"consume.consumers")
		return false
	case g.Assignment == "manual":
		c.mistake(path, "manually assigned consumers are in no group, so the others would not notice a fault",
			"leave it out, or set consume.assignment: group", "consume.assignment")
		return false
	case g.Groups > 1:
		c.mistake(path, fmt.Sprintf("a consumer's number does not say in which of the %d groups it is", g.Groups),
			"leave it out, or set consume.groups: 1", "consume.groups")
	}
	return true
}

func (c *checker) faultTime(at string, when unit.Duration, s Scenario, i int) {
	measure := s.Phases.Measure
	switch {
	case !c.duration(at+".at", when, 0, maxPhase):
	case measure > 0 && when >= measure:
		c.mistake(at+".at", fmt.Sprintf("the fault comes at %s, and the measured window ends at %s", when, measure),
			"let it come earlier, or raise "+measurePath, measurePath)
	case i > 0 && when < s.Faults[i-1].At:
		c.mistake(at+".at", fmt.Sprintf("%s is before the previous fault, at %s", when, s.Faults[i-1].At),
			"give the faults in the order of their times", fmt.Sprintf("faults[%d].at", i-1))
	}
}

func (c *checker) lasting(at string, f ScheduledFault) {
	path := at + ".for"
	if f.For != 0 && c.duration(path, f.For, 1, maxPhase) && Opposite(f.Action()) == "" {
		c.mistake(path, f.Action()+" has no duration", "leave it out; only kill, stop and pause have one",
			at+"."+f.Action())
	}
}

// A consumer with the next free number may start.
func (c *checker) consumerFate(at string, f ScheduledFault, crew *party) {
	const given = "consume.consumers"
	n, action := f.Target().Number, f.Action()
	path := at + "." + action
	is, known := crew.is(n)
	switch {
	case action == Start && !known && n == crew.next() && n < maxWorkers:
	case action == Start && !known:
		c.mistake(path, fmt.Sprintf("consumer %d cannot be the next to join", n),
			fmt.Sprintf("start consumer %d", min(crew.next(), maxWorkers-1)), given)
		return
	case action == Start && is == running:
		c.mistake(path, fmt.Sprintf("consumer %d is running", n),
			fmt.Sprintf("stop it before, or start consumer %d for one more", crew.next()), given)
	case !known:
		c.mistake(path, fmt.Sprintf("there is no consumer %d", n), "they are "+crew.numbers(), given)
		return
	default:
		c.befalls(path, f, is, given)
	}
	crew.set(n, f)
}

// No broker can be added. After a fault of a partition's leader the states are unknown.
func (c *checker) brokerFate(at string, f ScheduledFault, brokers *party, earlier []ScheduledFault) {
	const given = "cluster.brokers"
	n, action := f.Target().Number, f.Action()
	path := at + "." + action
	is, known := brokers.is(n)
	someLeader := slices.ContainsFunc(earlier, func(e ScheduledFault) bool {
		return e.Target().Kind == LeaderTarget && Opposite(e.Action()) != ""
	})
	switch {
	case !known:
		c.mistake(path, fmt.Sprintf("there is no broker %d", n), "they are "+brokers.numbers(), given)
		return
	case someLeader:
	case action == Start && is == running:
		c.mistake(path, fmt.Sprintf("broker %d is running", n), "kill or stop it before", given)
	default:
		c.befalls(path, f, is, given)
	}
	brokers.set(n, f)
}

func (c *checker) befalls(path string, f ScheduledFault, is state, given string) {
	who, action := f.Target(), f.Action()
	switch {
	case action == Resume && is != paused:
		c.mistake(path, fmt.Sprintf("%s is not paused", who), "pause it before", given)
	case action == Start && is == paused:
		c.mistake(path, fmt.Sprintf("%s is paused, not stopped", who), "resume it", given)
	case action != Start && action != Resume && is == gone:
		c.mistake(path, fmt.Sprintf("%s is not running any more", who), "start it before", given)
	case action != Kill && action != Resume && is == paused:
		c.mistake(path, fmt.Sprintf("%s is paused", who), "resume it before", given)
	}
}

func (c *checker) unnamed(at string, f ScheduledFault, s Scenario) {
	path := at + "." + f.Action()
	switch t := f.Target(); {
	case t.Kind == EveryBroker && f.Action() != Restart:
		c.mistake(path, "without any broker nothing is left to measure",
			"write restart: every broker, which takes one after the other, or name one, as in broker 1")
	case t.Kind == EveryBroker:
	case f.Action() == Start || f.Action() == Resume:
		c.mistake(path, "a partition's leader is running",
			"name the broker, as in broker 1, or write for: 5s in the fault that stops it")
	case s.Topic.Existing == "" && t.Number >= s.Topic.Partitions:
		c.mistake(path, fmt.Sprintf("there is no partition %d", t.Number),
			"they are 0 to "+fmt.Sprint(s.Topic.Partitions-1), "topic.partitions")
	}
}

func (t Target) befallsBrokers() bool { return t.Kind != "" && t.Kind != ConsumerTarget }

func (s Scenario) brokerFaults() (all []ScheduledFault) {
	for _, f := range s.Faults {
		if f.Target().befallsBrokers() {
			all = append(all, f)
		}
	}
	return all
}

func (s Scenario) brokerFaultWarnings() (w warnings) {
	befallen := s.brokerFaults()
	if len(befallen) == 0 || s.Topic.Existing != "" {
		return nil
	}
	alone := s.Topic.Replication < 2
	w.when(alone, "faults: topic.replication is %d: no other broker can lead the partitions of a missing broker, so they are unavailable", s.Topic.Replication)
	needed := s.Topic.Config["min.insync.replicas"]
	w.when(!alone && s.Load.Acks == "all" && strings.TrimSpace(needed) == fmt.Sprint(s.Topic.Replication),
		"faults: min.insync.replicas is %s of %d replicas: while a broker is away its partitions accept no writes with acks all", needed, s.Topic.Replication)
	return w
}
