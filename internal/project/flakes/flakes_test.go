package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const makefile = `quick:
	@echo x >>turns; \
	if [ $$(($$(wc -l <turns) % 2)) = 0 ]; then printf -- '--- FAIL: TestA (0.1s)\nFAIL\nFAIL\tm/p\t0.2s\n'; exit 1; fi
test:
	@echo ok
`

func TestRun(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "Makefile"), []byte(makefile), 0o644); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	err := run(context.Background(), dir, []string{"-quick=4", "-test=1"}, &out)
	if err == nil || !strings.Contains(err.Error(), "2 of 5 calls failed") {
		t.Errorf("the error is %v", err)
	}
	if !strings.Contains(out.String(), "  2 × make quick: m/p TestA\n") || strings.Count(out.String(), ": passed") != 3 {
		t.Errorf("the output is\n%s", out.String())
	}
	logs, err := filepath.Glob(filepath.Join(dir, "bin/flakes/quick-[24].log"))
	if err != nil || len(logs) != 2 {
		t.Errorf("the logs are %v (%v)", logs, err)
	}
	if err := run(context.Background(), dir, []string{"-quick=0", "-test=2", "-busy=4"}, &out); err != nil {
		t.Error(err)
	}
	for _, args := range [][]string{{"-quick=x"}, {"-quick=-1"}, {"-quick=0", "-test=0"}, {"-busy=-1"}, {"more"}} {
		if err := run(context.Background(), dir, args, &out); !errors.Is(err, errInput) {
			t.Errorf("%v: the error is %v, want one of exit code 2", args, err)
		}
	}
}

func TestFailing(t *testing.T) {
	for output, want := range map[string][]string{
		"ok  \tm/a\t0.1s\n--- FAIL: TestA (0.00s)\n    --- FAIL: TestA/sub (0.00s)\nFAIL\nFAIL\tm/b\t0.1s\nFAIL\tm/c\t0.1s\n": {"m/b TestA", "m/b TestA/sub", "m/c"},
		"panic: test timed out\nFAIL\tm/a\t9.0s\nFAIL\tm/b [build failed]\n":                                                  {"m/a", "m/b"},
		"not gofmt-ed: a.go\nmake: *** [Makefile:1: vet] Error 1\n":                                                           {"make: *** [Makefile:1: vet] Error 1"},
	} {
		if got := failing(output); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", output, got, want)
		}
	}
}
