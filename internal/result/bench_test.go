package result_test

import (
	"errors"
	"os"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/resulttest"
)

func anHour(b *testing.B) string {
	r := resulttest.Baseline().Run()
	w, err := result.Create(b.TempDir(), r.Run.Run.Name, r.Run.Run.StartedAt)
	if err != nil {
		b.Fatal(err)
	}
	for n := range int(time.Hour / time.Second) {
		if err := w.Interval(r.Intervals[n%len(r.Intervals)]); err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Finish(r.Run); err != nil {
		b.Fatal(err)
	}
	return w.Dir()
}

func BenchmarkReadAnHour(b *testing.B) {
	dir := anHour(b)
	for b.Loop() {
		if _, err := result.Read(dir); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkReadSummaries(b *testing.B) {
	for b.Loop() {
		if _, err := result.List(recordedRuns); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkReadRows(b *testing.B) {
	root := os.DirFS(recordedRuns)
	for b.Loop() {
		dirs, err := result.Folders(root, ".")
		if err != nil {
			b.Fatal(err)
		}
		for _, dir := range dirs {
			if _, err := result.ReadRow(root, dir); err != nil && !errors.Is(err, result.ErrNotARun) {
				b.Fatal(err)
			}
		}
	}
}

const recordedRuns = "../../results"
