//go:build full

package main

import (
	"cmp"
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
	github  map[string]string // what the context github has
}

func newJob(t *testing.T) *job {
	t.Helper()
	j := &job{t: t, dir: t.TempDir(), outputs: map[string]string{}, github: map[string]string{"sha": "5feb6b2", "ref_name": "main"}}
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

var expression = regexp.MustCompile(`\$\{\{ (?:(inputs|steps\.run\.outputs)\.([a-z-]+)|github\.(\S+) \|\| github\.(\S+)) \}\}`)

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
		c.Env = append(os.Environ(), "PATH="+j.file("bin")+":"+os.Getenv("PATH"), "RUNNER_TEMP="+j.dir,
			"GITHUB_OUTPUT="+j.file("output"), "GITHUB_STEP_SUMMARY="+j.file("summary"))
		for variable, value := range step.Env {
			value = expression.ReplaceAllStringFunc(value, func(e string) string {
				parts := expression.FindStringSubmatch(e)
				given, is := inputs[parts[2]]
				if _, declared := j.action.Inputs[parts[2]]; parts[1] == "inputs" && !declared {
					j.t.Errorf("step %s: there is no input %s", name, parts[2])
				}
				switch {
				case parts[3] != "":
					return cmp.Or(j.github[parts[3]], j.github[parts[4]])
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
	clear(j.outputs)
	code, said = j.step("Run", inputs)
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
	inputs := map[string]string{"scenario": "orders.yaml", "flags": "--cluster\nembedded\n--set sampling.interval=150ms\n--set=phases.drain=9s", "labels": "machine=large one\n", "history": "acked",
		"expect": "acked > 0\nlost = 0\n", "retry-invalid": "10"}
	if code, said := j.run(inputs); code != exitValid || !strings.Contains(said, "EXPECTED MET  lost is 0, expected = 0\n") {
		t.Fatalf("exit code %d\n%s", code, said)
	}
	run, err := result.Read(j.outputs["folder"])
	if err != nil || result.LabelText(run.Run.Run.Labels) != "commit=5feb6b2, machine=large one, ref=main" {
		t.Errorf("the run is %+v, %v", run, err)
	}
	if run.Run.Scenario.Get("sampling.interval") != "150ms" || run.Run.Scenario.Get("phases.drain") != "9s" || j.outputs["exit-code"] != "0" {
		t.Errorf("the run has the settings %v, and the step the outputs %v", run.Run.Scenario, j.outputs)
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
	wantSaid(t, summary, "### ❌ FAILED orders ", "- ❌ expected, failed: acked is ", "commit=5feb6b2", "### acked records: 10 runs are needed to show a change at all; there are 2.", "| commit=5feb6b2, machine=large one, ref=main |")
	// Labels of the user stand, those of a pull request are its own, and one without a value is left out.
	j.github = map[string]string{"head_ref": "feature/x", "event.pull_request.head.sha": "77aa", "sha": "5feb6b2", "ref_name": "12/merge"}
	for labels, want := range map[string]string{
		"":                    "commit=77aa, ref=feature/x",
		"machine=a\nref=mine": "commit=77aa, machine=a, ref=mine",
		"commit=mine":         "commit=mine, ref=feature/x",
	} {
		inputs["labels"], inputs["flags"] = labels, "--cluster embedded"
		if code, said := j.run(inputs); code != exitFailed {
			t.Fatalf("exit code %d\n%s", code, said)
		}
		if run, err := result.Read(j.outputs["folder"]); err != nil || result.LabelText(run.Run.Run.Labels) != want {
			t.Errorf("with the labels %q the run is %+v, %v", labels, run, err)
		}
	}
	j.github = map[string]string{"ref_name": strings.Repeat("x", 300)}
	if code, said := j.run(map[string]string{"scenario": "orders.yaml", "flags": "--cluster embedded", "expect": "acked < 1", "retry-invalid": "10"}); code != exitFailed {
		t.Errorf("without a commit, with a long ref: exit code %d\n%s", code, said)
	}
	if code, said := j.run(map[string]string{"scenario": "orders.yaml", "expect": "ackd > 0"}); code != exitBadInput || !strings.Contains(said, "did you mean acked?") || j.outputs["exit-code"] != "2" {
		t.Errorf("exit code %d\n%s", code, said)
	}
	if code, said := j.step("Summary", map[string]string{"history": "ackd"}); code != exitValid {
		t.Errorf("exit code %d\n%s", code, said)
	}
	wantSaid(t, j.read("summary"), "### ❌ kafka-bench made no run: exit code 2\n\n--expect: expectation &#34;ackd &gt; 0&#34;: ")
}
