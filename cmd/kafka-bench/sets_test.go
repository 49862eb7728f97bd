package main

import (
	"path/filepath"
	"strings"
	"testing"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/resulttest"
)

func TestSetsThatAreNamedAsPrinted(t *testing.T) {
	t.Chdir(t.TempDir())
	r := newRecorder(t)
	c := result.Campaign{
		SchemaVersion: 1, Axes: []result.Axis{{Path: "load.compression", Values: []string{"none", "zstd"}}, {Path: "load.linger", Values: []string{"0", "5ms"}}},
		Campaign: result.CampaignInfo{ID: "k3x7qa", Name: "codecs", Kind: result.KindRuns, StartedAt: resulttest.StartedAt, FinishedAt: resulttest.StartedAt, Order: "interleaved", Repeat: 1},
	}
	for i, values := range [][]string{{"none", "0"}, {"none", "5ms"}, {"zstd", "0"}, {"zstd", "5ms"}} {
		name := "codecs-" + strings.Join(values, "-")
		r.run(filepath.Join("runs", name), name, 1)
		c.Cells = append(c.Cells, result.Cell{Name: name, Values: values})
		c.Runs = append(c.Runs, result.CampaignRun{Cell: i, Dir: "../" + name, Status: result.Valid})
	}
	r.write(filepath.Join("runs/codecs", result.CampaignFile), c)
	for i := range 3 {
		r.run(filepath.Join("before", string(rune('1'+i))), "base", 1)
	}
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"runs/codecs:none,0", "runs/codecs:zstd,5ms"}, []string{"  A  runs/codecs:none,0\n     codecs-none-0 · 1 run", "  B  runs/codecs:zstd,5ms\n     codecs-zstd-5ms · 1 run"}},
		{[]string{"runs/codecs:none, 0", "runs/codecs:compression=zstd,linger=5ms"}, []string{"codecs-none-0 · 1 run", "codecs-zstd-5ms · 1 run"}},
		{[]string{"runs/codecs:none/0,runs/codecs:none,5ms", "runs/codecs:zstd/0"}, []string{"codecs-none-0, codecs-none-5ms · 2 runs", "codecs-zstd-0 · 1 run"}},
		{[]string{"before", "runs/codecs-none-*"}, []string{"  A  before\n     base · 3 runs", "codecs-none-0, codecs-none-5ms · 2 runs"}},
	} {
		got := invoke(t, append([]string{"compare"}, c.args...)...)
		for _, want := range c.want {
			if got.code != exitValid || !strings.Contains(got.stdout, want) {
				t.Errorf("%v: exit code %d, %q, and no %q in\n%s", c.args, got.code, got.stderr, want, got.stdout)
			}
		}
	}
	got := invoke(t, "compare", "runs/codecs:none,1", "before")
	if want := `runs/codecs: no scenario "none"; they are codecs-none-0 (none/0), codecs-none-5ms (none/5ms)`; got.code != exitBadInput || !strings.HasPrefix(got.message(), want) {
		t.Errorf("exit code %d, %q", got.code, got.message())
	}
}
