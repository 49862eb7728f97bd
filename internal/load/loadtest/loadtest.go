// Package loadtest has the records that the tests of sending and receiving share.
package loadtest

import (
	"sync"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/plan/payload"
)

// HundredBytes returns a corpus of records of 100 bytes.
var HundredBytes = sync.OnceValues(func() (*payload.Corpus, error) {
	sizes := payload.Sizes{Distribution: "fixed", Values: []int{100}}
	return payload.NewCorpus(payload.Spec{Class: "zeros", Stamped: true, Sizes: sizes})
})

// Run is the run number in the stamps of a Log.
const Run = 7

// Log returns n records of producer 0 for each partition, due at zero and sent a millisecond later.
func Log(partitions, n int) [][]driver.Received {
	corpus, err := HundredBytes()
	if err != nil {
		panic(err)
	}
	log := make([][]driver.Received, partitions)
	for p := range log {
		for i := range n {
			stamp := payload.Stamp{Run: Run, Partition: int32(p), Sequence: uint64(i), Actual: int64(time.Millisecond)}
			log[p] = append(log[p], driver.Received{Offset: int64(i), Value: corpus.Value(nil, uint64(i), &stamp)})
		}
	}
	return log
}

// FixedWork returns a plan in which each record takes d.
func FixedWork(d time.Duration) load.Plan {
	return load.Plan{Work: load.Work{Time: d, Distribution: "fixed"}}
}
