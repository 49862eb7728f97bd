package main

import (
	"os"
	"strings"
	"testing"
)

func TestHistoryNamesUnreadableRuns(t *testing.T) {
	recorded(t)
	if err := os.WriteFile("runs/base-2/run.json", []byte("{\x1b[2K"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"base", "runs"} {
		got := invoke(t, "history", name)
		if got.code != exitValid || !strings.HasPrefix(got.stderr, "warning: runs that cannot be read are left out: 1\n  runs/base-2: ") ||
			strings.Contains(got.stderr, "\x1b") {
			t.Errorf("history %s: exit code %d, %q", name, got.code, got.stderr)
		}
	}
	if got := invoke(t, "history", "runs/base-1"); got.stderr != "" {
		t.Errorf("a run that is named itself: %q", got.stderr)
	}
}
