package bench

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kafkabench.example/kafka-bench/internal/plan/scenario"
)

func ofFile(t *testing.T, records int, overrides ...string) scenario.Scenario {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"s.yaml": "load: {record: {payload: {file: f}}}", "f": strings.Repeat(strings.Repeat("a", 1023)+"\n", records),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	suite, err := scenario.ReadSuite(filepath.Join(dir, "s.yaml"), scenario.Options{Set: overrides})
	if err != nil {
		t.Fatal(err)
	}
	return suite.Cells[0].Scenario
}

func TestRepeatsInBatch(t *testing.T) {
	const want = "load.record.payload.file: its 10.2 kB of records are less than a batch of 64KiB"
	for _, c := range []struct {
		name  string
		s     scenario.Scenario
		warns bool
	}{
		{"a small file", ofFile(t, 10), true},
		{"not compressed", ofFile(t, 10, "load.compression=none"), false},
		{"a large file", ofFile(t, 70), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRun(Config{Scenario: c.s})
			if err := r.makePayloads(t.Context()); err != nil {
				t.Fatal(err)
			}
			warned := strings.Join(r.warnings, "\n")
			if c.warns != strings.HasPrefix(warned, want) || !c.warns && warned != "" {
				t.Errorf("the warnings are %q", warned)
			}
		})
	}
}

// A plan that came from another machine names no file of this one.
func TestPartReadsNoFile(t *testing.T) {
	r := newRun(Config{Scenario: ofFile(t, 1)})
	r.portion = portion{parts: 2}
	if err := r.makePayloads(t.Context()); !errors.Is(err, ErrFileWithAgents) {
		t.Errorf("the error is %v", err)
	}
}
