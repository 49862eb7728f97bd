//go:build full

package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/result"
)

func TestKilledCampaign(t *testing.T) {
	out := filepath.Join(t.TempDir(), "runs")
	file := write(t, tiny)
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), childVariable+"="+strings.Join([]string{
		"run", file, "--repeat", "3", "--cluster", "embedded", "--out", out, "--set", "phases.measure=1s",
	}, "\n"))
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	killed := false
	defer func() {
		if !killed {
			_ = child.Process.Kill()
			_ = child.Wait()
		}
	}()
	awaitRun(t, out, 2)
	before := onlyCampaign(t, out)
	busy := invoke(t, "run", "--resume", before.Dir, "--cluster", "embedded")
	if want := before.Dir + ": another kafka-bench is carrying it out; wait until it has ended"; busy.message() != want || busy.code != exitBadInput {
		t.Errorf("a second one ends with exit code %d and %q, want %q", busy.code, busy.message(), want)
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := child.Wait(); err == nil {
		t.Fatal("the child came to its end before it was killed")
	}
	killed = true
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}

	got := invoke(t, "run", "--resume", before.Dir, "--cluster", "embedded")
	after := onlyCampaign(t, out)
	wantCells(t, after, "s", "s", "s")
	if got.code > exitInvalid { // a busy machine can make any run invalid
		t.Errorf("exit code %d: %s", got.code, got.stderr)
	}
	if after.Campaign.Runs[0] != before.Campaign.Runs[0] || after.Campaign.Runs[0].Status == "" {
		t.Errorf("the first run was %+v and is %+v", before.Campaign.Runs[0], after.Campaign.Runs[0])
	}
	if after.Campaign.Runs[1].Dir == before.Campaign.Runs[1].Dir {
		t.Error("the killed run was not made again")
	}
	for _, run := range after.Runs {
		if run.Run.Load.Scheduled != 200 {
			t.Errorf("%s scheduled %d records, want the 200 of --set phases.measure=1s", run.Dir, run.Run.Load.Scheduled)
		}
	}
	if runs, err := result.List(out); err != nil || len(runs) != 4 {
		t.Errorf("there are %d runs, %v; want the killed one and three more", len(runs), err)
	}
}

func awaitRun(t *testing.T, out string, n int) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		events, err := filepath.Glob(filepath.Join(out, "*", result.EventsFile))
		if err != nil {
			t.Fatal(err)
		}
		measured := 0
		for _, path := range events {
			text, err := os.ReadFile(path)
			if err != nil && !errors.Is(err, os.ErrNotExist) {
				t.Fatal(err)
			}
			if strings.Contains(string(text), `"what":"measure"`) {
				measured++
			}
		}
		if measured == n {
			return
		}
	}
	t.Fatalf("the campaign did not come to run %d", n)
}
