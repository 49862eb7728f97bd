// Package crash tries to lose records: it breaks processes, brokers, connections and groups while a
// queue works. Then it compares what was produced with what was processed. It holds tests only.
//
// # What counts as lost
//
// Each process under test writes to a journal that a record is processed, and then calls Ack. From
// that line on the record is done; before that line, the queue must deliver the record. A record is
// lost if it is neither processed in the journal, nor in the dead-letter topic, nor still to be
// delivered. Each line is one write to a file, which survives the process, so the journal needs no
// sync to disk.
//
// The journal also has each delivery with its attempt and its deadline. So the audit finds early
// deliveries, duplicates, and records that are not as they were produced.
//
// # How a process is killed
//
// Package step names each moment at which a crash would matter. In virtual time a worker is a
// puppet: at a given moment its connections are cut and its journal is closed, so that neither a
// broker nor the journal sees what it does later. On Apache Kafka the test binary runs itself as a
// child, which sends itself SIGKILL at that moment. The test waits for the kill, probes the log
// (probe_test.go) and starts another worker.
//
// Of every three kills in a row at one step, the first hits a worker that is the only member, so
// that the next worker finds its state. In the other two a living member takes over. If a worker
// has open records at a step, another worker must receive some of them. In the end two undisturbed
// workers finish and close, and a last one must receive nothing.
//
// # What runs in which tier
//
// Quick kills three workers of each engine at every step, and runs every other test of this
// package, on a fake cluster in virtual time. Full does the same for all ways of keeping a queue,
// kills one process of each engine on Apache Kafka, and has a record there that ends its processes.
// Proof adds TestRealBrokers. Flags add more, as in make soak: -kills for longer campaigns, also on
// Apache Kafka, -fault all for all of TestFaults, -brokers for all of TestRealBrokers, and -way for
// one way of keeping a queue.
//
// # Which test protects which invariant
//
// Each test was seen to fail with the code broken (go test -overlay) as in the last column.
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
//	6 the requested record     TestDefectRereadRecordIsAnother: the next record is used instead
//	7 bounded memory           TestDefectUnboundedMemory: ten times as many leases
//	8 never early              TestInvariant8…: only the log's clock is trusted;
//	                           also the probes of all kills (checkEarly)
//	9 retention                TestInvariant9…: there is no alarm (plain, offsetmap, markers)
//
// # Known limits of the tests
//
// After a fault of the fake cluster the engine share takes up to a minute to continue, so
// TestFaults omits it under -short.
//
// A queue of the engine markers ends with a permanent error, such as a write that is not permitted.
// TestFaults then opens the queue again; any other error that ends a queue fails the test. Faults
// that hit only the test's own clients do not count.
//
// A Close that does not leave the group in time is counted and does not fail the test. If processes
// are killed, dead letters that were never delivered are only counted, because the log cannot show
// what a dead process had received.
package crash
