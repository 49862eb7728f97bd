package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The text of these files also has what only looks like the path.
var before = map[string]string{
	"go.mod": "module kafka-bench\n\ngo 1.26.0\n",
	"a.go": `// Package a uses kafka-bench/internal/b, and lies in other/kafka-bench/internal/b.
package a

import (
	"fmt"

	b2 "kafka-bench/internal/b"
	_ "kafka-bench/kmq"
	_ "kafka-bench-tools/kmq"
)

const stays = "kafka-bench/internal/b"

var _ = fmt.Sprint(b2.X)
`,
	"README.md":   "Import `kafka-bench/kmq`; start cmd/kafka-bench or bin/kafka-bench/x.\n",
	"lint.yaml":   "- (*kafka-bench/internal/b.T).Close\n",
	"Makefile":    "go test kafka-bench/backpressure\n",
	"results.txt": "kafka-bench/kmq\n",
}

var after = map[string]string{
	"go.mod": "module example.com/bench\n\ngo 1.26.0\n",
	"a.go": `// Package a uses example.com/bench/internal/deep/b, and lies in other/kafka-bench/internal/b.
package a

import (
	"fmt"

	b2 "example.com/bench/internal/deep/b"
	_ "example.com/bench/kmq"
	_ "kafka-bench-tools/kmq"
)

const stays = "kafka-bench/internal/b"

var _ = fmt.Sprint(b2.X)
`,
	"README.md":   "Import `example.com/bench/kmq`; start cmd/kafka-bench or bin/kafka-bench/x.\n",
	"lint.yaml":   "- (*example.com/bench/internal/deep/b.T).Close\n",
	"Makefile":    "go test example.com/bench/backpressure\n",
	"results.txt": "kafka-bench/kmq\n",
}

func TestRename(t *testing.T) {
	dir := checkout(t)
	args := []string{"example.com/bench", "kafka-bench/internal/b=example.com/bench/internal/deep/b"}
	if err := run(dir, args, &bytes.Buffer{}); err != nil {
		t.Fatal(err)
	}
	wantFiles(t, dir, after)
}

func TestRefusedRename(t *testing.T) {
	for name, c := range map[string]struct {
		args   []string
		change string
		want   string
	}{
		"no module":  {nil, "", "MODULE="},
		"empty":      {[]string{""}, "", "MODULE="},
		"no path":    {[]string{"a b"}, "", "not a module path"},
		"work tree":  {[]string{"example.com/bench"}, "a.go", "the work tree has changes"},
		"a new file": {[]string{"example.com/bench"}, "new.go", "the work tree has changes"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := checkout(t)
			if c.change != "" {
				write(t, filepath.Join(dir, c.change), "package a\n")
			}
			err := run(dir, c.args, &bytes.Buffer{})
			if !errors.Is(err, errInput) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error is %v, want one with %q that ends in exit code 2", err, c.want)
			}
			if c.change == "" {
				wantFiles(t, dir, before)
			}
		})
	}
}

func TestNothingIsWrittenBesideABrokenFile(t *testing.T) {
	dir := checkout(t)
	write(t, filepath.Join(dir, "broken.go"), "package")
	commit(t, dir)
	if err := run(dir, []string{"example.com/bench"}, &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), "broken.go") {
		t.Errorf("the error is %v, want one that names broken.go", err)
	}
	wantFiles(t, dir, before)
}

func checkout(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, content := range before {
		write(t, filepath.Join(dir, name), content)
	}
	git(t, dir, "init", "-q")
	commit(t, dir)
	return dir
}

func commit(t *testing.T, dir string) {
	t.Helper()
	git(t, dir, "add", ".")
	git(t, dir, "-c", "user.name=test", "-c", "user.email=test@test.invalid", "commit", "-q", "-m", "files")
}

func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	if _, err := output(dir, "git", args...); err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func wantFiles(t *testing.T, dir string, want map[string]string) {
	t.Helper()
	for name, content := range want {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != content {
			t.Errorf("%s (%v):\n%s\nwant\n%s", name, err, got, content)
		}
	}
}
