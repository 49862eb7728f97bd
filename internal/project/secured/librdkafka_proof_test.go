//go:build proof && librdkafka && cgo

package secured

import (
	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/kafka/driver/librdkafka"
)

func inC() []driver.Driver { return []driver.Driver{librdkafka.New()} }
