//go:build full

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var tiny = map[string]string{
	"go.mod": "module example.com/tiny\n\ngo 1.26\n",
	"two.go": "package tiny\n\nfunc two() int { return 2 }\n",
	"two_test.go": `package tiny

import "testing"

func TestTwo(t *testing.T) {
	if two() != 2 {
		t.Error("not two")
	}
}

func TestNothing(*testing.T) { two() }

func TestAlwaysFails(t *testing.T) { t.Error("whatever two is") }
`,
}

const change = "- {invariant: NAME, file: two.go, from: \"FROM\", to: \"TO\", test: {package: ., run: RUN}}\n"

func TestRun(t *testing.T) {
	for name, c := range map[string]struct{ from, to, test, printed, err string }{
		"noticed":      {"return 2", "return 3", "TestTwo", "TestTwo failed", ""},
		"not-noticed":  {"return 2", "return 3", "TestNothing", "TestNothing PASSED", "breaks of not-noticed"},
		"uncompilable": {"return 2", "return", "TestTwo", "does not compile", "uncompilable"},
		"untested":     {"return 2", "return 3", "TestThree", "has no test TestThree", "untested"},
		"red anyway":   {"return 2", "return 3", "TestAlwaysFails", "fails on the code as it is", "red anyway"},
		"nowhere":      {"return 4", "return 3", "TestTwo", "0 places to change", "nowhere"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write := func(name, text string) {
				path := filepath.Join(dir, name)
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			for name, text := range tiny {
				write(name, text)
			}
			write(breaksFile, strings.NewReplacer("NAME", name, "FROM", c.from, "TO", c.to, "RUN", c.test).Replace(change))
			var printed strings.Builder
			err := run(dir, []string{"-only", name}, &printed)
			if (err != nil) != (c.err != "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("error %v, want %q", err, c.err)
			}
			if !strings.Contains(printed.String(), c.printed) {
				t.Errorf("printed %q, want %q in it", printed.String(), c.printed)
			}
			if text, err := os.ReadFile(filepath.Join(dir, "two.go")); err != nil || string(text) != tiny["two.go"] {
				t.Errorf("two.go is %q, %v", text, err)
			}
		})
	}
}
