// Package truth proves that the numbers of a run are true. It has only tests. Each breaks something
// in a known place and to a known extent, makes a whole run with package bench, and reads its
// files. run.json and the histogram log must agree with arithmetic, or with a witness that sees
// every record and shares no code with the tool's books.
//
// A file's name says its tier:
//
//	NAME_test.go        quick: an embedded cluster in virtual time (package virtual)
//	NAME_full_test.go   full: a real Kafka, child processes and signals
//	NAME_proof_test.go  proof: what stops brokers or takes minutes
//
// In virtual time a run is never late. A quick test asserts exact times and counts, and uses bounds
// only if several goroutines wake at the same instant. The verdict of its runs is valid, and names
// no reason for doubt. The other tiers run on a real clock and a busy machine. They assert counts,
// order and states, and ignore reasons that the tool was late or starved.
//
//	books       records that are dropped, repeated, reordered or corrupt; full: Kafka's
//	            own log and Java's HdrHistogram agree with a run
//	delay       brokers that answer later by a fixed time; a pacer that oversleeps
//	witness     the books and the times of a run, as a witness saw each record
//	warmup      the boundary between warm-up and measured window
//	ending      runs that are interrupted or abandoned; full: the tool is killed
//	topic       topics and records that are the run's, and that are not
//	fanout      several groups that each read everything
//	pressure    what a closed gate sheds and defers; full: credit on Kafka
//	faults      a consumer is killed and comes back; full: on Kafka
//	suites      questions about throughput and scale, up to their answer; proof: on Kafka
//	reading     runs that only read what a topic holds
//	fill        topics that are filled before a run; proof: on Kafka
//	queue       consumers of a queue that drop records, and are killed; full and proof:
//	            on Kafka
//	recovery    consumers that stand still or change, and their backlog
//	library     the public packages, as an application uses them
//	processes   producers of child processes, whose work runs in the test's process
//	consumers   those of child processes, whose work runs in the test's process
//	hang        a producer or consumer process hangs; proof: it is stopped
//	children    full: child processes, killed and paused
//	confined    proof: child processes with little CPU or memory
//	bottleneck  proof: runs with a known bottleneck
//	stall       proof: a broker is frozen for three seconds
//	crash       proof: a broker is killed and comes back
//	failover    proof: one of three brokers fails
//
// Files without tests: run (how a run is made and checked), tap (a driver that a test
// observes), here (child processes' work in the test's process) and main (full: the test
// binary as a child process).
package truth
