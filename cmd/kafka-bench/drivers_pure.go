//go:build !(librdkafka && cgo)

package main

// librdkafkaDriver is not in a binary of Go alone.
func librdkafkaDriver() knownDriver {
	return knownDriver{
		Name: "librdkafka",
		Missing: "this kafka-bench was built without the driver librdkafka, which is in C; " +
			"where a C compiler is, `make build` makes bin/kafka-bench-librdkafka, which has it",
	}
}
