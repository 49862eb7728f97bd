package pages_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/show/pages"
)

// BenchmarkPageOfAnHour reads the files of a run of an hour and writes its page. The goals are
// 500 ms of processor time and 2 MB.
func BenchmarkPageOfAnHour(b *testing.B) {
	dir := saved(b, hours(b, 3600))
	var page bytes.Buffer
	start := cpu(b)
	for b.Loop() {
		r, err := result.Read(dir)
		if err != nil {
			b.Fatal(err)
		}
		page.Reset()
		if err := pages.Run(r).Write(&page, pages.Options{}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64((cpu(b)-start).Milliseconds())/float64(b.N), "cpu-ms/op")
	b.ReportMetric(float64(page.Len()), "bytes")
}

func saved(t testing.TB, r *result.Recorded) (dir string) {
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

func cpu(t testing.TB) time.Duration {
	t.Helper()
	var usage unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
