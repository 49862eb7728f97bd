//go:build !(librdkafka && cgo)

package drivertest_test

import "kafkabench.example/kafka-bench/internal/kafka/driver"

// inC returns no driver: this build has no cgo.
func inC() []driver.Driver { return nil }
