//go:build full

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// recordedShelf reads the thousand runs once for all tests.
var recordedShelf = sync.OnceValues(func() (*shelf, error) { return readShelf("../../../results") })

func TestPageIsThatOfTheRuns(t *testing.T) {
	shelf, err := recordedShelf()
	if err != nil {
		t.Fatal(err)
	}
	if missing := shelf.missing(); len(missing) > 0 {
		t.Fatalf("results/ has no run of %s; make results-runs makes them", strings.Join(missing, "; "))
	}
	want, err := shelf.page()
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../../../docs/RESULTS.md")
	if err != nil {
		t.Fatalf("%v; make results writes it", err)
	}
	if !bytes.Equal(got, want) {
		t.Error("docs/RESULTS.md is not what the runs in results/ say; make results writes it anew")
	}
}

func TestReadmeIsThatOfTheRuns(t *testing.T) {
	shelf, err := recordedShelf()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range front {
		if shelf.of(name).campaign == nil {
			t.Errorf("results/ has no %s; make results-runs ONLY=%s makes it", name, name)
		}
	}
	got, err := os.ReadFile("../../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	want, err := shelf.readme(got)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("the result in README.md is not what the runs in results/ say; make results writes it")
	}
}

func TestChartsAreThoseOfTheRuns(t *testing.T) {
	shelf, err := recordedShelf()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	lacking, err := shelf.writeCharts(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(strings.Join(lacking, "\n"))
	const committed = "../../../docs/images"
	want, got := filesBelow(t, dir), filesBelow(t, committed)
	if !slices.Equal(got, want) {
		t.Fatalf("docs/images has %v; the runs make %v: make results writes them", got, want)
	}
	for _, name := range want {
		if !bytes.Equal(read(t, filepath.Join(dir, name)), read(t, filepath.Join(committed, name))) {
			t.Errorf("docs/images/%s is not what the runs make; make results writes it anew", name)
		}
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
