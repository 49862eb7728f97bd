//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/resulttest"
)

// A scenario or a campaign may be a stranger's: without --allow-jvm it makes a broker run no other program.
func TestAScenarioRunsNoProgram(t *testing.T) {
	const option, property = "-XX:OnOutOfMemoryError=touch /tmp/here", "metric.reporters"
	evil := write(t, tiny+"cluster: {jvm: [-Xss512k, '"+option+"'], config: {num.io.threads: 4, "+property+": evil.Reporter}}\n")
	for name, args := range map[string][]string{
		"run": {"run", evil, "--dry-run"}, "search": {"search", evil, "--dry-run"}, "resumed": {"run", "--resume", planned(t, evil), "--dry-run"},
		"peers": {"peers", evil, "--brokers", "127.0.0.1:1"}, // it has no dry run
	} {
		t.Run(name, func(t *testing.T) {
			got := invoke(t, args...)
			wantSaid(t, got.stderr, `cluster.jvm[1]: "`+option+`" is not on the list of JVM options that run no program and write no file; leave it out; if you trust the file, add --allow-jvm`,
				"cluster.config."+property+": this broker property may load other code or name a file")
			if got.code != exitBadInput || strings.Contains(got.stderr, "num.io.threads") || strings.Contains(got.stderr, "-Xss512k\"") {
				t.Errorf("exit code %d and\n%s", got.code, got.stderr)
			}
			if name == "peers" {
				return
			}
			got = invoke(t, append(args, "--allow-jvm")...)
			wantSaid(t, got.stdout, "jvm ", "-Xss512k "+option+"\n", "broker settings ", property+"=evil.Reporter num.io.threads=4\n")
			if got.code != exitValid {
				t.Errorf("allowed: exit code %d and\n%s", got.code, got.stderr)
			}
		})
	}
	for _, name := range scenario.Names() {
		suite, err := scenario.ReadSuite(name, scenario.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, cell := range suite.Cells {
			if err := cell.Scenario.CheckListed(); err != nil {
				t.Errorf("preset %s: %v", cell.Name, err)
			}
		}
	}
}

// planned returns the folder of a campaign without runs.
func planned(t *testing.T, file string) string {
	t.Helper()
	flags := runFlags{repeat: optionalInt{n: 2, given: true}, progress: shortProgress}
	plan, err := flags.plan([]string{file})
	if err != nil {
		t.Fatal(err)
	}
	c, err := plan.Campaign(tool())
	if err != nil {
		t.Fatal(err)
	}
	w, err := result.CreateCampaign(t.TempDir(), c)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return w.Dir()
}

func TestAResumedCampaignTakesNoVariable(t *testing.T) {
	t.Setenv("KAFKA_BENCH_SECRET", "canary")
	dir := planned(t, write(t, tiny))
	replaceIn(t, filepath.Join(dir, result.CampaignFile), `"franz"`, `"franz", "description": "${KAFKA_BENCH_SECRET}"`)
	got := invoke(t, "run", "--resume", dir, "--dry-run")
	wantSaid(t, got.stderr, "description: it takes the variable KAFKA_BENCH_SECRET, and a stored scenario takes nothing from the environment")
	if got.code != exitBadInput || strings.Contains(got.stdout+got.stderr, "canary") {
		t.Errorf("exit code %d and\n%s%s", got.code, got.stdout, got.stderr)
	}
}

func replaceIn(t *testing.T, path, old, with string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err == nil && !strings.Contains(string(text), old) {
		t.Fatalf("%s has no %q:\n%s", path, old, text)
	}
	if err == nil {
		err = os.WriteFile(path, []byte(strings.Replace(string(text), old, with, 1)), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A run whose file is none is named, and hides no other one.
func TestABadRunHidesNoOther(t *testing.T) {
	t.Chdir(t.TempDir())
	r := newRecorder(t)
	for i := range 5 {
		r.run(fmt.Sprintf("before/good-%d", i), "good", 1)
		r.run(fmt.Sprintf("after/good-%d", i), "good", 2)
	}
	r.campaign("before/sweep")
	i := 0
	for kind, hostile := range resulttest.Hostile() {
		dir := fmt.Sprintf("before/bad-%d", i)
		i++
		r.run(dir, "bad", 1)
		if err := resulttest.Replace(dir, result.SummaryFile, hostile); err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		replaceIn(t, "before/sweep/campaign.json", fmt.Sprintf("sweep-run-%d-%d", i%2, i/2%5), fmt.Sprintf("bad-%d", i-1))
	}
	for _, args := range []string{"list --all --out before", "compare before after", "report before/sweep"} {
		got := invoke(t, strings.Fields(args)...)
		said := got.stdout + got.stderr
		if got.code != exitValid || !strings.Contains(said, "good") && !strings.Contains(said, "sweep-acks") || len(said) > 100_000 {
			t.Errorf("%s: exit code %d and\n%.3000s", args, got.code, said)
		}
		for n := range i {
			if name := fmt.Sprintf("bad-%d", n); !strings.Contains(said, name) {
				t.Errorf("%s: nothing is said of %s in\n%.3000s", args, name, said)
			}
		}
	}
}
