// Package queued has the consumers of a queue, which acknowledge record by record, and the
// books of what they were handed.
//
// A node is a member of the queue's group. Its threads receive, work and settle: they
// acknowledge a record, give it back, or say nothing of it. The books know by the stamps of
// records which came, how often, and when each is to come again, whatever the queue counts.
//
// Files to know: queue.go (what a queue does), group.go, change.go (nodes come and go),
// thread.go (receives, works and settles), book.go (deliveries and acknowledgements).
package queued
