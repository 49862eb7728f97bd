//go:build proof

package pages_test

import (
	"io"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/show/pages"
)

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
