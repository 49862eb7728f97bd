package main

import (
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func namedTwice(t *testing.T) {
	t.Helper()
	recorded(t)
	err := os.CopyFS("copy/of-base-1", os.DirFS("runs/base-1"))
	if err == nil {
		err = os.Symlink(filepath.Join("..", "runs", "base-2"), "copy/link-to-base-2")
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestRunsCountOnce(t *testing.T) {
	namedTwice(t)
	const one, two = "1 run was named twice and counts once.", "2 runs were named twice and count once."
	for _, c := range []struct {
		args string
		want []string
		not  string
	}{
		{"report runs/base-1 runs/base-1", []string{"VALID  base  m00001", one}, "all 2"},
		{"report runs/base-1 copy/of-base-1 runs/base-1/../base-1", []string{"VALID  base  m00001", one}, "all 3"},
		{
			"report runs/base-1 runs/slow-1 runs/base-2 copy/of-base-1 copy/link-to-base-2",
			[]string{"valid, all 2", two}, "all 4",
		},
		{"report runs/sweep-acks runs/sweep-run-0-3", []string{"valid, all 5", one}, "all 6"},
		{
			"report runs/base-1 copy/of-base-1 runs/base-2 --format markdown",
			[]string{"### 2 runs, 2 valid", one}, "### 3 runs",
		},
		{
			"compare runs/base-1,runs/base-2,copy/of-base-1,copy/link-to-base-2 runs/slow-1,runs/slow-2",
			[]string{"2 runs, all valid", two}, "4 runs",
		},
		{
			"compare runs/base-*,copy/* runs/slow-1,runs/slow-1 --format markdown",
			[]string{"5 runs, all valid", "3 runs were named twice and count once."}, "7 runs",
		},
		{
			"history runs/base-1 copy/of-base-1 runs/base-2 copy/link-to-base-2",
			[]string{"there are 2.", two}, "there are 4.",
		},
		{"history base copy --format markdown", []string{"there are 5.", one}, "there are 6."},
	} {
		got := invoke(t, strings.Fields(c.args)...)
		if got.code != exitValid || got.stderr != "" || strings.Contains(got.stdout, c.not) {
			t.Errorf("%s: exit code %d, %q, or %q is in\n%s", c.args, got.code, got.stderr, c.not, got.stdout)
		}
		for _, want := range c.want {
			if !strings.Contains(got.stdout, want) {
				t.Errorf("%s: no %q in\n%s", c.args, want, got.stdout)
			}
		}
	}
	if got := invoke(t, "report", "runs/base-1", "runs/base-2").stdout; strings.Contains(got, "named") {
		t.Errorf("each was named once:\n%s", got)
	}
}

func TestRunsCountOnceForPrograms(t *testing.T) {
	namedTwice(t)
	for _, args := range []string{
		"report runs/base-1 runs/base-2 copy/of-base-1",
		"compare runs/base-1,copy/of-base-1 runs/slow-1",
		"history runs/base-1 runs/base-2 copy/of-base-1",
	} {
		var document struct {
			NamedTwice int `json:"named_twice"`
		}
		got := invoke(t, append(strings.Fields(args), "--format", "json")...)
		if err := json.Unmarshal([]byte(got.stdout), &document); err != nil || document.NamedTwice != 1 || got.stderr != "" {
			t.Errorf("%s: named_twice %d, %v, %q", args, document.NamedTwice, err, got.stderr)
		}
	}
	got := invoke(t, "report", "runs/base-1", "runs/base-2", "copy/of-base-1", "--format", "csv", "--table", "books")
	rows, err := csv.NewReader(strings.NewReader(got.stdout)).ReadAll()
	if err != nil || len(rows) != 3 || got.stderr != "" {
		t.Errorf("a CSV of %d rows for two runs, %v, %q", len(rows), err, got.stderr)
	}
}

func TestRunInTwoSets(t *testing.T) {
	namedTwice(t)
	for args, want := range map[string]string{
		"compare runs/base-1 runs/slow-1,copy/of-base-1":          "run base-m00001 is in A and in B: name it in one of them",
		"compare runs/base-* copy/*":                              "run base-m00001 is in A and in B, one of 2 that are: name each run in one of them",
		"compare runs/base-1 runs/slow-1,runs/slow-2 runs/slow-2": "run slow-m00004 is in B and in C: name it in one of them",
	} {
		wantBad(t, invoke(t, strings.Fields(args)...), want)
	}
}

func TestMergedLogHasARunOnce(t *testing.T) {
	t.Chdir(t.TempDir())
	runValid(t, write(t, tiny), "runs")
	dir := onlyRun(t, "runs").Dir
	if err := os.CopyFS("copy", os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	var logs [2]string
	for i, args := range [][]string{{dir}, {dir, "copy", dir}} {
		got := invoke(t, append([]string{"report", "--hlog-merge", "all.hlog"}, args...)...)
		text, err := os.ReadFile("all.hlog")
		said := strings.Contains(got.stdout, "1 run was named twice and counts once.")
		if err != nil || got.code != exitValid || said != (i > 0) {
			t.Errorf("%v: exit code %d, %q, %v\n%s", args, got.code, got.stderr, err, got.stdout)
		}
		logs[i] = string(text)
	}
	if logs[0] != logs[1] {
		t.Errorf("a run that is named three times has %d bytes in the log, named once %d", len(logs[1]), len(logs[0]))
	}
}

func TestReportListsFilesThatExist(t *testing.T) {
	recorded(t)
	for i, want := range []string{"\n  run.json\n", "\n  run.json · intervals.ndjson (0 lines) · scenario.yaml\n"} {
		if got := invoke(t, "report", "runs/base-1").stdout; !strings.HasSuffix(got, "Files in runs/base-1"+want) {
			t.Errorf("%d: no %q at the end of\n%s", i, want, got)
		}
		for _, name := range []string{"intervals.ndjson", "scenario.yaml"} {
			if err := os.WriteFile(filepath.Join("runs/base-1", name), nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}
