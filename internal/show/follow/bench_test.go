package follow

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/result"
)

func BenchmarkLookAtNothingNew(b *testing.B) {
	w, err := result.Create(b.TempDir(), "followed", time.Unix(0, 0))
	must(b, err)
	must(b, w.Interval(result.Interval{}))
	root, err := os.OpenRoot(filepath.Dir(w.Dir()))
	must(b, err)
	defer root.Close()
	f, err := Open(root, filepath.Base(w.Dir()))
	must(b, err)
	defer f.Close()
	f.Histograms = true
	for {
		changed, err := f.look()
		must(b, err)
		if !changed {
			break
		}
	}
	for b.Loop() {
		if changed, err := f.look(); changed || err != nil {
			b.Fatal(changed, err)
		}
	}
}
