// Package librdkafka drives Kafka through librdkafka, a client in C, by way of
// confluent-kafka-go. It needs cgo and the build tag librdkafka.
//
// What is measured is that client as a Go program has it, the price of crossing
// into C included. Every record crosses on its own: into the client by one call,
// out of it by one object that the client allocates for the record or for its
// delivery report. The driver adds nothing to that: a record slot keeps the
// client's message from use to use, reports are read from the client's one
// channel of events, and polls gather what is ready into chunks.
//
// Because it needs cgo, the driver is only in a binary that was built with the tag
// librdkafka; without it this package is empty. See CONTRIBUTING.md.
//
// Three files hold what was hard to get right: outcome.go (what became of a
// record that was not acknowledged), consumer.go (how a poll is told of a
// rebalance that comes between two of its records) and settings.go (what the
// client runs with, which it does not tell).
//
// Files to know: consumer.go (a poll is a coroutine), outcome.go, settings.go.
package librdkafka
