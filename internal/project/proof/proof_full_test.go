//go:build full

package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// The tests of "one" import "two"; "three" is independent.
var module = map[string]string{
	".gitignore":           "/bin/\n",
	"go.mod":               "module example.com/tiny\n\ngo 1.26.0\n",
	"Makefile":             "pass:\n\t@echo passing; test ! -e bin/broken\nfail:\n\t@echo failing; exit 1\n",
	"doc.go":               "package tiny\n",
	"one/one.go":           "package one\n",
	"one/one_test.go":      "package one\n\nimport _ \"example.com/tiny/two\"\n",
	"two/two.go":           "package two\n",
	"two/testdata/in.txt":  "in\n",
	"three/three.go":       "package three\n",
	"three/slow_test.go":   "//go:build proof\n\npackage three\n\nimport _ \"example.com/tiny/four\"\n",
	"four/four.go":         "package four\n",
	"docs/of/the/house.md": "a house\n",
}

var tinyGroups = []group{
	{name: "one", packages: []string{"./one"}, own: true, command: []string{"make", "pass"}, timeout: time.Minute},
	{name: "three", packages: []string{"./three"}, own: true, command: []string{"make", "pass"}, timeout: time.Minute},
	{name: "rest", rest: true, timeout: time.Minute},
}

func TestSince(t *testing.T) {
	for name, c := range map[string]struct {
		write, remove string
		want          []string
	}{
		"nothing":                  {"", "", nil},
		"a package":                {"one/one.go", "", []string{"one"}},
		"a test":                   {"one/one_test.go", "", []string{"one"}},
		"a new file":               {"one/new.go", "", []string{"one"}},
		"what a test imports":      {"two/two.go", "", []string{"one", "rest"}},
		"test data":                {"two/testdata/in.txt", "", []string{"one", "rest"}},
		"new test data":            {"two/testdata/new.txt", "", []string{"one", "rest"}},
		"a deleted file":           {"", "two/testdata/in.txt", []string{"one", "rest"}},
		"an import of a slow test": {"four/four.go", "", []string{"three", "rest"}},
		"a document":               {"docs/of/the/house.md", "", []string{"rest"}},
		"an ignored file":          {"bin/x", "", nil},
		"the modules":              {"go.mod", "", []string{"one", "three", "rest"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := checkout(t, module)
			if c.write != "" {
				extend(t, filepath.Join(dir, c.write))
			}
			if c.remove != "" {
				remove(t, filepath.Join(dir, c.remove))
			}
			if got := ended(prove(t, dir, "-since", "HEAD")); !slices.Equal(got, c.want) {
				t.Errorf("%v ran, want %v", got, c.want)
			}
		})
	}
}

func TestRefusedCalls(t *testing.T) {
	dir := checkout(t, module)
	for want, args := range map[string][]string{
		"unknown":   {"-since", "unknown"},
		"nothing":   {"-only", "one,nothing"},
		"nonsense":  {"nonsense"},
		"not-known": {"-not-known"},
	} {
		out, err := prove(t, dir, args...)
		if !errors.Is(err, errInput) || !strings.Contains(err.Error(), want) || out != "" {
			t.Errorf("%v: error %v and output %q, want an error of exit code 2 with %q", args, err, out, want)
		}
	}
}

func TestStamps(t *testing.T) {
	dir := checkout(t, module)
	step := func(what string, want map[string]string, args ...string) {
		t.Helper()
		out, err := prove(t, dir, args...)
		if err != nil {
			t.Fatalf("%s: %v\n%s", what, err, out)
		}
		if got := results(out); !equal(got, want) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	one := func(result string) map[string]string { return map[string]string{"one": result} }
	step("at first", one(passed), "-only", "one")
	step("again", map[string]string{"one": stamped, "three": passed}, "-only", "three,one")
	step("fresh", one(passed), "-only", "one", "-fresh")
	extend(t, filepath.Join(dir, "two/testdata/in.txt"))
	step("after a change", map[string]string{"one": passed, "three": stamped}, "-only", "one,three")
	step("again", one(stamped), "-only", "one")
	extend(t, filepath.Join(dir, "go.sum"))
	step("with other modules", one(passed), "-only", "one")
	extend(t, filepath.Join(dir, "Makefile"))
	step("with another recipe", one(passed), "-only", "one")
	if log, err := os.ReadFile(filepath.Join(dir, "bin/proof/one.log")); err != nil || !strings.Contains(string(log), "passing\n") {
		t.Errorf("the log is %q (%v)", log, err)
	}
	extend(t, filepath.Join(dir, "bin/broken"))
	if out, err := prove(t, dir, "-only", "one", "-fresh"); err == nil {
		t.Errorf("a broken machine passed:\n%s", out)
	}
	remove(t, filepath.Join(dir, "bin/broken"))
	step("after a failure", one(passed), "-only", "one")
}

func TestFailure(t *testing.T) {
	dir := checkout(t, module)
	groups := slices.Clone(tinyGroups)
	var out bytes.Buffer
	if err := run(context.Background(), dir, groups, []string{"-only", "one"}, &out); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		groups[0].command = []string{"make", "fail"}
		out.Reset()
		err := run(context.Background(), dir, groups, nil, &out)
		if err == nil || errors.Is(err, errInput) || !strings.Contains(err.Error(), "make proof ONLY=one") {
			t.Errorf("the error is %v, want one that names the group", err)
		}
		if got := results(out.String()); got["one"] != failed || got["rest"] == "" {
			t.Errorf("the groups ended as %v", got)
		}
	}
}

func TestRest(t *testing.T) {
	dir := checkout(t, module)
	write(t, filepath.Join(dir, "four/slow_test.go"),
		"//go:build full && proof\n\npackage four\n\nimport \"testing\"\n\nfunc TestSlow(t *testing.T) { t.Error(\"it ran\") }\n")
	out, err := prove(t, dir, "-only", "rest")
	if err == nil || !strings.Contains(out, "it ran") || strings.Contains(out, "tiny/one") {
		t.Errorf("error %v:\n%s", err, out)
	}
}

func TestInterrupt(t *testing.T) {
	dir := checkout(t, module)
	ctx, cancel := context.WithCancel(context.Background())
	groups := slices.Clone(tinyGroups)
	groups[0].command = []string{"sh", "-c", "echo started; sleep 600"}
	var out bytes.Buffer
	err := run(ctx, dir, groups, nil, writerFunc(func(b []byte) {
		out.Write(b)
		if string(b) == "started\n" {
			cancel()
		}
	}))
	if !errors.Is(err, context.Canceled) || !strings.Contains(out.String(), interrupted) || strings.Contains(out.String(), "three") {
		t.Errorf("error %v:\n%s", err, out.String())
	}
}

func TestSlowest(t *testing.T) {
	log := "ok  \tm/a\t1.5s\n?   \tm/b\t[no test files]\nFAIL\tm/c\t12.345s\nFAIL\nok  \tm/d\t0.010s [no tests to run]\n"
	want := []string{"slowest packages:", "    12.3 s  m/c", "     1.5 s  m/a", "     0.0 s  m/d"}
	if got := slowest(log); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := slowest("ok  \tm/a\t1.5s\n"); got != nil {
		t.Errorf("of one package: %q", got)
	}
	if got := slowest(strings.Repeat("ok  \tm/a\t1.5s\n", 20)); len(got) != 11 {
		t.Errorf("of 20 packages there are %d lines", len(got))
	}
}

func TestGroups(t *testing.T) {
	seen := make(map[string]bool)
	for _, g := range all {
		command := strings.Join(g.args(), " ")
		if seen[g.name] || seen[command] || g.timeout == 0 || g.why == "" || len(g.packages) == 0 != g.rest {
			t.Errorf("group %+v is not complete, or there twice", g)
		}
		seen[g.name], seen[command] = true, true
	}
	if !slices.ContainsFunc(all, func(g group) bool { return g.rest }) {
		t.Error("there is no rest")
	}
}

func prove(t *testing.T, dir string, args ...string) (stdout string, err error) {
	t.Helper()
	var out bytes.Buffer
	err = run(context.Background(), dir, tinyGroups, args, &out)
	return out.String(), err
}

func ended(out string, err error) (groups []string) {
	if err != nil {
		return []string{err.Error()}
	}
	for _, g := range tinyGroups {
		if results(out)[g.name] != "" {
			groups = append(groups, g.name)
		}
	}
	return groups
}

func results(out string) map[string]string {
	all := make(map[string]string)
	for line := range strings.Lines(out) {
		if f := strings.Fields(line); len(f) >= 2 && slices.Contains([]string{passed, stamped, failed}, f[1]) {
			all[f[0]] = f[1]
		}
	}
	return all
}

func equal(a, b map[string]string) bool {
	for name := range a {
		if a[name] != b[name] {
			return false
		}
	}
	return len(a) == len(b)
}

type writerFunc func([]byte)

func (f writerFunc) Write(b []byte) (int, error) { f(b); return len(b), nil }

func checkout(t *testing.T, files map[string]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, content := range files {
		write(t, filepath.Join(dir, name), content)
	}
	for _, args := range [][]string{
		{"init", "-q"}, {"add", "."},
		{"-c", "user.name=test", "-c", "user.email=test@test.invalid", "commit", "-q", "-m", "files"},
	} {
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	return dir
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func extend(t *testing.T, path string) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil && filepath.Ext(path) == ".go" {
		content = []byte("package " + filepath.Base(filepath.Dir(path)))
	}
	write(t, path, string(content)+"\n")
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}
