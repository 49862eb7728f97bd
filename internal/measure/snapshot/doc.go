// Package snapshot holds the running totals that a part of a run reports: records sent and received, read positions,
// and the books. It is pure. [Merge] adds up the snapshots of several workers, processes or machines. The sum is the
// snapshot of one part that did all the work.
//
// Files to know: snapshot.go, merge.go, sent.go (the sending side), received.go (the receiving side), gaps.go,
// queue.go (consumers with selective acknowledgement), gate.go, usage.go, codec.go (the encoding).
package snapshot
