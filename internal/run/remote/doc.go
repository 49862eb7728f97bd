// Package remote runs the producers and consumers of a run in child processes. Each process has its
// own heap, collector and scheduler, as real applications have. Each producer process has its own
// gate. A consumer process can be confined, killed or paused.
//
// The run starts its processes and talks to each as a [Child]: requests, answers and credentials go
// over standard input and output (net/rpc, gob). A child ends when its standard input ends. If a
// child ends unexpectedly or does not answer, its requests fail at once with the reason
// ([Child.Err]).
//
// A [Part] is some of the run's producers or consumers, in this process ([Here]) or in a child.
// [Producers] are the producers of all parts. Workers keep their numbers in the whole run, so the
// records are the same for any number of processes. [Consumers] is one consumer group; Kafka
// assigns the partitions among all members. No process has both producers and consumers.
//
// All processes of a machine share its monotonic clock, so a child only gets the axis (load.Zero).
// Each child sends a snapshot per interval. Producers send their books once at the end. Consumers
// send theirs with each interval, because a partition may move: records in the books of two
// processes are duplicates (snapshot.Merge). If an answer is late, the last snapshot is used. A
// consumer process that the run ends, also by a fault's SIGKILL, sends a last snapshot first. If a
// consumer process dies for another reason, the run is invalid.
//
// Files to know: part.go, here.go, child.go, childpart.go, service.go, producers.go, consumers.go,
// place.go.
package remote
