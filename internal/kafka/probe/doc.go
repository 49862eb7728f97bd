// Package probe measures a run from outside: consumer lag, host, processes, brokers, disk space of the topic, codecs.
// Probes have their own clients and goroutines and share nothing with the hot path.
//
// A figure that the operating system does not report is nil, never zero.
//
// Files to know: lag.go, usage*.go, hostuse*.go, runtime.go, brokermetrics.go (differences), brokerscrape.go (names),
// compression.go, topicreader.go (what is in a topic).
package probe
