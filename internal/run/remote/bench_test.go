package remote

import (
	"context"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/measure/latency"
	"kafkabench.example/kafka-bench/internal/measure/ledger"
)

func BenchmarkInterval(b *testing.B) {
	children, err := StartChildren(3, func(int) Start { return Start{Command: childCommand} })
	if err != nil {
		b.Fatal(err)
	}
	defer children.End()
	axis := load.NewAxis(nil)
	var assignments []Assignment
	var parts []Part
	for i, part := range Split(workers, 0, len(children)) {
		parts = append(parts, children[i])
		assignments = append(assignments, Assignment{Version: Version, Part: i, Partitions: partitions, Workers: part})
	}
	ps, err := OpenProducers(context.Background(), axis, parts, assignments)
	if err != nil {
		b.Fatal(err)
	}
	var collector latency.Collector
	ps.AddTo(&collector)
	axis.Set(0, time.Minute)
	ps.Start()
	next := [][]ledger.Awaited{make([]ledger.Awaited, workers), make([]ledger.Awaited, workers), make([]ledger.Awaited, workers)}
	for b.Loop() {
		ps.Snapshot(Want{Times: true, Awaited: next})
		collector.Collect()
	}
	b.StopTimer()
	ps.Close()
}
