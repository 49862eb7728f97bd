// Package control lets a coordinator and its agents agree through one log: what its
// records say, how they are sealed, and what a prefix means.
//
// Coordinator and agents append to one log and fold it by the same rules ([State]). So they agree
// on every prefix: the valid instance of each index, who is ready, who owns each partition, when a
// run starts, and what was handed in. No lock or lease is needed: once another instance has
// replaced a process, readers ignore its records.
//
//   - Before [Start] the later [Hello] of an index counts, and the earlier instance
//     learns that it lost. From Start to the next [Plan], a claim comes too late.
//   - A Start names its instances. It is void if, earlier in the log, another instance
//     has claimed an index.
//   - A Hello holds for the session. All else belongs to a run, which a Plan begins.
//
// Everyone who may write to the topic can write to a session, so each record has a seal ([Seal]).
// No record has a field for a credential.
//
// Files to know: record.go, envelope.go, state.go, query.go, log.go, writer.go.
package control
