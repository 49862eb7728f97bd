package scenario

import (
	"fmt"
	"time"

	"kafkabench.example/kafka-bench/internal/plan/unit"
)

func (c *checker) consume(s Scenario) {
	g := s.Consume
	c.between("consume.consumers", int64(g.Consumers), 0, maxWorkers)
	c.between("consume.groups", int64(g.Groups), 1, maxGroups)
	c.group(g)
	c.consumerProcesses(g)
	c.choice("consume.assignment", g.Assignment, assignments)
	c.from(s)
	c.hold(s)
	c.choice("consume.parallel", g.Parallel, parallels)
	c.choice("consume.protocol", g.Protocol, protocols)
	if !g.Commit.EachBatch {
		c.commit(g.Commit)
	}
	c.work("consume.work", g.Work)
	c.changes(g.Changes, s.Phases.Measure)
	c.fetch(g.Fetch)
	c.sessionTimeout(g)
	c.assignor(g)
	c.duration("consume.poll_timeout", g.PollTimeout, 0, unit.Duration(time.Hour))
	c.client("consume.client", g.Client)
	c.queue(s)
}

func (c *checker) assignor(g Consume) {
	const path = "consume.assignor"
	switch {
	case g.Assignor == "":
	case g.Assignment == "manual":
		c.mistake(path, "manually assigned consumers are in no group, and the tool assigns the partitions",
			"leave it out", "consume.assignment")
	case g.Protocol == "consumer":
		c.mistake(path, "with protocol consumer the broker assigns the partitions",
			"leave it out and set cluster.config.group.consumer.assignors, or choose classic", "consume.protocol")
	default:
		c.choice(path, g.Assignor, assignors)
	}
}

func (c *checker) sessionTimeout(g Consume) {
	const path = "consume.session_timeout"
	switch {
	case g.SessionTimeout == 0:
	case g.Assignment == "manual":
		c.mistake(path, "manually assigned consumers are in no group, and have no session", "leave it out",
			"consume.assignment")
	case g.Protocol == "consumer":
		c.mistake(path, "with protocol consumer the broker sets it",
			"leave it out and set cluster.config.group.consumer.session.timeout.ms, or choose classic", "consume.protocol")
	default:
		c.duration(path, g.SessionTimeout, unit.Duration(100*time.Millisecond), unit.Duration(30*time.Minute))
	}
}

func (c *checker) from(s Scenario) {
	const path = "consume.from"
	switch {
	case s.Filled() && s.Load.Producers == 0 && s.Consume.From == "end":
		c.mistake(path, "after the fill there is nothing to read, and the run has no producers",
			"leave it out, or give load.producers", "load.producers")
	case s.Topic.Existing != "" || s.Filled():
		c.choice(path, s.Consume.From, beginnings)
	case s.Consume.From != "":
		c.mistake(path, "a new topic is empty, and read from its first record",
			"leave it out, or name a topic in topic.existing", "topic.existing", "topic.fill", "topic.fill_records")
	}
}

func (c *checker) group(g Consume) {
	const path = "consume.group"
	switch {
	case g.Group == "":
	case g.Assignment == "manual":
		c.mistake(path, "manually assigned consumers are in no group", "leave it out", "consume.assignment")
	default:
		c.kafkaName(path, g.Group, "group", maxChosenLength)
	}
}

func (c *checker) consumerProcesses(g Consume) {
	const path = "consume.processes"
	switch {
	case !c.between(path, int64(g.Processes), 1, maxProcesses):
	case g.Processes > 1 && g.Processes > g.Consumers:
		c.mistake(path, fmt.Sprintf("there are fewer consumers than these %d processes: %d", g.Processes, g.Consumers),
			"give each process at least one consumer, or fewer processes", "consume.consumers")
	}
	if g.CPU != 0 {
		c.ordered("consume.cpu", g.CPU >= minCPU, g.CPU <= maxCores, fmt.Sprint(g.CPU), fmt.Sprint(minCPU),
			fmt.Sprint(maxCores))
	}
	if g.Memory != 0 {
		c.size("consume.memory", g.Memory, minMemory, 1024*unit.GiB)
	}
	for _, confined := range []struct {
		key string
		is  bool
	}{{"consume.cpu", g.CPU != 0}, {"consume.memory", g.Memory != 0}} {
		if confined.is && g.Consumers == 0 {
			c.mistake(confined.key, "there are no consumers to limit",
				"leave it out, or give consume.consumers", "consume.consumers")
		}
	}
}

func (c *checker) hold(s Scenario) {
	const path = "consume.hold"
	h, measure := s.Consume.Hold, s.Phases.Measure
	switch {
	case h.Off():
		return
	case !h.Drain && !c.duration(path, h.Until, 0, maxPhase):
	case measure > 0 && h.Until >= measure:
		c.mistake(path, fmt.Sprintf("the consumers are held until %s, and the measured window ends at %s", h.Until,
			measure),
			"let them go earlier, or write drain", measurePath)
	case h.Drain && s.Phases.Drain == 0:
		c.mistake(path, "the consumers are held until the drain, and there is none", "raise phases.drain",
			"phases.drain")
	}
	if s.Consume.Consumers == 0 {
		c.mistake(path, "there are no consumers to hold", "leave it out, or give consume.consumers",
			"consume.consumers")
	}
	if s.Load.Producers == 0 {
		c.mistake(path, "without producers no backlog grows while the consumers are held", "leave it out", "load.producers")
	}
}

func (c *checker) commit(commit Commit) {
	if commit.Interval == 0 {
		c.mistake("consume.commit", "it must be above 0", "write batch to commit after each batch")
		return
	}
	c.duration("consume.commit", commit.Interval, unit.Duration(time.Millisecond), unit.Duration(time.Hour))
}

func (c *checker) changes(changes []WorkChange, measure unit.Duration) {
	const path = "consume.changes"
	if len(changes) > maxLevels {
		c.mistake(path, fmt.Sprintf("it has %d changes", len(changes)), fmt.Sprintf("give at most %d", maxLevels))
		return
	}
	for i, change := range changes {
		at := fmt.Sprintf("%s[%d]", path, i)
		c.work(at+".work", change.Work)
		switch {
		case !c.duration(at+".at", change.At, 0, maxPhase):
		case measure > 0 && change.At >= measure:
			c.mistake(at+".at", fmt.Sprintf("the work changes at %s, and the measured window ends at %s", change.At,
				measure),
				"let it change earlier, or raise "+measurePath, measurePath)
		case i > 0 && change.At <= changes[i-1].At:
			c.mistake(at+".at", fmt.Sprintf("%s is not after the change before it, at %s", change.At, changes[i-1].At),
				"give the changes in the order of their times", fmt.Sprintf("%s[%d].at", path, i-1))
		}
	}
}

func (c *checker) fetch(f Fetch) {
	least := c.size("consume.fetch.min_bytes", f.MinBytes, 0, maxBytes)
	most := c.size("consume.fetch.max_bytes", f.MaxBytes, 0, maxBytes)
	c.size("consume.fetch.max_partition_bytes", f.MaxPartitionBytes, 0, maxBytes)
	c.duration("consume.fetch.max_wait", f.MaxWait, 0, unit.Duration(time.Minute))
	if least && most && f.MaxBytes > 0 && f.MinBytes > f.MaxBytes {
		c.mistake("consume.fetch.min_bytes", fmt.Sprintf("%s is more than max_bytes, %s", f.MinBytes, f.MaxBytes),
			"make it smaller", "consume.fetch.max_bytes")
	}
}
