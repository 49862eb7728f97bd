// Package crash tries to lose records: it ends processes, brokers, connections and
// groups while a queue works, and afterwards compares what was produced with what
// became of it. It holds tests only.
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
// The test binary runs itself again as a child. The child opens a queue, and package step
// tells it of each moment at which a crash would matter; at the n-th of one kind it sends
// itself SIGKILL, which no code can answer. The parent waits for that, probes what stands
// in the log (see probe.go), and starts another child. At the end two children finish the
// work undisturbed, close, and a last one finds nothing left to do.
//
// # Which test holds which invariant
//
//	1 at least once            TestInvariant1AtLeastOnce, …OnKafka, TestFaults, TestRealBrokers
//	2 the tracker's commit     TestInvariant2…, the probes of all kills (unended)
//	3 no end before the copy   TestInvariant3…, the probes of all kills (justified)
//	4 contiguous commits       TestInvariant4…, the probes of all kills (probeCommits)
//	5 order of revocation      TestInvariant5…, kills at step.Revoking and step.Flushed
//	6 the record asked for     TestDefectRereadRecordIsAnother
//	7 bounded memory           TestDefectUnboundedMemory
//	8 never early              TestInvariant8…, the probes of all kills (checkEarly)
//	9 retention                TestInvariant9… (engine markers)
package crash
