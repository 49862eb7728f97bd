package campaign

import (
	"math"
	"reflect"
	"time"

	"kafkabench.example/kafka-bench/internal/plan/scenario"
)

// Needs is what runs take, as far as their scenarios say. What a closed loop
// offers cannot be known before it was offered.
type Needs struct {
	Runs        int
	Least, Most time.Duration // without starting clusters
	Records     int64         // of the runs that say how many, warm-up included
	Bytes       int64         // of their values, uncompressed
	Unknown     int           // runs that do not say how many
	Warmups     int           // runs that say how many, but for their warm-up
	Topics      int           // that are created, one for each run that does not use an existing one
	DiskBytes   int64         // that Kafka holds at a time at most, replicas included
	Clusters    int           // how often a local cluster would be started
}

// deleteDelay is how long Kafka keeps the data of a deleted topic on disk, unless
// it is told otherwise (file.delete.delay.ms).
const deleteDelay = time.Minute

// Needs adds up what the runs take, one after another. With keepTopics nothing
// is deleted.
func (p Plan) Needs(runs []PlannedRun, keepTopics bool) Needs {
	n := Needs{Runs: len(runs), DiskBytes: p.disk(runs, keepTopics)}
	for i, run := range runs {
		s := p.Cells[run.Cell].Scenario
		least, most := s.Duration()
		n.Least, n.Most = n.Least+least, n.Most+most
		e := s.Expected()
		n.Records, n.Bytes = add(n.Records, e.Records), add(n.Bytes, e.Bytes)
		switch {
		case e.Known:
		case e.Records > 0:
			n.Warmups++
		default:
			n.Unknown++
		}
		if s.Topic.Existing == "" {
			n.Topics++
		}
		if i == 0 || !sameCluster(p.Cells[runs[i-1].Cell].Scenario, s) {
			n.Clusters++
		}
	}
	return n
}

// sameCluster tells whether one local cluster serves both.
func sameCluster(a, b scenario.Scenario) bool { return reflect.DeepEqual(a.Cluster, b.Cluster) }

// disk is the most that Kafka holds at the end of one of the runs: what is never
// deleted, and what it has yet to delete.
func (p Plan) disk(runs []PlannedRun, keepTopics bool) int64 {
	type held struct {
		bytes float64
		ended time.Duration // since the first run began, if no drain takes long
	}
	var deleted []held // those that still lie there
	var kept, waiting, most float64
	now := time.Duration(0)
	for _, run := range runs {
		s := p.Cells[run.Cell].Scenario
		least, _ := s.Duration()
		now += least
		bytes := float64(s.Expected().Bytes) * float64(max(1, s.Topic.Replication))
		if keepTopics || s.Topic.Existing != "" {
			kept += bytes
		} else {
			deleted, waiting = append(deleted, held{bytes, now}), waiting+bytes
		}
		for len(deleted) > 0 && now-deleted[0].ended > deleteDelay {
			deleted, waiting = deleted[1:], waiting-deleted[0].bytes
		}
		most = max(most, kept+waiting)
	}
	return int64(min(most, math.MaxInt64/2))
}

// add is a + b, and the most there is where that is too much.
func add(a, b int64) int64 {
	if b > math.MaxInt64-a {
		return math.MaxInt64
	}
	return a + b
}
