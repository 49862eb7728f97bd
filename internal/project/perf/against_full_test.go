//go:build full

package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The benchmarks report a given time without measuring, and record the order of the trees.
const benchmarks = `package hot

import (
	"os"
	"testing"
)

func report(b *testing.B, ns float64) { b.ReportMetric(ns, "cpu-ns/record") }

func BenchmarkFaster(b *testing.B) { report(b, FASTER) }
func BenchmarkSame(b *testing.B)   { report(b, SAME) }
func BenchmarkSlower(b *testing.B) { report(b, SLOWER) }
func BenchmarkONLY(b *testing.B) {
	report(b, 1)
	f, _ := os.OpenFile(os.Getenv("ORDER_OF_TURNS"), os.O_APPEND|os.O_CREATE|os.O_RDWR, 0o644)
	f.WriteString("ONLY ")
	f.Close()
}
`

var twoPackages = []hotPath{
	{pkg: "hot", pattern: "."}, {pkg: "young", pattern: "Same"}, {pkg: "nowhere", pattern: "."},
	{pkg: "moved", pattern: "Same", was: "hot"},
}

func TestAgainst(t *testing.T) {
	dir := checkout(t)
	writeHot(t, dir, "hot/hot_test.go", "FASTER", "80", "SAME", "101", "SLOWER", "103", "ONLY", "After")
	writeHot(t, dir, "young/young_test.go", "FASTER", "80", "SAME", "101", "SLOWER", "103", "ONLY", "After")
	writeHot(t, dir, "moved/moved_test.go", "FASTER", "80", "SAME", "99", "SLOWER", "103", "ONLY", "After")
	turns := filepath.Join(t.TempDir(), "turns")
	t.Setenv("ORDER_OF_TURNS", turns)
	var out bytes.Buffer
	err := against(context.Background(), dir, twoPackages, []string{"-rounds=4", "-benchtime=1x", "HEAD"}, &out, io.Discard)
	if !errors.Is(err, errSlower) {
		t.Errorf("the error is %v, want that one is slower", err)
	}
	for name, want := range map[string][]string{
		"hot Faster":  {"100 ns", "80 ns", "0.800", "0.800–0.800", "ok"},
		"hot Same":    {"100 ns", "101 ns", "1.010", "1.010–1.010", "ok"},
		"hot Slower":  {"100 ns", "103 ns", "1.030", "1.030–1.030", "SLOWER"},
		"hot Before":  {"1 ns", "", "", "", "gone"},
		"hot After":   {"", "1 ns", "", "", "new"},
		"young Same":  {"", "101 ns", "", "", "new"},
		"young After": nil,
		"moved Same":  {"100 ns", "99 ns", "0.990", "0.990–0.990", "ok"},
	} {
		if got := row(out.String(), name); strings.Join(got, "|") != strings.Join(want, "|") {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	order, err := os.ReadFile(turns)
	if want := strings.Repeat("Before After After Before ", 2); err != nil || string(order) != want {
		t.Errorf("the turns were %q (%v), want %q", order, err, want)
	}
	wantNoWorktree(t, dir)
}

func TestAgainstItself(t *testing.T) {
	dir := checkout(t)
	t.Setenv("ORDER_OF_TURNS", filepath.Join(t.TempDir(), "turns"))
	args := []string{"-rounds=4", "-benchtime=1x", "HEAD"}
	if err := against(context.Background(), dir, twoPackages, args, io.Discard, io.Discard); err != nil {
		t.Error(err)
	}
	writeHot(t, dir, "hot/hot_test.go", "FASTER", "not a number")
	if err := against(context.Background(), dir, twoPackages, args, io.Discard, io.Discard); err == nil {
		t.Error("what does not compile passed")
	}
	wantNoWorktree(t, dir)
}

func TestRefusedComparisons(t *testing.T) {
	dir := checkout(t)
	for want, args := range map[string][]string{
		"BASE=REF":     {""},
		"BASE=unknown": {"unknown"},
		"-rounds 3":    {"-rounds=3", "HEAD"},
		"not-known":    {"-not-known"},
	} {
		err := against(context.Background(), dir, twoPackages, args, io.Discard, io.Discard)
		if !errors.Is(err, errInput) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: the error is %v, want one of exit code 2 with %q", args, err, want)
		}
	}
	wantNoWorktree(t, dir)
}

func TestRatio(t *testing.T) {
	before := []float64{100, 101, 102, 103, 104, 105, 106, 107, 108, 109}
	after := []float64{200, 202, 204, 206, 208, 210, 212, 214, 216, 218}
	ratio, low, high := ratioOf(before, after)
	if math.Abs(ratio-2) > 1e-9 || low < 1.9 || low >= 2 || high <= 2 || high > 2.1 {
		t.Errorf("twice as long: %v (%v–%v)", ratio, low, high)
	}
	if _, low, _ := ratioOf(before, append([]float64{1000}, before[1:]...)); low > 1 {
		t.Errorf("one outlier moves the lower end to %v", low)
	}
	if _, low, _ := ratioOf(before[:3], after[:3]); !math.IsNaN(low) {
		t.Errorf("three rounds have an interval, from %v", low)
	}
}

func row(table, name string) (cells []string) {
	for line := range strings.Lines(table) {
		all := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if strings.TrimSpace(all[0]) != name {
			continue
		}
		for _, cell := range all[1:] {
			cells = append(cells, strings.TrimSpace(cell))
		}
	}
	return cells
}

func checkout(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module example.com/tiny\n\ngo 1.26.0\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	writeHot(t, dir, "hot/hot_test.go", "FASTER", "100", "SAME", "100", "SLOWER", "100", "ONLY", "Before")
	git(t, dir, "init", "-q")
	git(t, dir, "add", ".")
	git(t, dir, "-c", "user.name=test", "-c", "user.email=test@test.invalid", "commit", "-q", "-m", "files")
	return dir
}

func writeHot(t *testing.T, dir, name string, words ...string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.NewReplacer(words...).Replace(benchmarks)), 0o644); err != nil {
		t.Fatal(err)
	}
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := command(context.Background(), dir, "git", args...)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func wantNoWorktree(t *testing.T, dir string) {
	t.Helper()
	if out := git(t, dir, "worktree", "list"); strings.Count(out, "\n") != 1 {
		t.Errorf("there are worktrees:\n%s", out)
	}
}
