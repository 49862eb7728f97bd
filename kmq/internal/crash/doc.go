// Package crash tries to lose records: it breaks processes, brokers, connections and
// groups while a queue works. Afterwards it compares what was produced with what became
// of it. It holds tests only.
//
// # What counts as lost
//
// An application processes a record and then acknowledges it. So each process under test
// writes into a journal that a record is processed, and after that calls Ack: whatever
// happens later, the record is done, and before it, the queue owes it. A record is lost
// when it is neither in the journal as processed, nor in the dead-letter topic, nor still
// to come. The journal is appended to with one write for each line; the operating system
// outlives the process, so nothing needs to be synchronised to the disk.
//
// The journal also has each delivery with its attempt and its deadline, so that the audit
// finds what came early, what came twice, and what is not the record that was produced.
//
// # How a process is killed
//
// Package step tells of each moment at which a crash would matter. In virtual time a worker is
// a puppet: at its n-th moment of one kind its connections are cut and it may write no more, so
// that neither a broker nor the journal hears of what it does afterwards. On Apache Kafka the
// test binary runs itself again as a child, which sends itself SIGKILL at that moment; no code
// can answer it. The test waits for that, probes what stands in the log (see probe.go), and
// starts another worker.
//
// Of three kills in a row at one step the first is of a worker with no other member, so that the
// next one finds what it left; two are of workers beside a living member, which takes over. If the
// step is one that a worker reaches with records in hand, another worker must be delivered some of
// them. At the end two workers finish the work undisturbed, close, and a last one finds nothing
// left to do.
//
// # What runs in which tier
//
// Quick cuts three workers of each engine at every step, and has every other test of this package, on
// a stand-in for Kafka in virtual time. Full does it for all ways of keeping a queue, and kills one
// process of each engine on Apache Kafka. Proof has TestRealBrokers besides. There is more of
// each with flags, as make soak has it: -kills for campaigns of any length, also on Apache
// Kafka, -fault all for all of TestFaults, -brokers for all of TestRealBrokers, -way for one way
// of keeping a queue.
//
// # Which test holds which invariant
//
// Each was seen to fail with the code broken on purpose (go test -overlay) as in the last
// column.
//
//	1 at least once            TestDefectFailedStart…: offsets are committable before the starts are durable;
//	                           also TestInvariant1AtLeastOnce, …OnKafka, TestFaults, TestRealBrokers
//	2 the tracker's commit     TestInvariant2…: it commits up to the last marker;
//	                           also the probes of all kills (unended)
//	3 no end before the copy   TestInvariant3…: ends are written before the copies;
//	                           also the probes of all kills (justified)
//	4 contiguous commits       TestInvariant4…: the window commits past what is open;
//	                           also the probes of all kills (probeCommits)
//	5 order of revocation      TestInvariant5…: nothing is committed on revocation;
//	                           also kills at step.Revoking and step.Flushed
//	6 the record asked for     TestDefectRereadRecordIsAnother: the next record is taken for it
//	7 bounded memory           TestDefectUnboundedMemory: ten times as many leases
//	8 never early              TestInvariant8…: the log's clock alone is believed;
//	                           also the probes of all kills (checkEarly)
//	9 retention                TestInvariant9…: there is no alarm (plain, offsetmap, markers)
//
// # What is known and not held against the queue
//
// After a fault of the stand-in for Kafka the engine share takes up to a minute to go on, so
// TestFaults leaves it out under -short.
//
// A queue of markers ends by an error that no waiting mends, as of a write that is not permitted.
// TestFaults has its workers open it again then, and any other error that ends a queue fails the test.
// What a fault hits of the test's own clients does not count as a fault that happened.
//
// A Close that is not out of the group in time is counted, not failed. Where processes are killed, dead letters that nobody was
// handed are counted only: the log can't tell what a dead process had handed out.
package crash
