package main

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestDrivers lists every client, and why one is missing.
func TestDrivers(t *testing.T) {
	got := invoke(t, "drivers")
	for _, known := range knownDrivers() {
		wantSaid(t, got.stdout, known.Name)
		if known.Missing != "" {
			wantSaid(t, got.stdout, known.Name+": "+known.Missing)
		}
	}
	var all []aDriver
	if err := json.Unmarshal([]byte(invoke(t, "drivers", "--format", "json").stdout), &all); err != nil {
		t.Fatal(err)
	}
	for i, known := range knownDrivers() {
		if d := all[i]; d.Name != known.Name || d.BuiltIn != (known.Open != nil) || d.BuiltIn == (d.Version == "") || d.Missing != known.Missing {
			t.Errorf("%+v", d)
		}
	}
}

// TestWhatADriverLacks is told before anything starts, all of it, with the key that
// asks for it and what would do without.
func TestWhatADriverLacks(t *testing.T) {
	got := invoke(t, "run", "quick", "--dry-run", "--driver", "segmentio", "--set", "load.acks=all", "--set", "load.idempotent=true", "--set", "consume.protocol=consumer")
	if got.code != exitBadInput || got.stdout != "" || strings.Count(got.stderr, "\n") != 2 {
		t.Errorf("exit code %d and\n%s%s", got.code, got.stdout, got.stderr)
	}
	wantSaid(t, got.stderr,
		"scenario quick: load.idempotent asks for idempotent producing, which the driver segmentio does not have (", "; set it to false, or choose another driver",
		"scenario quick: consume.protocol asks for the group protocol consumer, which the driver segmentio does not have (", "; set it to classic, or choose another driver")
}

// TestDriverOfAMatrix: --driver keeps one of a matrix over drivers, and what this binary
// was not built with is left out, and told of.
func TestDriverOfAMatrix(t *testing.T) {
	const matrix = "matrix.driver=[franz, sarama, librdkafka]"
	got := invoke(t, "run", "quick", "--dry-run", "--cluster", "embedded", "--set", matrix)
	if why := notBuilt("librdkafka"); why != "" {
		wantSaid(t, got.stderr, "1 cell of quick left out: "+why)
		wantSaid(t, got.stdout, "quick: 2 runs\n")
		alone := invoke(t, "run", "quick", "--dry-run", "--cluster", "embedded", "--set", matrix, "--driver", "librdkafka")
		if alone.code != exitBadInput || alone.message() != "scenario quick: driver: "+why {
			t.Errorf("exit code %d and %s", alone.code, alone.message())
		}
	} else {
		wantSaid(t, got.stdout, "quick: 3 runs\n")
	}
	got = invoke(t, "run", "quick", "--dry-run", "--cluster", "embedded", "--set", matrix, "--driver", "sarama")
	wantSaid(t, got.stdout, "quick: 1 run\n", "driver=sarama")
}

// TestQuickForm runs what the scenario says of it, under a name of its own.
func TestQuickForm(t *testing.T) {
	file := write(t, "phases: {measure: 1h}\nquick: {phases: {measure: 2s}, repeat: 3}\n")
	got := invoke(t, "run", file, "--quick", "--dry-run", "--cluster", "embedded")
	wantSaid(t, got.stdout, "-quick: 3 runs\n")
	if got.code != exitValid {
		t.Error(got.stderr)
	}
	wantSaid(t, invoke(t, "show", file, "--quick").stdout, "measure: 2s")
	wantSaid(t, invoke(t, "show", file).stdout, "measure: 1h")
}
