// Package snapshot holds the running totals that producers and consumers report while
// a run lasts. They count what was sent, what was received and how far each partition
// was read, and keep the gaps between acknowledgements. The package is pure: Add and
// Merge put together what several workers, processes or machines report.
//
// Files to know: sent.go (the sending side), received.go (the receiving side), gaps.go,
// queue.go (consumers with selective acknowledgement).
package snapshot
