// Package librdkafka drives Kafka through librdkafka, a client in C, by way of confluent-kafka-go. It needs cgo and the
// build tag librdkafka, and is empty without them; see CONTRIBUTING.md.
//
// A measurement shows the client as a Go program uses it, including the calls into C. Each record needs one call to
// produce it, and one object for the record or its delivery report on the way back. The driver adds little. It reuses
// the client's message of each driver.Record, reads reports from the client's channel of events, and gathers ready
// records into chunks.
//
// The difficult parts are the outcome of a record without an ack (outcome.go), a rebalance between two records of a
// poll (consumer.go) and the effective settings (settings.go). The client does not report the last.
//
// Files to know: consumer.go (a poll is a coroutine), outcome.go, settings.go.
package librdkafka
