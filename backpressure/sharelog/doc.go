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
// records (the grace time, 2 minutes; set it with the clients' delivery timeout),
// then until the group has committed all that was in the log by then. A process
// that is killed and started again is a new member, so if it is alone it sends
// nothing for that long: the shorter the delivery timeout, the better.
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
// The topic must not lose acknowledged records: it is written with acks=all, and
// wants min.insync.replicas of 2 of 3 replicas, and no unclean leader election.
// Members that have read different logs may come to different sums.
//
// The bound holds for what the members send. What others write to the topics, or
// what was there before, is not theirs and not counted. A dead member's part counts as
// drained by committed offsets; a group that commits what it skipped frees it too.
package sharelog
