package probe

import (
	"math"
	"os"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"testing"
	"time"
)

func TestSelfCountsCPU(t *testing.T) {
	before, err := Self()
	if err != nil {
		t.Fatal(err)
	}
	after := before
	for after.CPU() == before.CPU() { // or the loop never ends
		if after, err = Self(); err != nil {
			t.Fatal(err)
		}
	}
	if after.RSS < 1<<20 {
		t.Errorf("RSS %d bytes", after.RSS)
	}
}

func TestAnotherProcessIsLinuxOnly(t *testing.T) {
	_, err := Process(os.Getpid())
	if (err == nil) != (runtime.GOOS == "linux") {
		t.Errorf("on %s: %v", runtime.GOOS, err)
	}
}

func TestQuantilesAreNeverUnderstated(t *testing.T) {
	buckets := []float64{0, 1e-6, 1e-3, 1, math.Inf(1)}
	before := &metrics.Float64Histogram{Buckets: buckets, Counts: []uint64{10, 10, 10, 0}}
	after := &metrics.Float64Histogram{Buckets: buckets, Counts: []uint64{10, 106, 13, 1}}
	got := summarise(before, after)
	want := Quantiles{Count: 100, P50: time.Millisecond, P99: time.Second, Max: time.Second}
	if got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if empty := summarise(after, after); empty != (Quantiles{}) {
		t.Errorf("nothing happened, and the summary is %+v", empty)
	}
}

func TestFolderSizeIsWhatFilesTake(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "a"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a", "log"), make([]byte, 1<<20), 0o644); err != nil {
		t.Fatal(err)
	}
	sparse, err := os.Create(filepath.Join(dir, "index"))
	if err != nil {
		t.Fatal(err)
	}
	defer sparse.Close()
	if err := sparse.Truncate(10 << 20); err != nil {
		t.Fatal(err)
	}
	if size, err := FolderSize(dir); err != nil || size < 1<<20 || size > 2<<20 {
		t.Errorf("%d bytes, %v; want the 1 MiB that is there, and not the sparse 10 MiB", size, err)
	}
	if _, err := FolderSize(filepath.Join(dir, "none")); err == nil {
		t.Error("a folder that is not there has a size")
	}
}
