//go:build proof

package main

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/run/calibrate"
)

func TestCalibrate(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	plan := calibrate.Plan{
		Quick: true, RecordBytes: []int{1024},
		Warmup: 50 * time.Millisecond, Measure: 150 * time.Millisecond, Micro: 5 * time.Millisecond,
	}
	var stdout bytes.Buffer
	if err := (surroundings{}).calibrateMachine(t.Context(), plan, "franz", &stdout, io.Discard); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"as fast as it goes", "frugal", "precise", "1KiB", "A reading of the clock takes", "Kept in "} {
		if !strings.Contains(stdout.String(), want) {
			t.Errorf("it does not say %q:\n%s", want, stdout.String())
		}
	}
	home, err := cluster.UserHome()
	if err != nil {
		t.Fatal(err)
	}
	c, err := calibrate.Load(home.Dist)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(stdout.String(), c.Sentence()+"\n") {
		t.Errorf("it does not begin with the sentence:\n%s", stdout.String())
	}
}
