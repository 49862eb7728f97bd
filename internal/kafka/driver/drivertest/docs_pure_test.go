//go:build !(librdkafka && cgo)

package drivertest_test

import "kafkabench.example/kafka-bench/internal/kafka/driver"

// inC are the drivers that need cgo, which this build does without.
func inC() []driver.Driver { return nil }
