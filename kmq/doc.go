// Package kmq is a queue on Kafka whose records are acknowledged one at a time.
//
// A consumer group acknowledges up to an offset. Work that calls other systems needs more: to
// acknowledge one record before an earlier one, to retry later, to take longer, or to give up. A
// [Queue] does that on an ordinary topic, with one of four engines. All deliver at least once;
// [Plain] has no locks. docs/queue.md helps to choose one.
//
// The records of a transaction are delivered after it is committed, and never if it is aborted.
//
// Files to know: config.go, engines.go, queue.go, handler.go, run.go, worker.go, process.go, batch.go,
// delivery.go.
package kmq
