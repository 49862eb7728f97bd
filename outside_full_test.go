//go:build full

package kafkabench_test

import (
	"archive/zip"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

const outsideVersion = "v0.0.1"

// TestOutsideModule compiles the programs of docs/queue.md and docs/backpressure.md in a module of its own, and runs the
// page's test of a handler.
func TestOutsideModule(t *testing.T) {
	module := command(t, ".", nil, "go", "list", "-m")
	proxy, programs := t.TempDir(), t.TempDir()
	publish(t, filepath.Join(proxy, module, "@v"), module)
	copyPrograms(t, "docs/queue.md", programs, "queue/main.go", "queue/main_test.go")
	copyPrograms(t, "docs/backpressure.md", programs, "gate/main.go")
	write(t, filepath.Join(programs, "go.mod"), "module example.com/outside\n\ngo 1.26.0\n\nrequire "+module+" "+outsideVersion+"\n")

	downloads := filepath.Join(command(t, ".", nil, "go", "env", "GOMODCACHE"), "cache", "download")
	env := []string{
		"GOPROXY=file://" + proxy + ",file://" + downloads + "," + command(t, ".", nil, "go", "env", "GOPROXY"),
		"GOSUMDB=off", "GOWORK=off", "GOFLAGS=-mod=mod -modcacherw -trimpath", "GOMODCACHE=" + t.TempDir(),
	}
	command(t, programs, env, "go", "build", "-o", t.TempDir(), "./...")
	if got := command(t, programs, env, "go", "test", "./queue"); !strings.HasPrefix(got, "ok") {
		t.Errorf("the test printed\n%s", got)
	}
}

// copyPrograms writes the blocks of Go code of a page that begin with a package clause.
func copyPrograms(t *testing.T, page, dir string, names ...string) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```go\n(package main\n.*?)```").FindAllStringSubmatch(string(text), -1)
	if len(blocks) != len(names) {
		t.Fatalf("%s has %d programs, want %d", page, len(blocks), len(names))
	}
	for i, name := range names {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, path, blocks[i][1])
	}
}

func publish(t *testing.T, dir, module string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	info, err := json.Marshal(map[string]any{"Version": outsideVersion, "Time": time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)})
	if err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "list"), outsideVersion+"\n")
	write(t, filepath.Join(dir, outsideVersion+".info"), string(info))
	write(t, filepath.Join(dir, outsideVersion+".mod"), string(mod))

	archive, err := os.Create(filepath.Join(dir, outsideVersion+".zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	files := zip.NewWriter(archive)
	// The public packages import nothing else of the module (TestWalls).
	for _, part := range []string{"go.mod", "backpressure", "kmq", "internal/lagcontrol"} {
		err := filepath.WalkDir(part, func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			content, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			file, err := files.Create(module + "@" + outsideVersion + "/" + filepath.ToSlash(name))
			if err != nil {
				return err
			}
			_, err = file.Write(content)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := files.Close(); err != nil {
		t.Fatal(err)
	}
}

func command(t *testing.T, dir string, env []string, name string, args ...string) string {
	t.Helper()
	var stderr strings.Builder
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env, cmd.Stderr = dir, append(os.Environ(), env...), &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, stderr.String())
	}
	return strings.TrimSpace(string(out))
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}
