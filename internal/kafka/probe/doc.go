// Package probe measures a run from outside: consumer lag, host, processes, brokers, disk
// space of the topic, codecs. It reads the consumer lag as the brokers see it, what the
// tool itself takes from the machine, what the local brokers take, what brokers report
// about themselves, what the machine's disks and networks do, what the topic takes on
// disk, and what each codec would make of the run's own batches. Probes have clients and
// goroutines of their own and share nothing with the hot path.
//
// What an operating system does not offer is nil, never zero.
//
// Files to know: lag.go, usage*.go, hostuse*.go, runtime.go, brokermetrics.go
// (differences), brokerscrape.go (names), compression.go, topicreader.go (what is in a
// topic).
package probe
