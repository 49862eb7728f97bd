package campaign

import (
	"math"
	"time"

	"kafkabench.example/kafka-bench/internal/plan/scenario"
)

// These constants assume a small machine: too long a guess is better than one that is too short.
const (
	// What a client writes at most per second, with brokers on the same two cores. It reads
	// readsFaster times as fast.
	writtenRecordsPerS         = 400_000
	writtenBytesPerS           = 100e6
	readsFaster                = 3
	aPartition                 = 10 * time.Millisecond
	firstBroker, anotherBroker = 6 * time.Second, 3 * time.Second
)

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

func asFast(s scenario.Scenario, bytes float64) time.Duration {
	mean := s.Load.Record.Size.Mean()
	if mean <= 0 {
		return 0
	}
	return inTime(max(bytes/mean/writtenRecordsPerS, bytes/writtenBytesPerS))
}

// share returns the speed with this many cores, relative to one core, at most 1. 0 cores means no
// limit.
func share(cores float64) float64 {
	if cores == 0 {
		return 1
	}
	return min(1, cores)
}

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

func inTime(seconds float64) time.Duration {
	return time.Duration(min(seconds, math.MaxInt32) * float64(time.Second))
}

// Takes returns about how long the runs take, with the start of their clusters.
func (p Plan) Takes(runs []PlannedRun) time.Duration {
	all := NewForecast(p).Left(runs)
	var scenarios []scenario.Scenario
	for _, run := range runs {
		scenarios = append(scenarios, p.Cells[run.Cell].Scenario)
	}
	for i, s := range scenarios {
		if i == 0 || !sameCluster(scenarios[i-1], s) {
			all = add(all, firstBroker+anotherBroker*time.Duration(s.Cluster.Brokers-1)+warmsUp(s, scenarios))
		}
	}
	return all
}
