//go:build librdkafka && cgo

package main

import (
	"kafka-bench/internal/driver/librdkafka"
)

// librdkafkaDriver is the one client that needs cgo. See CONTRIBUTING.md.
func librdkafkaDriver() knownDriver {
	return knownDriver{Name: "librdkafka", Open: librdkafka.New}
}
