package main

import (
	"strings"
	"testing"
)

func TestDriverNamed(t *testing.T) {
	seen := make(map[string]bool)
	for _, known := range knownDrivers() {
		if seen[known.Name] {
			t.Errorf("%s is there twice", known.Name)
		}
		seen[known.Name] = true
		d, err := driverNamed(known.Name)
		switch {
		case (known.Open == nil) == (known.Missing == ""):
			t.Errorf("%s: it is built in, and missing because %q", known.Name, known.Missing)
		case known.Open != nil && (err != nil || d.Name() != known.Name):
			t.Errorf("%s does not open: %v", known.Name, err)
		case known.Open == nil && (err == nil || !strings.Contains(err.Error(), "make build")):
			t.Errorf("%s: %v, want how to come by it", known.Name, err)
		}
	}
	for _, name := range []string{"franz", "sarama", "segmentio", "librdkafka"} {
		if !seen[name] {
			t.Errorf("%s is not known", name)
		}
	}
	if _, err := driverNamed("pykafka"); err == nil || !strings.Contains(err.Error(), "there is franz, sarama") {
		t.Errorf("a driver that nobody knows: %v, want the names of those that are", err)
	}
}
