package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kafkabench.example/kafka-bench/internal/show/layout"
)

// invokeNarrow runs the program as on a terminal of 80 columns.
func invokeNarrow(t *testing.T, in surroundings, args ...string) invoked {
	t.Helper()
	t.Setenv("COLUMNS", "80")
	dir := t.TempDir()
	open := func(name string) *os.File {
		f, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.Close() })
		return f
	}
	stdout, stderr := open("stdout"), open("stderr")
	code := exitCode(stderr, in.run(context.Background(), args, stdout, stderr))
	read := func(f *os.File) string {
		text, err := os.ReadFile(f.Name())
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	return invoked{stdout: read(stdout), stderr: read(stderr), code: code}
}

// A longer line must be one word, such as a path.
func wantNarrow(t *testing.T, what, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		if line = strings.TrimRight(line, "\n"); layout.Columns(line) > 80 && strings.Contains(strings.TrimSpace(line), " ") {
			t.Errorf("%s prints %d columns:\n%s", what, layout.Columns(line), line)
		}
	}
}

func TestHelpIsNarrow(t *testing.T) {
	for _, c := range commands(rootCommand(surroundings{})) {
		t.Run(c.CommandPath(), func(t *testing.T) {
			wantNarrow(t, "--help", invoke(t, append(strings.Fields(c.CommandPath())[1:], "--help")...).stdout)
		})
	}
}

// Presets and scenarios (show) are files to copy, and are printed as they are.
func TestOutputIsNarrow(t *testing.T) {
	recorded(t)
	file := write(t, tiny)
	for _, args := range []string{
		"list", "drivers", "doctor", "chart", "version", "cluster status",
		"run baseline --dry-run --cluster embedded", "run backpressure-study drivers --dry-run --cluster embedded",
		"run " + file + " --dry-run --cluster embedded --set load.rate=max --expect acked_per_s>=9k/s&in&every&100ms --expect e2e_response_time_p99<20ms",
		"search baseline --dry-run --cluster embedded", "search baseline --dry-run --cluster embedded --curve-of 20k/s",
		"report runs/base-1", "report runs/base-1 runs/slow-1", "report runs/sweep-acks", "report runs/base-1 --hlog-summary",
		"report runs/base-1 --quiet --expect e2e_response_time_p99<1ns", "report runs/sweep-acks --quiet --expect lost<0",
		"compare runs/base-* runs/slow-*", "compare runs/base-* runs/slow-* --fail-if e2e_response_time_p99&worse&by&10%",
		"history base", "history base --figure e2e_response_time_p99 --figure acked_per_s", "import ../nothing.txt",
	} {
		t.Run(args, func(t *testing.T) {
			words := strings.Fields(args)
			for i := range words {
				words[i] = strings.ReplaceAll(words[i], "&", " ")
			}
			got := invokeNarrow(t, surroundings{}, words...)
			wantNarrow(t, "it", got.stdout)
			if got.code != exitValid {
				t.Logf("exit code %d, %s", got.code, got.stderr)
			}
		})
	}
}

func TestRunIsNarrow(t *testing.T) {
	virtually(t, func(t *testing.T, l lab) {
		out := t.TempDir()
		for _, more := range []string{"", "--progress full", "--repeat 2", "--label commit=5feb6b21d37f94b194c7af89354a22c396ed301f --page"} {
			args := append([]string{"run", write(t, tiny), "--cluster", "embedded", "--out", out}, strings.Fields(more)...)
			got := invokeNarrow(t, l.surroundings, args...)
			wantNarrow(t, "run "+more, got.stdout+got.stderr)
		}
		wantNarrow(t, "list", invokeNarrow(t, l.surroundings, "list", "--out", out).stdout)
		wantNarrow(t, "history", invokeNarrow(t, l.surroundings, "history", "s", "--out", out, "--figure", "acked").stdout)
	})
}

func TestErrorsAreNarrow(t *testing.T) {
	got := invokeNarrow(t, surroundings{}, "run", "quick", "--expect", "zebra < 1", "--retry-invalid", "-1", "--format", "yaml")
	wantNarrow(t, "an error", got.stderr)
	if got.code != exitBadInput || !strings.Contains(strings.Join(strings.Fields(got.stderr), " "), "kafka-bench list --figures prints all") {
		t.Errorf("exit code %d, %q", got.code, got.stderr)
	}
}
