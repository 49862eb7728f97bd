// Package snapshot holds the running totals that a part of a run reports. They are what
// its producers sent, what its consumers received, how far each partition was read, and
// the books. It is pure. [Merge] adds up the snapshots of several workers, processes or
// machines to that of one which did the work of all.
//
// Files to know: snapshot.go, merge.go, sent.go (the sending side), received.go (the
// receiving side), gaps.go, queue.go (consumers with selective acknowledgement), gate.go,
// usage.go, codec.go (how they travel).
package snapshot
