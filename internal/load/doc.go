// Package load has what sending and receiving share: the run's one time axis, simulated work, and members that join
// and leave.
//
// The hot path is in the packages below it. In send, workers send records on schedule. In receive, members of a
// consumer group process them; in queued, consumers of a queue do.
//
// Files to know: axis.go (the one clock), clock.go (between processes), roster.go (members by number), halt.go (a
// paused member), server.go (simulated work), work.go (its plan), gaps.go (periods without acks), offsets.go (stamps
// of other clocks).
package load
