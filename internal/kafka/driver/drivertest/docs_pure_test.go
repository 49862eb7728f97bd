//go:build !(librdkafka && cgo)

package drivertest_test

import "kafkabench.example/kafka-bench/internal/kafka/driver"

func inC() []driver.Driver { return nil }
