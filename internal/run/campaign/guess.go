package campaign

import (
	"math"
	"time"

	"kafkabench.example/kafka-bench/internal/plan/scenario"
)

// Before a run was made, how long it takes is a guess: what its scenario says, and
// where that is an amount and no time, what a small machine does in a second. A guess
// that is too long is better than one that a person waits beyond.
const (
	// What a client writes as fast as it goes, with the brokers on the same two cores,
	// and how much faster it reads.
	writtenRecordsPerS = 400_000
	writtenBytesPerS   = 100e6
	readsFaster        = 3
	// aPartition is what each partition beyond the first hundred costs to create and
	// to delete.
	aPartition = 10 * time.Millisecond
	// Starting a local cluster, and each further broker of it.
	firstBroker, anotherBroker = 6 * time.Second, 3 * time.Second
)

// guess is how long one run of s takes: its fill, its warm-up and window, and its drain
// where that has to be long.
func guess(s scenario.Scenario) time.Duration {
	measure := time.Duration(s.Phases.Measure)
	switch volume := s.Load.Bytes(); {
	case s.Load.Producers == 0 && s.Filled():
		measure = min(measure, asFast(s, s.FillBytes()/share(s.Consume.CPU)/readsFaster))
	case s.Load.Rate.IsMax() && volume > 0:
		measure = min(measure, asFast(s, volume))
	}
	partitions := time.Duration(max(0, s.Topic.Partitions*s.Topic.Replication-100)) * aPartition
	return asFast(s, s.FillBytes()) + time.Duration(s.Phases.Warmup) + measure + drain(s) + partitions
}

// asFast is how long so many bytes of values take to write as fast as it goes.
func asFast(s scenario.Scenario, bytes float64) time.Duration {
	mean := s.Load.Record.Size.Mean()
	if mean <= 0 {
		return 0
	}
	return inTime(max(bytes/mean/writtenRecordsPerS, bytes/writtenBytesPerS))
}

// share is the part of a core that is enough that consumers have who are confined to
// so many cores; 0 is no limit.
func share(cores float64) float64 {
	if cores == 0 {
		return 1
	}
	return min(1, cores)
}

// drain is how long the consumers need for what they could not take in the window,
// because they work longer for a record than they are given time, or were held. What
// backpressure kept back they need no time for.
func drain(s scenario.Scenario) time.Duration {
	most := time.Duration(s.Phases.Drain)
	e := s.Expected()
	switch work := s.Consume.Work.Mean(); {
	case s.Consume.Queue.Drop.Share > 0 && e.Known:
		return min(most, s.Consume.Queue.LastDelivery(float64(e.Records)))
	case s.Consume.Consumers == 0 || s.Load.Producers == 0 || !e.Known || s.Backpressure.Controller != "off" ||
		len(s.Consume.Changes) > 0:
		return 0
	case s.Consume.Hold.Drain:
		return min(most, asFast(s, float64(e.Bytes)/readsFaster))
	case work == 0:
		return 0
	default:
		workers := s.Topic.Partitions
		switch q := s.Consume.Queue; {
		case q.Used():
			workers = s.Consume.Consumers * q.Threads
		case s.Consume.Parallel == "consumer":
			workers = min(workers, s.Consume.Consumers)
		}
		capacity := float64(workers) / work.Seconds()
		least, _ := s.Duration()
		left := float64(e.Records) - capacity*least.Seconds()
		return min(most, inTime(max(0, left)/capacity))
	}
}

// inTime is a number of seconds, and a long time where that is no number.
func inTime(seconds float64) time.Duration {
	return time.Duration(min(seconds, math.MaxInt32) * float64(time.Second))
}

// Takes is about how long the runs take, with the clusters that they have started.
func (p Plan) Takes(runs []PlannedRun) time.Duration {
	all := NewForecast(p).Left(runs)
	var scenarios []scenario.Scenario
	for _, run := range runs {
		scenarios = append(scenarios, p.Cells[run.Cell].Scenario)
	}
	for i, s := range scenarios {
		if i == 0 || !sameCluster(scenarios[i-1], s) {
			all += firstBroker + anotherBroker*time.Duration(s.Cluster.Brokers-1) + warmsUp(s, scenarios)
		}
	}
	return all
}
