//go:build proof

package pages_test

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/show/pages"
)

func saved(t *testing.T, r *result.Recorded) (dir string) {
	t.Helper()
	dir = t.TempDir()
	summary, err := json.Marshal(r.Run)
	if err != nil {
		t.Fatal(err)
	}
	var intervals bytes.Buffer
	lines := json.NewEncoder(&intervals)
	for _, i := range r.Intervals {
		if err := lines.Encode(i); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string][]byte{result.SummaryFile: summary, result.IntervalsFile: intervals.Bytes()} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func cpu(t *testing.T) time.Duration {
	t.Helper()
	var usage unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func TestPageOfAnHourTakesEightTimesThatOfTenMinutes(t *testing.T) {
	took := map[string]time.Duration{}
	dirs := []string{saved(t, hours(t, 600)), saved(t, hours(t, 3600))}
	for range 5 {
		for _, dir := range dirs {
			start := cpu(t)
			r, err := result.Read(dir)
			if err != nil {
				t.Fatal(err)
			}
			if err := pages.Run(r).Write(io.Discard, pages.Options{}); err != nil {
				t.Fatal(err)
			}
			if d := cpu(t) - start; took[dir] == 0 || d < took[dir] {
				took[dir] = d
			}
		}
	}
	short, long := took[dirs[0]], took[dirs[1]]
	t.Logf("ten minutes %v, an hour %v", short, long)
	if long > 8*short {
		t.Errorf("an hour takes %v, %.1f times as long as ten minutes (%v)", long, float64(long)/float64(short), short)
	}
}
