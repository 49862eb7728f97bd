//go:build librdkafka && cgo

package main

import (
	"kafkabench.example/kafka-bench/internal/kafka/driver/librdkafka"
)

// This is the only driver that needs cgo. See CONTRIBUTING.md.
func librdkafkaDriver() knownDriver {
	return knownDriver{Name: "librdkafka", Open: librdkafka.New}
}
