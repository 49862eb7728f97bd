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

// knownDriver is a Kafka client to test, in this binary or in another build of it.
type knownDriver struct {
	Name string
	// Open is nil if this binary was built without the driver; Missing then says why, and what to
	// do.
	Open    func() driver.Driver
	Missing string
}

// knownDrivers is in the order in which lists show the drivers. No other place names drivers.
func knownDrivers() []knownDriver {
	return []knownDriver{
		{Name: "franz", Open: func() driver.Driver { return franz.New() }},
		{Name: "sarama", Open: sarama.New},
		{Name: "segmentio", Open: func() driver.Driver { return segmentio.New() }},
		librdkafkaDriver(),
	}
}

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
