// Package send is the sending half of the hot path: workers that send records on schedule, by clients that they may
// share.
//
// With a schedule, a worker waits only for time. Two cursors run over the same arrivals: one moves
// when records come due, the other when they are sent. The records between them are the queue at
// the source. The queue stores nothing, because any record can be made again from its index. If the
// gate or a full buffer delays the worker, the first cursor still moves on time. Every record keeps
// its intended time, so the wait is part of its response time.
//
// The client's goroutines only stamp acks and append them to the worker's list. In its next round, the worker enters
// the whole list into histograms and books, under one lock. The interval sampler takes that lock too.
//
// Files to know: producer.go (a worker), closed.go (one without a schedule), producers.go (all of them), admission.go
// (the gate), queue.go and source.go (what waits), slot.go (records in flight), chooser.go (partitions), sleep*.go (the
// pacer), volume.go, timeline.go.
package send
