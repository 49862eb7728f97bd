// Package engine is the interface between a queue's API and the ways to keep a queue on Kafka.
//
// The path of a record:
//
//	Kafka ──poll──▶ member ──Begin──▶ engine ──leases──▶ ready ──Take, Lend──▶ Queue ──▶ Delivery
//	                  ▲  │                                                                 │ Ack · Nack · Extend · Reject
//	                  │  └─ commit: the offsets that the engine returns ◀── engine ◀───────┘
//	                  └─ limit: lease.Set, at most MaxInFlight leases, each with its deadline
//
// To change the queue, read lease.go of package lease, engine.go, member.go of package member, package plain (the smallest
// engine), and then another engine. In package kmq, run.go, line.go, worker.go and process.go are independent of engines.
//
// # Rules that tests protect
//
//   - A lease ends once. Lease.Settle succeeds once; other callers get the error. Set.Settle checks the clock, so a passed
//     deadline counts before its timer fires.
//   - Deadlines are monotonic: time since the process began, with the time that the machine was suspended.
//   - A place is freed after onExpired returned, and Swap passes it to the next lease. So a redelivery never exceeds the
//     limit.
//   - The pump waits for half of the limit, because a busy queue would otherwise begin records one by one. A waiting Take
//     lowers that to one place (Set.Hurry).
//   - A revocation waits for leases with holders, then flushes, commits and forgets in this order, without a Begin in
//     between and before the next poll. Only one commit runs at a time, so none arrives for a partition with another owner.
//   - Only permanent errors end a member (Fatal): permissions and configuration. Others are retried forever.
//   - A member never polls a record twice. So a failed Begin ends the member; otherwise its records would be lost until the
//     next owner.
//   - Close waits for calls that settle, so that nil means that the end is written.
//   - Brokers limit compressed batches, clients uncompressed ones. A Copier writes a copy that is too large for the client
//     in a batch of its own, compressed like the original. A refused record (Refused) must not delay others.
//   - Records below the start of the log are missing. Other gaps are transaction markers, aborted or compacted records.
//   - Only copies in the retry topic count on. A dead letter that is produced to the queue's topic begins with attempt 1.
//   - A record is taken, then lent. Take neither locks nor counts; Lend begins the lock just before the handler. So what
//     waits in a line costs nothing, and Return gives it back as it was.
//   - The set calls Holder.Ended under its lock when a lease expires or is lost. A worker notes its lease before Lend, or
//     the end could be missed.
//   - An interrupted delivery does not count if the engine is an Unhander. Only the end of RunConfig.Shutdown is an
//     interruption. A panic counts.
//   - A member knows partition p of the retry topic as −1−p (lease.Retry). A record of another queue there ends the member.
//   - A waiting record of offsetmap stays in the set, excused: it does not count, and its deadline is its due time.
//   - A line with a failed first record is blocked until the engine says that the record has ended (Parker). So in an
//     ordered queue nothing moves.
//   - A commit of offsetmap has a flag "open" until the revocation. Who is assigned a partition with the flag commits each
//     delivery up to the partition's end before the hand-out. Doubtful records are lent while no other is.
//   - Maps and commits have leader epochs. On assignment and with each new epoch the member asks the brokers where the logs
//     diverge, and cuts windows, maps and leases there.
//   - A tracker redelivers only after it has read a tick that it wrote when the record was due: the record's end may be
//     before the tick. It writes the end after the copy is durable.
//
// # Add an engine
//
// Write a package with New(ctx, engine.Config) (engine.Engine, error). Add a type with its own settings to engines.go of
// package kmq and to ParseEngine, its abilities to package conformance, and a line to the table of architecture_test.go. It
// must pass the suite of package conformance.
//
// Files to know: engine.go, config.go, topics.go, copier.go.
package engine
