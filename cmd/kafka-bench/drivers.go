package main

import (
	"errors"
	"fmt"
	"strings"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/kafka/driver/franz"
	"kafkabench.example/kafka-bench/internal/kafka/driver/sarama"
	"kafkabench.example/kafka-bench/internal/kafka/driver/segmentio"
)

// knownDriver is a client that can be put under test, in this binary or in
// another build of it.
type knownDriver struct {
	Name string
	// Open returns the driver. It is nil where this binary was built without it,
	// and then Missing says why, and how to come by a binary that has it.
	Open    func() driver.Driver
	Missing string
}

// knownDrivers are the clients that can be put under test, in the order in which
// a person is told of them. This list is the only place that names them.
func knownDrivers() []knownDriver {
	return []knownDriver{
		{Name: "franz", Open: func() driver.Driver { return franz.New() }},
		{Name: "sarama", Open: sarama.New},
		{Name: "segmentio", Open: func() driver.Driver { return segmentio.New() }},
		librdkafkaDriver(),
	}
}

// driverNamed opens the driver of that name.
func driverNamed(name string) (driver.Driver, error) {
	var names []string
	for _, known := range knownDrivers() {
		switch {
		case known.Name == name && known.Open != nil:
			return known.Open(), nil
		case known.Name == name:
			return nil, errors.New(known.Missing)
		}
		names = append(names, known.Name)
	}
	return nil, fmt.Errorf("there is no driver %q; there is %s", name, strings.Join(names, ", "))
}
