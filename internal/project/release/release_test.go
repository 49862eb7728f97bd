package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"
)

var anyTime = time.Unix(1700000000, 0).UTC()

// checkout returns a git work tree with the Makefile, a version and a tag that must not be read.
func checkout(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	makefile, err := os.ReadFile("../../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, "Makefile", string(makefile))
	write(t, dir, "VERSION", "1.2.3\n")
	git(t, dir, "init", "-q")
	git(t, dir, "add", ".")
	git(t, dir, "-c", "user.name=test", "-c", "user.email=test@test.invalid", "commit", "-q", "-m", "files")
	git(t, dir, "tag", "v9.9.9")
	return dir
}

func write(t *testing.T, dir, name, content string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := output(t.Context(), nil, "git", append([]string{"-C", dir}, args...)...)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

func TestVersionOfABuild(t *testing.T) {
	dir := checkout(t)
	development := "1.2.3-dev." + git(t, dir, "rev-parse", "--short=12", "HEAD")
	for _, c := range []struct {
		name, change, args, want string // want is "" if make refuses
	}{
		{"clean", "", "", development},
		{"a release", "", "RELEASE=1", "1.2.3"},
		{"another value", "", "RELEASE=yes", development},
		{"a recorded run", "results/run.json", "", development},
		{"a release with a recorded run", "", "RELEASE=1", ""},
		{"changed", "new.go", "", development + ".dirty"},
		{"a changed release", "", "RELEASE=1", ""},
	} {
		if c.change != "" {
			write(t, dir, c.change, "new\n")
		}
		command := exec.CommandContext(t.Context(), "make", strings.Fields("-s -C "+dir+" version "+c.args)...)
		command.Env = append(os.Environ(), "MAKEFLAGS=", "RELEASE=")
		out, err := command.CombinedOutput()
		if got := strings.TrimSpace(string(out)); c.want != "" && got != c.want || (err != nil) != (c.want == "") {
			t.Errorf("%s: version %q (%v), want %q", c.name, got, err, c.want)
		}
	}
}

func TestAReleaseNeedsItsSection(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "CHANGELOG.md", "# Changelog\n\n## Unreleased\n\n## [0.2.0] - 2026-12-01\n\n## 0.1.0\n")
	for version, want := range map[string]bool{"0.1.0": true, "0.2.0": true, "0.3.0": false, "0.3.0-dev.3f1c9e2": true} {
		err := release{version: version, changelog: filepath.Join(dir, "CHANGELOG.md")}.described()
		if (err == nil) != want {
			t.Errorf("%s: error %v", version, err)
		}
	}
}

func TestArchive(t *testing.T) {
	files := contents{program: []byte("a program"), "man/kafka-bench.1": []byte("a page"), "LICENSE": []byte("text")}
	var archives [2][]byte
	for i := range archives {
		var err error
		if archives[i], err = archive("folder", files, anyTime); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(archives[0], archives[1]) {
		t.Error("two archives of the same files differ")
	}
	unzipped, err := gzip.NewReader(bytes.NewReader(archives[0]))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for r := tar.NewReader(unzipped); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, h.Name)
		if !h.ModTime.Equal(anyTime) || h.Uid != 0 || h.Uname != "" || (h.Mode == 0o755) != (h.Name == "folder/kafka-bench") {
			t.Errorf("entry %+v", h)
		}
	}
	if got := strings.Join(names, " "); got != "folder/LICENSE folder/kafka-bench folder/man/kafka-bench.1" {
		t.Errorf("entries %s", got)
	}
}

func TestLicences(t *testing.T) {
	root := t.TempDir()
	write(t, root, "module/LICENSE.txt", "of the module")
	write(t, root, "module/used/NOTICE", "of a package")
	write(t, root, "module/unused/LICENSE", "of no package")
	write(t, root, "module/used/license.go", "package used")
	write(t, root, "LICENSE", "of another module")
	module := filepath.Join(root, "module")
	files, err := licensesOf(module, []string{filepath.Join(module, "used")})
	if err != nil || len(files) != 2 || string(files["LICENSE.txt"]) != "of the module" || string(files["used/NOTICE"]) != "of a package" {
		t.Errorf("%q, %v", files, err)
	}
	if _, err := licensesOf(filepath.Join(module, "used", "none"), nil); err == nil {
		t.Error("a module without a licence is no error")
	}
}

func TestSBOM(t *testing.T) {
	sum := sha256.Sum256([]byte("a program"))
	info := debug.BuildInfo{GoVersion: "go1.26.8", Main: debug.Module{Path: "example.com/bench"}, Deps: []*debug.Module{
		{Path: "example.com/a", Version: "v1.0.0+incompatible"},
		{Path: "example.com/b", Version: "v1.0.0", Replace: &debug.Module{Path: "example.com/fork", Version: "v1.1.0"}},
	}}
	got := release{version: "0.1.0", at: anyTime}.bill("kafka-bench_0.1.0_linux_amd64", sum, &info)
	want := []string{"pkg:golang/std@1.26.8", "pkg:golang/example.com/a@v1.0.0%2Bincompatible", "pkg:golang/example.com/fork@v1.1.0"}
	if !slices.Equal(got.Dependencies[0].DependsOn, want) || len(got.Components) != len(want) {
		t.Errorf("dependencies %q, components %+v", got.Dependencies, got.Components)
	}
	if main := got.Metadata.Component; main.PURL != "pkg:golang/example.com/bench@0.1.0" || !got.Metadata.Timestamp.Equal(anyTime) {
		t.Errorf("%+v", got.Metadata)
	}
	form := regexp.MustCompile(`^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	if !form.MatchString(got.Serial) || got.Serial != serial(sum) || got.Serial == serial(sha256.Sum256(nil)) {
		t.Errorf("the serial number is %s", got.Serial)
	}
}
