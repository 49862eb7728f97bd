// Package shares divides one lag bound among members that can't see each other. The parts
// they act on never add up to more than the whole, whatever is late, lost, paused or
// dead.
//
// All members append to one log and all fold it with the same rules ([State]),
// so they agree on every prefix of it. Three rules make the sum safe:
//
//   - A raise is a request. It takes effect in the log, where it is granted as far
//     as the others' parts leave room, and its member acts on it when it reads it back.
//   - A lowering is a promise. Its member acts on it before it is appended, and it is
//     appended only as far as what is outstanding has drained below it.
//   - Nobody takes a part from one that may still act on it. A member stops by itself
//     when it has not read back a beat of its own for a lease less a margin; the
//     others wait for the whole lease after the last beat that they read, then until
//     nothing it sent can still arrive, then until all that arrived is committed, and
//     then append a [Reclaim]. That names the last beat they know of, and means
//     nothing if another one is in the log before it.
//
// So at every prefix the held parts add up to at most [Whole], and a member acts
// on at most what the log's end holds for it: what it has read, less what it has
// promised since, or 0 after its lease.
//
// Time is measured by each member alone, from when it sent a beat or read
// another's (Gray and Cheriton, "Leases", SOSP 1989). No time is in the log and
// none is compared between machines: clocks may be wrong by years. Only their
// rates matter: during a lease and the grace time after it, no two may drift
// apart by more than the margin. A clock that stands still while its machine is
// suspended breaks that, unless something else fences the member.
//
// What parts to aim for is no matter of safety, and each member decides it alone
// (see [Targets]). Members of different opinion, or of different versions, share
// badly and still keep the bound.
//
// Files to know: state.go, member.go, target.go, drain.go.
package shares
