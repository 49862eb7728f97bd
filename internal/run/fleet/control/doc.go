// Package control lets a coordinator and its agents agree through one log: what its
// records say, how they are sealed, and what a prefix means.
//
// Agents and coordinator append to one log with one order, and all fold it with the
// same rules ([State]). So all agree on every prefix: which process is the valid
// instance of an agent's index, who is ready, who owns which partition, when a run
// starts, and what was handed in. No lock and no lease is needed, because the order of
// the log fences a process that another instance has replaced: readers ignore its
// records.
//
//   - Before [Start] the later [Hello] of an index counts, and the earlier instance
//     learns that it lost. From Start to the next [Plan], a claim comes too late.
//   - A Start names the instances that it was made for. It is void if another instance
//     has claimed an index before it in the log.
//   - A Hello holds for the session. All else belongs to a run, which a Plan begins.
//
// A session is open to everyone who may write to the topic, and so each record has a
// seal ([Seal]). No record has a field for a credential.
//
// Files to know: record.go, envelope.go, state.go, log.go, writer.go.
package control
