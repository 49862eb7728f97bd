// Package librdkafka drives Kafka through librdkafka, a client in C, by way of confluent-kafka-go. It needs cgo and
// the build tag librdkafka, and is empty without them; see CONTRIBUTING.md.
//
// A measurement shows the client as a Go program uses it. Each record needs one call into C to produce it, and one
// object for the record or its delivery report on the way back.
//
// Files to know: consumer.go (a poll is a coroutine), outcome.go, settings.go.
package librdkafka
