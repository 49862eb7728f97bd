// Package truth proves that the numbers of a run are true. It has nothing but
// tests: each breaks something on purpose, in a place and to an extent that the
// test knows, makes a whole run with package bench, and compares what run.json
// and the histogram log say with what arithmetic says, or with what a witness
// saw that shares no code with the tool's books.
//
//	apache_test.go      those of the following that need a real broker
//	stall_test.go       the broker is frozen for three seconds
//	delay_test.go       the broker answers later by a fixed time
//	books_test.go       the delivered stream is mutated record by record
//	crash_test.go       the broker is killed and comes back
//	warmup_test.go      the boundary between warm-up and measured window
//	histograms_test.go  Java's HdrHistogram reads the log
//	ending_test.go      runs that are interrupted, abandoned or killed
//	topic_test.go       whose topics and records are whose
//	pressure_test.go    what a closed gate sheds and defers
//	library_test.go     the public packages, as an application uses them
//	fanout_test.go      several groups that each read everything
//	reading_test.go     runs that only read what a topic holds
//	queue_test.go       consumers of a queue that drop records, and are killed
//	recovery_test.go    consumers that are held, or change, and the backlog of that
//
// The machine that the tests run on may be busy with other things. A run's
// verdict says when the tool was too late or too starved to measure; those
// reasons, and no others, are passed over here, and what is asserted holds on a
// busy machine as well: counts are exact, and times are compared with times
// that were taken at the same moment. What is about times is made again, twice at
// most, when the run says so of itself.
package truth
