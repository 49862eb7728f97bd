package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kafkabench.example/kafka-bench/internal/result"
)

func filesBelow(t *testing.T, dir string) []string {
	t.Helper()
	var files []string
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestShelve(t *testing.T) {
	out, shelf := t.TempDir(), filepath.Join(t.TempDir(), "results")
	for i, id := range []string{"first1", "second"} {
		from := filepath.Join(out, id)
		r := made(baseline, "baseline", id, i)
		save(t, from, r)
		if err := shelve(from, shelf, "baseline"); err != nil {
			t.Fatal(err)
		}
		dir := filepath.Base(r.Dir)
		want := []string{
			dir + "/curves.json", dir + "/events.ndjson", dir + "/intervals.ndjson", dir + "/run.json", dir + "/scenario.yaml",
		}
		if got := filesBelow(t, shelf); !slices.Equal(got, want) {
			t.Errorf("the shelf has %v, want %v", got, want)
		}
	}
	if _, err := result.Read(filepath.Join(shelf, filesBelow(t, shelf)[0], "..")); err != nil {
		t.Errorf("what is on the shelf cannot be read: %v", err)
	}
}

func TestShelveSweep(t *testing.T) {
	out, shelf := t.TempDir(), t.TempDir()
	save(t, shelf, made(baseline, "baseline", "base01", 0))
	before := len(filesBelow(t, shelf))
	saveSweep(t, out)
	for range 2 {
		if err := shelve(out, shelf, "sweep-compression"); err != nil {
			t.Fatal(err)
		}
	}
	count := map[string]int{}
	for _, f := range filesBelow(t, shelf) {
		count[filepath.Base(f)]++
	}
	if count[result.CampaignFile] != 1 || count[result.SummaryFile] != 1+4 || count[result.IntervalsFile] != 1+2 ||
		count[result.CurvesFile] != 1+4 {
		t.Errorf("the shelf has %v", count)
	}
	s, err := readShelf(shelf)
	if err != nil {
		t.Fatal(err)
	}
	if e := s.of("sweep-compression"); len(e.cells) != 2 || len(e.cells[0].runs) != 2 || e.cells[1].value != "zstd" {
		t.Errorf("read back: %+v", e)
	}
	if s.one("baseline") == nil || before != 6 {
		t.Error("the run of another scenario is gone")
	}
}

func TestShelveNothing(t *testing.T) {
	if err := shelve(t.TempDir(), t.TempDir(), "quick"); err == nil || !strings.Contains(err.Error(), "left no run of quick") {
		t.Errorf("error %v", err)
	}
}

func TestBadInput(t *testing.T) {
	for args, want := range map[string]string{
		"-only nothing": `there is no scenario "nothing"; choose from quick, baseline`,
		"extra":         `"extra" is not a flag`,
	} {
		var out bytes.Buffer
		err := run(t.Context(), strings.Fields(args), &out, &out)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", args, err, want)
		}
	}
}

func TestRunThatFails(t *testing.T) {
	dir := t.TempDir()
	shelf, page := filepath.Join(dir, "results"), filepath.Join(dir, "RESULTS.md")
	save(t, shelf, made(baseline, "baseline", "base01", 0))
	var out bytes.Buffer
	readme := filepath.Join(dir, "README.md")
	if err := os.WriteFile(readme, []byte("nothing of a result"), 0o644); err != nil {
		t.Fatal(err)
	}
	err := run(t.Context(), []string{"-from", shelf, "-page", page, "-readme", readme, "-run", filepath.Join(dir, "no-such-binary"), "-only", "quick,baseline"}, &out, &out)
	if err == nil || !strings.Contains(err.Error(), "quick: ") || !strings.Contains(err.Error(), "baseline: ") {
		t.Errorf("error %v", err)
	}
	if text, err := os.ReadFile(page); err != nil || !strings.Contains(string(text), "All 1 runs") {
		t.Errorf("page %.200s, %v", text, err)
	}
}
