// Package remote runs the producers and consumers of a run in child processes. That is
// how the applications have them that a run stands for: each with a heap, a collector and
// a scheduler of its own, so that what one of them costs is not paid by those that are
// measured with it. Producers have each a gate of their own that knows nothing of the
// others; a process of consumers can be confined, killed or made to stand still.
//
// The run starts its processes and is the only one to talk to them: a [Child] is
// a process and the connection to it, requests and answers over its standard
// input and output (net/rpc, gob), whichever comes first. Snapshots have a form of their
// own there (snapshot.Snapshot.MarshalBinary). What is secret goes that way too, and never by command line or environment. A child lives no longer
// than its standard input: it ends with the run that started it, however that
// ends. A child that ends before it was told to, or does not answer, fails its
// requests at once and for good, and says why ([Child.Err]); nobody waits for it.
//
// A [Part] is some of the run's producers or consumers, in this process ([Here]) or in a
// child: five calls, of which Snapshot says how it stands. [Producers] are those of all
// parts: the workers keep the numbers that they have among all, so that what is offered
// is the same to the byte however many processes offer it. [Consumers] is one consumer
// group: the members keep their numbers, and Kafka shares the partitions out among all of
// them. Their processes are others than those of the producers.
//
// Times need no translation: the monotonic clock is one for all processes of a
// machine, and the axis of a child is set by it (load.Zero). While the load runs a
// child is asked for a snapshot once an interval; the books of producers come home once,
// at the end. Those of consumers come home with each interval, because only together they
// say what has arrived: a partition may move from one process to another, and what is in
// the books of both came twice (snapshot.Merge). A child that answers late is late, and
// its last snapshot stands in for it. A process of consumers that is ended in order, also
// by a fault's SIGKILL, leaves its last snapshot; of one that dies otherwise there is what
// it last told, and the run is invalid.
//
// Files to know: part.go, here.go, child.go, childpart.go, service.go, producers.go,
// consumers.go, place.go.
package remote
