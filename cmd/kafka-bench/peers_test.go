package main

import (
	"strings"
	"testing"
)

func TestPeersRefuses(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, c := range []struct{ args, want string }{
		{"peers", "peers needs one SCENARIO: a preset's name (kafka-bench list) or a YAML file"},
		{"peers quick --repeat 0", "--repeat 0: give 1 to 1000"},
		{"peers quick --set load.arrival=poisson", "scenario quick: load.arrival is poisson, and kafka-producer-perf-test has a constant rate or none; use constant"},
	} {
		wantBad(t, invoke(t, strings.Fields(c.args)...), c.want)
	}
	wantNothing(t, "runs")
}
