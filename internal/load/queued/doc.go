// Package queued has the consumers of a queue, which acknowledge record by record, and the books of their deliveries.
//
// A node is a member of the queue's group. Its threads receive, work and settle: they acknowledge a record, give it
// back, or drop it. The books use only the stamps of records, not the queue's counts. They know which records came,
// how often, and when each is due again.
//
// Files to know: queue.go (the interface of a queue), group.go, change.go (nodes join and leave), thread.go
// (receives, works and settles), book.go (deliveries and acknowledgements).
package queued
