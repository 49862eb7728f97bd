package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"kafka-bench/internal/driver"
	"kafka-bench/internal/driver/franz"
)

// drivers are the clients that can be put under test. This map is the only
// place that names them.
var drivers = map[string]func() driver.Driver{
	"franz": func() driver.Driver { return franz.New() },
}

func driverNamed(name string) (driver.Driver, error) {
	open, known := drivers[name]
	if !known {
		return nil, fmt.Errorf("there is no driver %q; there is %s", name, strings.Join(slices.Sorted(maps.Keys(drivers)), ", "))
	}
	return open(), nil
}
