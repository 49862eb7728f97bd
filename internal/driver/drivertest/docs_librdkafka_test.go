//go:build librdkafka && cgo

package drivertest_test

import (
	"kafka-bench/internal/driver"
	"kafka-bench/internal/driver/librdkafka"
)

// inC are the drivers that need cgo.
func inC() []driver.Driver { return []driver.Driver{librdkafka.New()} }
