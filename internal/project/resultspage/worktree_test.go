package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// workTree returns an empty git work tree.
func workTree(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if out, err := exec.Command("git", "-C", dir, "init", "-q").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return dir
}

func TestChangedWorkTreeIsRefused(t *testing.T) {
	j := job{from: "results", page: "docs/RESULTS.md", readme: "README.md"}
	if err := j.unchanged(t.Context(), t.TempDir()); err == nil {
		t.Error("a folder without git is accepted")
	}
	dir := workTree(t)
	for _, c := range []struct {
		file    string
		refused bool
	}{{"results/run/run.json", false}, {"docs/RESULTS.md", false}, {"docs/images/a.svg", false}, {"README.md", false}, {"cmd/new.go", true}} {
		path := filepath.Join(dir, c.file)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("new"), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := j.unchanged(t.Context(), dir); (err != nil) != c.refused {
			t.Errorf("with a changed %s: error %v", c.file, err)
		}
	}
}
