// Package kmq is a queue on Kafka whose records are acknowledged one at a time.
//
// A consumer group acknowledges up to an offset. Work that calls other systems needs
// more: to acknowledge one record and not the one before it, to try again later, to take
// longer, to give up. A [Queue] does that on an ordinary topic, by one of four engines
// that keep the same contract; docs/KMQ.md says which is right for which work.
//
// Where producers use transactions, a record is delivered once its transaction is
// committed, and not at all if that is aborted.
//
// Files to know: config.go, queue.go, run.go, delivery.go, process.go, keep.go.
package kmq
