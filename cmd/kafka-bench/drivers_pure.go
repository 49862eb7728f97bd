//go:build !(librdkafka && cgo)

package main

func librdkafkaDriver() knownDriver {
	return knownDriver{
		Name: "librdkafka",
		Missing: "this kafka-bench was built without the driver librdkafka, which is in C; " +
			"with a C compiler, `make build` makes bin/kafka-bench-librdkafka, which has it",
	}
}
