package main

import (
	"strings"
	"testing"
)

func TestScenarioFromStandardInput(t *testing.T) {
	given := func(text string) surroundings { return surroundings{stdin: strings.NewReader(text)} }
	for _, c := range []struct {
		args, text, stdout, stderr string
		code                       int
	}{
		{"show -", tiny, "name: stdin", "", exitValid},
		{"run - --dry-run --cluster embedded", tiny, "stdin", "", exitValid},
		{"show quick --merge -", "load: {rate: 7/s}", "rate: 7/s", "", exitValid},
		{"run -", "load:\n  rate: 5x\n", "", "stdin:2:9: load.rate: ", exitBadInput},
		{"run -", "", "", "stdin:1:1: it is empty; ", exitBadInput},
		{"run - -", tiny, "", "kafka-bench: scenario from standard input cannot be read: it was read already; give - once", exitBadInput},
	} {
		got := invokeIn(t, given(c.text), strings.Fields(c.args)...)
		if got.code != c.code || !strings.Contains(got.stdout, c.stdout) || !strings.HasPrefix(got.stderr, c.stderr) {
			t.Errorf("%s: exit code %d and\n%s%s\nwant %d, %q and %q", c.args, got.code, got.stdout, got.stderr, c.code, c.stdout, c.stderr)
		}
	}
}

func TestRunWithoutAScenario(t *testing.T) {
	got := invoke(t, "run")
	if lines := strings.Count(got.stderr, "\n"); got.code != exitBadInput || lines != 5 || got.stdout != "" {
		t.Errorf("exit code %d and %d lines:\n%s", got.code, lines, got.stderr)
	}
}

func TestKeptTopicsOfOneName(t *testing.T) {
	t.Chdir(t.TempDir())
	file := write(t, tiny)
	for _, args := range []string{"run " + file + " --repeat 2", "run " + file + " " + file, "search " + file} {
		named := args + " --cluster embedded --keep-topics --set topic.name=orders"
		wantBad(t, invoke(t, strings.Fields(named)...), "--keep-topics: several runs have topic.name orders, and only the first could make it; leave out one of the two")
	}
}
