// Package sharelog lets several processes keep one lag bound together, with parts
// that follow their demand. Each process has a gate of its own
// ([backpressure.Gate]); its share says which part of the bound the gate may use
// now, and the parts never add up to more than the whole.
//
//	member, err := sharelog.Join(ctx, sharelog.Config{…})
//	gate, err := backpressure.New(backpressure.Config{Share: member, …})
//	member.Attach(gate)
//	…
//	member.Leave(ctx)
//
// The protocol is that of package [shares], whose log is a topic with one
// partition. Each member appends a beat of some 130 bytes every half second and
// reads everybody's; N members cost 2 N records a second, each read N times. Every
// 1,024 records one of them writes a snapshot and deletes what is before it, so a
// member that joins has little to read. The topic keeps everything until then:
// it is made with retention.ms=-1, and one that is made by hand must not be
// compacted. Where deleting is not allowed it grows, and is read whole.
//
// A shift of demand moves the parts within about three beats and as fast as what
// is outstanding drains: who is to get less tells so when its records are
// committed, and only then the other gets more. A process that leaves in order
// gives its part back when its records are committed. One that dies keeps its part
// for the lease (5 s), then for as long as its client may still have delivered
// records (the grace time, 2 minutes), then until the group has committed all that
// was in the log by then; a topic that is deleted meanwhile counts as committed after
// the lease and the grace time. A process that is killed and started again is a new
// member, so if it is alone it sends nothing for that long: the shorter the delivery
// timeout, the better.
//
// # Failure modes
//
// A process that can't append or read the log, because a broker does not answer or
// it was stopped, has part 0 from a lease less a margin after it sent the last
// beat that it read back; it carries on with the part it had once a beat comes back,
// unless that was reclaimed; then it joins anew. Part tells at once, and a gate asks
// each 10 ms ([backpressure.Gate.Advance]). So a process that was stopped for longer
// than the lease and the grace time may send, in the 10 ms after it goes on, from the
// credit that it had. Nothing that a client checks prevents that wholly, as a record
// that was admitted before may go out after; transactions do, which fence at the broker.
//
// The grace time must cover the clients' delivery timeout, and a client must have
// one. Java's is 2 minutes (delivery.timeout.ms), librdkafka's 5 (message.timeout.ms);
// franz-go's is unlimited unless kgo.RecordDeliveryTimeout is given. Even then
// franz-go keeps it only where that is safe: an idempotent client (the default) does
// not give up a batch that it sent and got no answer to, however long that takes. So a
// live process that is cut off from the network for longer than the lease and the
// grace time may append, once it is connected again, what it had in its buffer,
// though its part was given to others: at most the part that it had, until the
// group has committed that. Set Config.OnFenced to a function that aborts what the
// client has buffered, at a time when nothing can go out anyway.
//
// The topic must not lose acknowledged records: it is written with acks=all, and
// wants min.insync.replicas of 2 of 3 replicas, and no unclean leader election.
// Members that have read different logs may come to different sums.
//
// The topic is nobody else's. What others write into it is left aside, and so are the
// markers of their transactions, but each member has to read it. If records are deleted
// that no snapshot covers, as a retention time does once all processes are gone,
// a process that starts can't know what was held: after the lease and the grace time
// without a word from anybody, Join fails, and a process that runs is told [Broken].
// Then stop all of them, let the group commit what there is, delete the topic, and
// start them again.
//
// The bound holds for what the members send. What others write to the topics, or
// what was there before, is not theirs and not counted. A dead member's part counts as
// drained by committed offsets; a group that commits what it skipped frees it too.
//
// Files to know: member.go, beat.go, read.go.
package sharelog
