// Package sharelog lets several processes keep one lag bound together, with parts that follow their
// demand. Each process has a [backpressure.Gate] with a [Member] as its share. The parts never add
// up to more than the whole.
//
//	member, err := sharelog.Join(ctx, sharelog.Config{…})
//	gate, err := backpressure.New(backpressure.Config{Share: member, …})
//	member.Attach(gate)
//	…
//	member.Leave(ctx)
//
// The protocol is that of package [shares]; its log is a topic with one partition (ADR 0021). Each
// member appends a beat of about 130 bytes every half second and reads the beats of all others.
// Every 1,024 records a member writes a snapshot and deletes the records before it. Join creates
// the topic with retention.ms=-1. A topic that you create must not be compacted. If deleting
// records is not allowed, the topic grows.
//
// Parts follow a change of demand within about three beats, but not faster than outstanding records
// are committed. A process that leaves gives its part back when its records are committed. A dead
// process keeps its part for the lease (5 s) and the grace time (2 minutes), and then until the
// group has committed what the log held at that time. A restarted process is a new member: if it is
// the only one, it sends nothing for that long, so use a short delivery timeout.
//
// # Failure modes
//
// If a process can't append to the log or read it, its part becomes 0. This happens a lease less
// the margin after the process sent the last beat that it read back. The process gets the part back
// with its next beat, unless the others reclaimed the part; then the process joins again. A process
// that was stopped for longer than the lease and the grace time may send from its old part for 10
// ms. Only transactions prevent that completely.
//
// The grace time must cover the clients' delivery timeout. Java's is 2 minutes
// (delivery.timeout.ms), librdkafka's 5 (message.timeout.ms). franz-go has none unless
// kgo.RecordDeliveryTimeout is set, and an idempotent client (the default) does not apply it to a
// batch that it sent without an answer. So a process that is cut off for longer than the grace time
// may append its buffer later. Then the lag can exceed the bound by its part. To prevent that, set
// kgo.RecordDeliveryTimeout and kgo.AllowIdempotentProduceCancellation, or let Config.OnFenced
// abort the client's buffered records.
//
// The topic must not lose acknowledged records, or the parts may add up to more than the whole.
// Members write with acks=all; use min.insync.replicas=2 of 3 replicas and no unclean leader
// election.
//
// Use the topic for nothing else. If records are deleted that no snapshot covers, for example by a
// retention time while no process runs, a new process can't know the parts. After the lease and the
// grace time without any record, Join fails, and a running process reports [Broken]. Then stop all
// processes, let the group commit everything, delete the topic, and start them again.
//
// The bound covers only what the members send. Committed offsets show that a dead member's part is
// drained, even if the group skipped records.
//
// Files to know: member.go, beat.go, read.go.
package sharelog
