// Package shares divides one lag bound among members that can't see each other. The parts never add
// up to more than the whole, whatever is late, lost, paused or dead (ADR 0021).
//
// All members append to one log and fold it with the same rules ([State]). A raise is a request
// that the log grants. A lowering is a promise, which the member keeps even before it appends the
// promise. The member appends it only as far as its outstanding records fit into the lowered part.
// A part is taken from a member only with a [Reclaim], after the lease, once nothing of that member
// can arrive any more and all that arrived is committed. A Reclaim names the last known beat, and
// has no effect after a later beat. A member stops by itself if it has not read back a beat for a lease less the
// margin. Each member measures times only with its own clock, from when it sent a beat or read
// another member's (Gray and Cheriton, "Leases", SOSP 1989). During the lease and the grace time no
// two clocks may drift apart by more than the margin. A clock that stops while its machine is
// suspended breaks this rule, unless something else fences the member. [Targets] has no effect on
// safety.
//
// Files to know: state.go, member.go, target.go, drain.go.
package shares
