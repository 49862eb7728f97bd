//go:build proof && !(librdkafka && cgo)

package secured

import "kafkabench.example/kafka-bench/internal/kafka/driver"

func inC() []driver.Driver { return nil }
