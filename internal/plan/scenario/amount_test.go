package scenario

import (
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/plan/unit"
)

// An amount that the user gives lifts a window that he did not give.
func TestAmountLiftsTheWindow(t *testing.T) {
	for _, c := range []struct {
		arg, text string // a preset, or a file's text
		overrides []string
		want      time.Duration
	}{
		{"quick", "", []string{"load.records=1000"}, 5 * time.Second}, // it is never shortened
		{"quick", "", []string{"load.records=60001"}, 13 * time.Second},
		{"quick", "", []string{"load.records_each=15000"}, 12 * time.Second},
		{"quick", "", []string{"load={records: 60001}"}, 13 * time.Second},
		{"quick", "", []string{"load.records=1000000000"}, time.Hour},
		{"quick", "", []string{"load.records=60000", "load.arrival=poisson"}, 14 * time.Second},
		{"quick", "", []string{"load.volume=51.2MB"}, 22 * time.Second},
		{"quick", "", []string{"load.records=60000", "load.arrival={process: ramp, to: 9k/s}"}, 5 * time.Second},
		{"quick", "", []string{"load.records=50000000", "load.rate=max"}, time.Hour},
		{"quick", "", []string{"load.records=50000000", "load.rate=max", "phases.measure=7s"}, 7 * time.Second},
		{"produce-only", "", []string{"load.acks=all"}, time.Minute}, // the preset's own volume
		{"produce-only", "", []string{"load.volume=100GB"}, time.Hour},
		{"", "load: {records: 50000000, rate: max}", nil, time.Hour},
		{"", "load: {records: 50000000, rate: max}\nphases: {measure: 9s}", nil, 9 * time.Second},
		{"", "load: {rate: max}\nphases: {measure: 9s}", []string{"load.records=50000000"}, 9 * time.Second},
	} {
		s, err := Read(c.arg, c.overrides...)
		if c.text != "" {
			s, err = Parse("f.yaml", []byte(c.text), c.overrides...)
		}
		if err != nil || s.Phases.Measure != unit.Duration(c.want) {
			t.Errorf("%s%s %q: %v, and the window is %v, want %v", c.arg, c.text, c.overrides, err, s.Phases.Measure, c.want)
		}
	}
	suite, err := ReadSuite("quick", Options{Set: []string{"matrix.load.records=[1000, 60001]"}})
	if err != nil || suite.Cells[1].Scenario.Phases.Measure != unit.Duration(13*time.Second) {
		t.Errorf("in a matrix: %v, %+v", err, suite.Cells)
	}
}
