// Package send is the sending half of the hot path: workers that send records on schedule, by
// clients that they may share.
//
// A worker never waits for anything but time. Its schedule is
// arithmetic: two cursors run over the same arrivals, one at the records that
// have come due, one at the records that were sent, and the records between
// them are the queue at the source. That queue holds nothing, because any
// record can be made again from its index; it is bounded by a number and costs
// no memory. When the gate or the client's buffer holds the worker back, the
// first cursor still moves on time, every record keeps its own intended send
// time, and the wait is part of its response time.
//
// Acknowledgements come back on the client's goroutines. There a record is only
// stamped and added to the worker's list, in the order of the reports. The worker
// takes the whole list at its next round and enters it into histograms and books
// under a lock taken once for all of them. The interval sampler takes that lock too.
//
// Files to know: producer.go (a worker), closed.go (one without a schedule), producers.go (all
// of them), admission.go (the gate), queue.go, slot.go (records in flight), chooser.go
// (partitions), sleep*.go (the pacer), volume.go, timeline.go.
package send
