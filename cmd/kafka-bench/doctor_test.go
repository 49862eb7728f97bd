package main

import (
	"encoding/json"
	"strings"
	"testing"

	"kafkabench.example/kafka-bench/internal/kafka/probe"
	"kafkabench.example/kafka-bench/internal/run/doctor"
)

func TestDoctor(t *testing.T) {
	in := surroundings{probes: probe.Unknown()}
	got := invokeIn(t, in, "doctor", "--out", t.TempDir())
	if got.code != exitValid || got.stderr != "" || !strings.Contains(got.stdout, "\nunknown  stolen CPU ") || !strings.Contains(got.stdout, "\n\nRuns work") {
		t.Errorf("exit code %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	got = invokeIn(t, in, "doctor", "--format", "json", "--out", write(t, "no folder"))
	var findings []doctor.Finding
	if err := json.Unmarshal([]byte(got.stdout), &findings); err != nil || !doctor.Prevented(findings, doctor.EveryRun) {
		t.Errorf("%v\n%s", err, got.stdout)
	}
	if got.code != exitBadInput || got.message() != "no run can work on this machine; see the problems above" {
		t.Errorf("exit code %d: %s", got.code, got.stderr)
	}
	if got = invokeIn(t, in, "doctor", "--format", "xml"); got.code != exitBadInput || got.message() != "--format xml: choose text or json" {
		t.Errorf("exit code %d: %s", got.code, got.stderr)
	}
}
