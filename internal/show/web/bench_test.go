package web

import (
	"encoding/json"
	"fmt"
	"testing"
)

// BenchmarkListOf1000Runs opens a folder of 1,000 runs and writes the first page of its list.
func BenchmarkListOf1000Runs(b *testing.B) {
	s := newShelf(b)
	summary, err := json.Marshal(s.run.Run)
	if err != nil {
		b.Fatal(err)
	}
	for i := range 1000 {
		s.write(fmt.Sprintf("20261122T%06dZ-baseline-aaaaaa/run.json", i), string(summary))
	}
	bytes := 0
	for b.Loop() {
		l, err := OpenLibrary(s.dir)
		if err != nil {
			b.Fatal(err)
		}
		bytes = get(l.Handler(), "/").Body.Len()
		if err := l.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(bytes), "bytes")
}
