package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"
)

// A broken is one change of the code that must make a test fail. Rows of one invariant stand
// together; only the first has Holds and Also.
type broken struct {
	Invariant string `yaml:"invariant"`
	Holds     string `yaml:"holds"` // the invariant in one sentence
	File      string `yaml:"file"`  // from the module's folder
	From      string `yaml:"from"`  // occurs once in the file
	To        string `yaml:"to"`
	Test      struct {
		Package string `yaml:"package"` // from the module's folder
		Run     string `yaml:"run"`     // the name of one test; a subtest after a slash
	} `yaml:"test"`
	Also []string `yaml:"also"` // more tests: package.TestName, with the last element of the package's path
}

func (b broken) tests() []string {
	folder := filepath.Base(b.Test.Package)
	if b.Test.Package == "." {
		folder = "kafkabench"
	}
	function, _, _ := strings.Cut(b.Test.Run, "/")
	return append([]string{folder + "." + function}, b.Also...)
}

const breaksFile = "internal/project/breaks/breaks.yaml"

func readBreaks(dir string) ([]broken, error) {
	file, err := os.Open(filepath.Join(dir, breaksFile))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	decoder := yaml.NewDecoder(file)
	decoder.KnownFields(true)
	var all []broken
	if err := decoder.Decode(&all); err != nil {
		return nil, fmt.Errorf("%s: %w", breaksFile, err)
	}
	return all, nil
}

func (b broken) change(dir string) (string, error) {
	text, err := os.ReadFile(filepath.Join(dir, b.File))
	if err != nil {
		return "", err
	}
	if n := strings.Count(string(text), b.From); n != 1 || b.From == b.To {
		return "", fmt.Errorf("%s has %d places to change for %q into %q, and must have one", b.File, n, b.From, b.To)
	}
	return strings.Replace(string(text), b.From, b.To, 1), nil
}

func (b broken) describe(dir string) string {
	text, _ := os.ReadFile(filepath.Join(dir, b.File)) // readable, because b.change has read it
	before, _, _ := strings.Cut(string(text), b.From)
	var lines strings.Builder
	fmt.Fprintf(&lines, "    %s:%d", b.File, 1+strings.Count(before, "\n"))
	for _, line := range strings.Split(strings.TrimRight(b.From, "\n"), "\n") {
		fmt.Fprintf(&lines, "\n    - %s", strings.TrimLeft(line, "\t"))
	}
	for _, line := range strings.Split(strings.TrimRight(b.To, "\n"), "\n") {
		fmt.Fprintf(&lines, "\n    + %s", strings.TrimLeft(line, "\t"))
	}
	return lines.String()
}

type answer struct {
	failed bool
	line   string // first line that reports the failure
	took   time.Duration
}

// try returns an error if the break is wrong: the code does not compile, or the test does not
// exist.
func (b broken) try(dir string) (answer, error) {
	changed, err := b.change(dir)
	if err != nil {
		return answer{}, err
	}
	temporary, err := os.MkdirTemp("", "breaks-")
	if err != nil {
		return answer{}, err
	}
	defer os.RemoveAll(temporary)
	overlay, err := writeOverlay(temporary, filepath.Join(dir, b.File), changed)
	if err != nil {
		return answer{}, err
	}
	return b.test(dir, "-overlay="+overlay)
}

func (b broken) passes(dir string) error {
	answer, err := b.test(dir, "")
	if err == nil && answer.failed {
		err = fmt.Errorf("%s fails on the code as it is: %s", b.Test.Run, answer.line)
	}
	return err
}

func (b broken) test(dir, flag string) (answer, error) {
	began := time.Now()
	test := exec.Command("go", "test", "-count=1", "-vet=off", "-short", "-timeout", "2m",
		"-run", exactly(b.Test.Run), "-tags", "synctests,full,proof", "./"+b.Test.Package)
	// GOFLAGS also reaches what a test builds or lists. With -short, rapid draws too few examples
	// to find each break.
	test.Env = append(os.Environ(), "GOFLAGS="+os.Getenv("GOFLAGS")+" "+flag,
		"RAPID_NOFAILFILE=true", "RAPID_CHECKS=500")
	test.Dir = dir
	out, err := test.CombinedOutput()
	took := time.Since(began).Round(100 * time.Millisecond)
	switch failed := (*exec.ExitError)(nil); {
	case strings.Contains(string(out), "[build failed]"), strings.Contains(string(out), "[setup failed]"):
		return answer{}, fmt.Errorf("the code does not compile:\n%s", out)
	case strings.Contains(string(out), "[no tests to run]"):
		return answer{}, fmt.Errorf("./%s has no test %s", b.Test.Package, b.Test.Run)
	case errors.As(err, &failed):
		return answer{failed: true, line: firstFailure(string(out)), took: took}, nil
	default:
		return answer{took: took}, err
	}
}

func writeOverlay(folder, file, changed string) (overlay string, err error) {
	if file, err = filepath.Abs(file); err != nil {
		return "", err
	}
	copied := filepath.Join(folder, filepath.Base(file))
	if err := os.WriteFile(copied, []byte(changed), 0o600); err != nil {
		return "", err
	}
	text, err := json.Marshal(map[string]map[string]string{"Replace": {file: copied}})
	if err != nil {
		return "", err
	}
	overlay = filepath.Join(folder, "overlay.json")
	return overlay, os.WriteFile(overlay, text, 0o600)
}

func exactly(name string) string {
	parts := strings.Split(name, "/")
	for i := range parts {
		parts[i] = "^" + parts[i] + "$"
	}
	return strings.Join(parts, "/")
}

func firstFailure(out string) string {
	for _, mark := range []string{"_test.go:", "panic:", ".go:", "FAIL"} {
		for line := range strings.SplitSeq(out, "\n") {
			if strings.Contains(line, mark) {
				return strings.TrimSpace(line)
			}
		}
	}
	return strings.TrimSpace(out)
}
