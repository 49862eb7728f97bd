package scenario

import (
	"math"
	"time"
)

// underWay is the assumed time of a record's produce request, fetch, processing and commit.
const underWay = 50 * time.Millisecond

// NeededBound returns the smallest lag bound of the topic, in records, with which a gate does not
// slow down the consumers. By Little's law it is the rate, times the time until the gate sees the
// end of a record: the commit interval (none for the signal "delivered"), the interval between lag
// readings, the linger and underWay.
//
// The rate is the highest offered rate, or the consumers' capacity if that is lower and known. The
// result is 0 for a closed loop and without producers.
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

func (l Load) peak() float64 {
	highest := 0.0
	for _, s := range l.stretches() {
		if s.length > 0 {
			highest = max(highest, s.from.PerSecond(), s.to.PerSecond())
		}
	}
	return highest
}

// capacity returns how many records per second all consumers can process, with the fastest work of
// the run. It is infinite without work, and for an existing topic, whose partitions are unknown.
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
