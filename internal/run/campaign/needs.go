package campaign

import (
	"math"
	"reflect"
	"time"

	"kafkabench.example/kafka-bench/internal/plan/scenario"
)

// Needs is what runs need, as far as their scenarios say. What a closed loop sends is unknown.
type Needs struct {
	Runs        int
	Least, Most time.Duration // without the start of clusters
	Records     int64         // as far as known, with warm-ups and fills
	Bytes       int64         // of their values, uncompressed
	Unknown     int           // runs with an unknown number of records
	Warmups     int           // runs whose number is known only without the warm-up
	Topics      int           // created topics: one for each run without an existing topic
	DiskBytes   int64         // most bytes on Kafka's disks at a time, replicas included
	OneReplica  bool          // an existing topic's replicas are unknown, and count as one
	Clusters    int           // starts of a local cluster
}

// deleteDelay is how long Kafka keeps the data of a deleted topic by default
// (file.delete.delay.ms).
const deleteDelay = time.Minute

// Needs adds up what the runs need, one after another. With keepTopics no topic is deleted.
func (p Plan) Needs(runs []PlannedRun, keepTopics bool) Needs {
	n := Needs{Runs: len(runs), DiskBytes: p.disk(runs, keepTopics)}
	for i, run := range runs {
		s := p.Cells[run.Cell].Scenario
		least, most := s.Duration()
		n.Least, n.Most = add(n.Least, add(least, s.FillTime())), add(n.Most, add(most, s.FillTime()))
		e := s.Expected()
		n.Records, n.Bytes = add(n.Records, e.Records), add(n.Bytes, e.Bytes)
		switch {
		case e.Known:
		case !e.Unbounded:
			n.Warmups++
		default:
			n.Unknown++
		}
		if s.Topic.Existing == "" {
			n.Topics++
		} else if p.Replicas[s.Topic.Existing] == 0 {
			n.OneReplica = true
		}
		if i == 0 || !sameCluster(p.Cells[runs[i-1].Cell].Scenario, s) {
			n.Clusters++
		}
	}
	return n
}

// Saturated reports whether a sum is beyond what can be counted, so that no such runs can be.
func (n Needs) Saturated() bool {
	return n.Records == math.MaxInt64 || n.Bytes == math.MaxInt64 || n.Least == math.MaxInt64
}

func sameCluster(a, b scenario.Scenario) bool { return reflect.DeepEqual(a.Cluster, b.Cluster) }

// disk returns the most bytes on disk at the end of a run, including deleted topics whose data
// still exists.
func (p Plan) disk(runs []PlannedRun, keepTopics bool) int64 {
	type held struct {
		bytes float64
		ended time.Duration
	}
	var deleted []held
	var kept, waiting, most float64
	now := time.Duration(0)
	for _, run := range runs {
		s := p.Cells[run.Cell].Scenario
		least, _ := s.Duration()
		now = add(now, least)
		replicas := s.Topic.Replication
		if s.Topic.Existing != "" {
			replicas = p.Replicas[s.Topic.Existing]
		}
		bytes := float64(s.Expected().Bytes) * float64(max(1, replicas))
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

func add[T ~int64](a, b T) T {
	if b > math.MaxInt64-a {
		return math.MaxInt64
	}
	return a + b
}
