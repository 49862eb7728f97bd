package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const root = "../../.."

func TestDesignIsCurrent(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, page))
	if err != nil {
		t.Fatal(err)
	}
	packages, err := read(root)
	if err != nil {
		t.Fatal(err)
	}
	tables, err := fileMap(packages)
	if err != nil {
		t.Fatal(err)
	}
	written, err := replace(string(text), tables)
	if err != nil {
		t.Fatal(err)
	}
	if written != string(text) {
		t.Errorf("the file map of %s is not what the package comments say: run make design", page)
	}
}

func TestPathsExist(t *testing.T) {
	pages := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch name := d.Name(); {
		case err != nil:
			return err
		case d.IsDir() && path != root && (name == "testdata" || name == "results" || strings.HasPrefix(name, ".")):
			return fs.SkipDir
		case d.IsDir() || filepath.Ext(name) != ".md" || name == "CHANGELOG.md":
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		pages++
		for _, name := range missing(string(text), filepath.Dir(path), root) {
			t.Errorf("%s names %s, which does not exist", path, name)
		}
		return nil
	})
	if err != nil || pages < 10 {
		t.Fatalf("%d pages were read: %v", pages, err)
	}
}

func TestMissingFindsWhatIsNot(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{
		"internal/load/worker.go", "internal/load/slot_linux.go", "internal/kafka/driver/franz.go",
		"kmq/queue.go", "main_test.go",
	} {
		write(t, dir, path, "package x")
	}
	for _, c := range []struct{ text, want string }{
		{"`load/worker.go`, `slot_*.go`, `worker.go` and `kmq/queue.go`, `main_test.go`", ""},
		{"`internal/load/worker.go` and `internal/load`, `kmq/`", ""},
		{"`driver/franz.go`, a package by its last element", ""},
		{"`bench/worker.go`", "bench/worker.go"},
		{"| `internal/load` | `worker.go`, `queue.go` |", "queue.go"},
		{"`internal/bench` and `schema/run.json`", "internal/bench schema/run.json"},
		{"`load/worker.go`, `queue.go`", "queue.go"},
		{"`load/worker.go`\n\n`queue.go` of any folder, `gone.go` of none", "gone.go"},
		{"- `load/worker.go`\n- `queue.go`", ""},
		{"no path: `make`, `f.go()`, `.go`, `a/b`, `go test ./internal/gone`", ""},
	} {
		if got := strings.Join(missing(c.text, dir), " "); got != c.want {
			t.Errorf("missing(%q) is %q, want %q", c.text, got, c.want)
		}
	}
}

func TestRowOfAPackage(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "internal/load/doc.go", `// Package load is the hot path of a [run.Run]. More of it.
//
// Files to know: doc.go (what it
// is), sleep*.go, presets/.
package load`)
	write(t, dir, "internal/load/sleep_linux.go", "package load")
	write(t, dir, "internal/load/presets/one.yaml", "")
	write(t, dir, "internal/load/testdata/no.go", "package no")
	packages, err := read(dir)
	if err != nil {
		t.Fatal(err)
	}
	tables, err := fileMap(packages)
	if err != nil {
		t.Fatal(err)
	}
	want := "| `internal/load` | the hot path of a `run.Run` | `doc.go` (what it is), `sleep*.go`, `presets/` |\n"
	if !strings.HasSuffix(tables, "|---|---|---|\n"+want+"\n") {
		t.Errorf("the tables are\n%s\nwant the one row\n%s", tables, want)
	}
}

func TestBadCommentsAreFaults(t *testing.T) {
	long := strings.Repeat("word ", maxWords)
	for _, c := range []struct{ path, comment, fault string }{
		{"kmq/a.go", "", "kmq: no package comment"},
		{"kmq/a.go", "// It has none.\n", "kmq: no package comment"},
		{"kmq/a.go", "// Package kmq is " + long + ".\n", "29 words"},
		{"kmq/a.go", "// Package kmq is short.\n//\n// Files to know: b.go.\n", "b.go, which does not exist"},
		{"internal/new/a.go", "// Package new is in no group.\n", "internal/new is in no group"},
	} {
		dir := t.TempDir()
		write(t, dir, c.path, c.comment+"package x")
		packages, err := read(dir)
		if err == nil {
			_, err = fileMap(packages)
		}
		if err == nil || !strings.Contains(err.Error(), c.fault) {
			t.Errorf("%s with %q: %v, want %q", c.path, c.comment, err, c.fault)
		}
	}
}

func TestReplaceWantsItsMarks(t *testing.T) {
	if got, err := replace("a\n"+begin+"old\n"+end+"b\n", "new\n"); err != nil || got != "a\n"+begin+"\nnew\n"+end+"b\n" {
		t.Errorf("replace returns %q, %v", got, err)
	}
	if _, err := replace("a\n"+begin+"b\n", "new\n"); err == nil {
		t.Error("a text without its end mark is accepted")
	}
}

func write(t *testing.T, root, path, text string) {
	t.Helper()
	path = filepath.Join(root, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
