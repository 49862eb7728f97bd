//go:build full

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"kafkabench.example/kafka-bench/internal/result"
)

type action struct {
	Inputs map[string]struct{ Default string }
	Runs   struct {
		Steps []struct {
			Name, ID, Shell, Run string
			Env                  map[string]string
		}
	}
}

// job is a job of a workflow with the action. The files of GitHub are in its folder.
type job struct {
	t       *testing.T
	action  action
	dir     string
	outputs map[string]string // of the step run
}

func newJob(t *testing.T) *job {
	t.Helper()
	j := &job{t: t, dir: t.TempDir(), outputs: map[string]string{}}
	text, err := os.ReadFile("../../action.yml")
	if err == nil {
		err = yaml.Unmarshal(text, &j.action)
	}
	if err != nil {
		t.Fatal(err)
	}
	// The steps call this test's binary by the name of the tool.
	tool := fmt.Sprintf("#!/bin/sh\n%s=\"$(printf '%%s\\n' \"$@\")\" exec %s\n", childVariable, os.Args[0])
	if err := errors.Join(os.Mkdir(j.file("bin"), 0o755), os.WriteFile(j.file("bin/kafka-bench"), []byte(tool), 0o755)); err != nil {
		t.Fatal(err)
	}
	return j
}

func (j *job) file(name string) string { return filepath.Join(j.dir, name) }

func (j *job) read(name string) string {
	j.t.Helper()
	text, err := os.ReadFile(j.file(name))
	if err != nil {
		j.t.Fatal(err)
	}
	return string(text)
}

var expression = regexp.MustCompile(`\$\{\{ (inputs|steps\.run\.outputs)\.([a-z-]+) \}\}`)

// step runs a step with these inputs, and returns its exit code and what it prints.
func (j *job) step(name string, inputs map[string]string) (code int, said string) {
	j.t.Helper()
	for _, step := range j.action.Runs.Steps {
		if step.Name != name {
			continue
		}
		if strings.Contains(step.Run, "${{") || step.Shell != "bash" {
			j.t.Errorf("step %s: a script gets its inputs as variables of bash", name)
		}
		c := exec.Command("bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step.Run)
		c.Dir = j.dir
		c.Env = append(os.Environ(), "PATH="+j.file("bin")+":"+os.Getenv("PATH"), "RUNNER_TEMP="+j.dir, "GITHUB_SHA=5feb6b2", "GITHUB_REF_NAME=main",
			"GITHUB_OUTPUT="+j.file("output"), "GITHUB_STEP_SUMMARY="+j.file("summary"))
		for variable, value := range step.Env {
			value = expression.ReplaceAllStringFunc(value, func(e string) string {
				parts := expression.FindStringSubmatch(e)
				given, is := inputs[parts[2]]
				if _, declared := j.action.Inputs[parts[2]]; parts[1] == "inputs" && !declared {
					j.t.Errorf("step %s: there is no input %s", name, parts[2])
				}
				switch {
				case parts[1] != "inputs":
					return j.outputs[parts[2]]
				case is:
					return given
				}
				return j.action.Inputs[parts[2]].Default
			})
			c.Env = append(c.Env, variable+"="+value)
		}
		out, err := c.CombinedOutput()
		var failed *exec.ExitError
		if err != nil && !errors.As(err, &failed) {
			j.t.Fatal(err)
		}
		return c.ProcessState.ExitCode(), string(out)
	}
	j.t.Fatalf("there is no step %s", name)
	return 0, ""
}

// The commands of the guide's section work, one after the other, on the embedded broker.
func TestGuideOfCI(t *testing.T) {
	j := newJob(t)
	text, err := os.ReadFile("../../docs/GUIDE.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "### In CI\n")
	_, section, _ = strings.Cut(section, "```sh\n")
	commands, _, _ := strings.Cut(section, "```")
	if err := errors.Join(os.WriteFile(j.file("orders.yaml"), []byte("name: orders"+tiny), 0o644),
		os.WriteFile(j.file("bin/run-embedded"), []byte("#!/bin/sh\ncommand=$1; shift\n[ $command = run ] && set -- \"$@\" --cluster embedded --retry-invalid 10\n"+
			"exec kafka-bench $command \"$@\"\n"), 0o755)); err != nil {
		t.Fatal(err)
	}
	n := 0
	for command := range strings.SplitSeq(strings.ReplaceAll(commands, "\\\n", ""), "\n") {
		if command == "" {
			continue
		}
		n++
		c := exec.Command("bash", "-c", strings.Replace(command, "bin/kafka-bench", "run-embedded", 1))
		c.Dir, c.Env = j.dir, append(os.Environ(), "PATH="+j.file("bin")+":"+os.Getenv("PATH"))
		out, err := c.CombinedOutput()
		// 60 records are too few for a p99; a busy machine may make a run invalid, and then no campaign is valid.
		if code := c.ProcessState.ExitCode(); err != nil && !slices.Contains([]int{exitInvalid, exitUndecided}, code) {
			t.Errorf("%s: exit code %d\n%s", command, code, out)
		}
	}
	if n < 6 {
		t.Errorf("the guide has %d commands", n)
	}
	for _, file := range []string{"summary.md", "orders.json", "kafka-bench.xml", "folder.txt"} {
		if j.read(file) == "" {
			t.Errorf("%s is empty", file)
		}
	}
}

func (j *job) run(inputs map[string]string) (code int, said string) {
	j.t.Helper()
	_ = os.Remove(j.file("output"))
	if code, said = j.step("Run", inputs); code == exitBadInput {
		return code, said
	}
	for line := range strings.Lines(j.read("output")) {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		j.outputs[name] = value
	}
	return code, said
}

// The steps of action.yml: a threshold that holds and one that does not, the JUnit file, labels, summary and history.
func TestAction(t *testing.T) {
	j := newJob(t)
	if err := os.WriteFile(j.file("orders.yaml"), []byte("name: orders"+tiny), 0o644); err != nil {
		t.Fatal(err)
	}
	// A busy machine makes runs invalid, which are made again.
	inputs := map[string]string{"scenario": "orders.yaml", "flags": "--cluster\nembedded", "labels": "machine=large one\n", "history": "acked",
		"expect": "acked > 0\nlost = 0\n", "retry-invalid": "10"}
	if code, said := j.run(inputs); code != exitValid || !strings.Contains(said, "EXPECTED MET  lost is 0, expected = 0\n") {
		t.Fatalf("exit code %d\n%s", code, said)
	}
	run, err := result.Read(j.outputs["folder"])
	if err != nil || result.LabelText(run.Run.Run.Labels) != "commit=5feb6b2, machine=large one, ref=main" {
		t.Errorf("the run is %+v, %v", run, err)
	}
	if all := readJUnit(t, j.file("kafka-bench.xml")); all.Tests != 3 || all.Failures+all.Errors != 0 {
		t.Errorf("the JUnit file has %+v", all)
	}
	inputs["expect"] = "acked < 1\n"
	if code, said := j.run(inputs); code != exitFailed {
		t.Errorf("an expectation that does not hold: exit code %d\n%s", code, said)
	}
	if code, said := j.step("Summary", inputs); code != exitValid {
		t.Errorf("exit code %d\n%s", code, said)
	}
	summary := j.read("summary")
	wantSaid(t, summary, "### ✅ valid orders ", "- ❌ expected, failed: acked is ", "commit=5feb6b2", "### acked records: 10 runs are needed to show a change at all; there are 2.")
	if code, said := j.run(map[string]string{"scenario": "orders.yaml", "expect": "ackd > 0"}); code != exitBadInput || !strings.Contains(said, "did you mean acked?") {
		t.Errorf("exit code %d\n%s", code, said)
	}
}
