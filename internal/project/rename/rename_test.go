package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The text of these files also has what only looks like the path.
var before = map[string]string{
	"go.mod":      "module old.example/bench\n\ngo 1.26.0\n",
	"sub/go.mod":  "module old.example/bench/sub\n\ngo 1.26.0\n",
	"a.go":        "package a\n\nimport (\n\t\"example.com/z\"\n\t\"old.example/bench/kmq\"\n)\n\nvar _ = z.X + kmq.Y\n",
	"README.md":   "Import `old.example/bench/kmq`; start cmd/bench or bin/bench.\n",
	"build.sh":    "#!/bin/sh\ngo test old.example/bench/...\n",
	"results.bin": "\x00old.example/bench\n",
}

var after = map[string]string{
	"go.mod":      "module a.example.com/b\n\ngo 1.26.0\n",
	"sub/go.mod":  "module a.example.com/b/sub\n\ngo 1.26.0\n",
	"a.go":        "package a\n\nimport (\n\t\"a.example.com/b/kmq\"\n\t\"example.com/z\"\n)\n\nvar _ = z.X + kmq.Y\n",
	"README.md":   "Import `a.example.com/b/kmq`; start cmd/bench or bin/bench.\n",
	"build.sh":    "#!/bin/sh\ngo test a.example.com/b/...\n",
	"results.bin": "\x00old.example/bench\n",
}

func TestRename(t *testing.T) {
	dir := checkout(t)
	if err := run(dir, "a.example.com/b"); err != nil {
		t.Fatal(err)
	}
	wantFiles(t, dir, after)
	if info, err := os.Stat(filepath.Join(dir, "build.sh")); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("build.sh is %v (%v), want one that can be executed", info, err)
	}
}

func TestAChangedWorkTreeIsRefused(t *testing.T) {
	dir := checkout(t)
	write(t, filepath.Join(dir, "new.go"), "package a\n")
	if err := run(dir, "a.example.com/b"); err == nil {
		t.Error("there is no error")
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
	git(t, dir, "add", ".")
	git(t, dir, "-c", "user.name=test", "-c", "user.email=test@test.invalid", "commit", "-q", "-m", "files")
	return dir
}

func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	if out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	mode := os.FileMode(0o644)
	if filepath.Ext(path) == ".sh" {
		mode = 0o755
	}
	if err := os.WriteFile(path, []byte(content), mode); err != nil {
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
