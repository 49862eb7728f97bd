// Package load is what sending and receiving share: the run's one time axis, simulated work,
// and members that come and go.
//
// The hot path is in the packages below: send has the workers that send records on schedule,
// receive the members of a consumer group, and queued the consumers of a queue. Stamps,
// counters and books are in between.
//
// Files to know: axis.go (the one clock), clock.go (between processes), roster.go (members by
// number), halt.go (a member that is paused), server.go (simulated work), work.go (its plan),
// gaps.go (silences), offsets.go (stamps of other clocks).
package load
