package scenario

import (
	"math"
	"time"
)

// underWay is how long a record is on its way that waits for nobody: in a request
// to the broker, in a fetch, in the hands of the consumer that takes it, and in the
// commit that tells of it.
const underWay = 50 * time.Millisecond

// NeededBound is the lag in records that has to be allowed, of the topic, so that a
// gate holds back nothing that the consumers could have taken: by Little's law the
// rate at which records pass times the time from the gate until the gate hears of
// their end. That is the interval between two commits, as the lag falls only with a
// commit, and that between two readings of it, and what a record is under way. Where
// the consumers report what they took, no commit is waited for.
//
// The rate is the highest that is offered, or what the consumers can take if that is
// less and known: then s has an overload, and more would only wait. 0 is for a
// closed loop, which offers nothing that could be held back.
func NeededBound(s Scenario) int64 {
	if s.Load.Rate.IsMax() || s.Load.Producers == 0 {
		return 0
	}
	wait := time.Duration(s.Backpressure.Poll) + time.Duration(s.Load.Linger) + underWay
	if s.Backpressure.Signal != "delivered" && !s.Consume.Commit.EachBatch {
		wait += time.Duration(s.Consume.Commit.Interval)
	}
	return int64(math.Round(min(s.Load.peak(), s.capacity()) * wait.Seconds()))
}

// peak is the highest rate of the schedule, in records per second.
func (l Load) peak() float64 {
	highest := 0.0
	for _, s := range l.stretches() {
		if s.length > 0 {
			highest = max(highest, s.from.PerSecond(), s.to.PerSecond())
		}
	}
	return highest
}

// capacity is what the consumers of a group can take by their simulated work, in
// records per second, where it is fastest in the run. It is unbounded where a record
// takes no work, and with an existing topic, whose partitions nobody has told.
func (s Scenario) capacity() float64 {
	g := s.Consume
	fastest := g.Work.Mean()
	for _, change := range g.Changes {
		fastest = min(fastest, change.Work.Mean())
	}
	if fastest <= 0 || s.Topic.Existing != "" {
		return math.Inf(1)
	}
	workers := s.Topic.Partitions
	if g.Parallel == "consumer" {
		workers = min(workers, g.Consumers)
	}
	return float64(workers) / fastest.Seconds()
}

// allowed is the lag of the whole topic that the scenario allows, in records; 0 is
// no bound.
func (s Scenario) allowed() int64 {
	b := s.Backpressure
	if b.Per == "partition" && b.MaxLag <= math.MaxInt64/maxPartitions {
		return b.MaxLag * int64(s.Topic.Partitions)
	}
	return b.MaxLag
}
