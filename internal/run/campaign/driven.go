package campaign

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/run/bench"
)

const driverAxis = "driver"

// LeaveOut removes the cells of a suite whose driver is not available. missing returns why a driver
// is missing, or "". The result has one note for each missing driver. If no cell is left, LeaveOut
// returns an error.
func LeaveOut(suite scenario.Suite, missing func(driver string) string) (scenario.Suite, []string, error) {
	gone := map[string]int{}
	var names []string
	var kept []scenario.Cell
	for _, cell := range suite.Cells {
		name := cell.Scenario.Driver
		if missing(name) == "" {
			kept = append(kept, cell)
			continue
		}
		if gone[name]++; gone[name] == 1 {
			names = append(names, name)
		}
	}
	var notes []string
	var faults []error
	for _, name := range names {
		notes = append(notes, fmt.Sprintf("%s of %s left out: %s", cells(gone[name]), suite.Name, missing(name)))
		faults = append(faults, fmt.Errorf("scenario %s: driver: %s", suite.Name, missing(name)))
	}
	if len(kept) == 0 {
		return suite, nil, errors.Join(faults...)
	}
	suite.Cells = kept
	suite.Axes = slices.Clone(suite.Axes)
	for i, axis := range suite.Axes {
		if axis.Path == driverAxis {
			suite.Axes[i].Values = slices.DeleteFunc(slices.Clone(axis.Values),
				func(name string) bool { return gone[name] > 0 })
		}
	}
	return suite, notes, nil
}

func cells(n int) string {
	if n == 1 {
		return "1 cell"
	}
	return fmt.Sprintf("%d cells", n)
}

// Unmet returns everything that the scenarios need and their drivers lack; nil if nothing. access is what all
// need to connect, each with how to do without it. open returns the driver of a name, and names has all names.
func Unmet(scenarios []scenario.Scenario, access map[driver.Capability]string, names []string,
	open func(name string) (driver.Driver, error)) error {
	var faults []error
	for _, s := range scenarios {
		d, err := open(s.Driver)
		if err != nil {
			faults = append(faults, fmt.Errorf("scenario %s: driver: %w", s.Name, err))
			continue
		}
		if err := bench.CheckQueue(s); err != nil {
			faults = append(faults, fmt.Errorf("scenario %s: %w", s.Name, err))
		}
		var unmet []error
		lacks := d.Lacks()
		needs := bench.NeedsOf(s)
		for _, c := range slices.Sorted(maps.Keys(access)) {
			needs = append(needs, bench.Need{Capability: c, Key: "--command-config", Remedy: access[c]})
		}
		for _, n := range needs {
			if why, lacking := lacks[n.Capability]; lacking {
				unmet = append(unmet,
					fmt.Errorf("scenario %s: %s asks for %s, which the driver %s does not have (%s); %s, or choose another driver%s",
						s.Name, n.Key, n.Capability, s.Driver, why, n.Remedy, having(n.Capability, names, open)))
			}
		}
		if len(unmet) == 0 { // a client needs all its settings
			if err := bench.CheckClients(s, d); err != nil {
				unmet = append(unmet, fmt.Errorf("scenario %s: %w", s.Name, err))
			}
		}
		faults = append(faults, unmet...)
	}
	return errors.Join(faults...)
}

// having returns ": " and the drivers with a capability; "" if there are none.
func having(c driver.Capability, names []string, open func(name string) (driver.Driver, error)) string {
	var having []string
	for _, name := range names {
		if d, err := open(name); err == nil && !driver.Lacks(d, c) {
			having = append(having, name)
		}
	}
	if len(having) == 0 {
		return ""
	}
	return ": " + strings.Join(having, " or ")
}
