package bench

import (
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
	"kafkabench.example/kafka-bench/internal/run/remote"
)

func TestIntervalsEndAtMultiplesOfThePeriod(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		period := rapid.Int64Range(1, 5_000_000_000).Draw(t, "period")
		at := rapid.Int64Range(-100_000_000_000, 100_000_000_000).Draw(t, "at")
		next := multipleAfter(at, period)
		if next <= at || next > at+period || next%period != 0 {
			t.Fatalf("after %d comes %d with period %d", at, next, period)
		}
	})
}

// The end of what there is to read is found by the positions alone, in few looks, and
// the window ends with the last record all the same.
func TestReadToEndAsksLittle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		g := groupOf(func(w remote.Want) snapshot.Group {
			if w.Books || w.Last || w.Usage {
				t.Errorf("it is asked for %+v", w)
			}
			if asked++; asked < 3 {
				return snapshot.Group{Reached: []snapshot.Reached{{Position: 5, At: 10}}}
			}
			return snapshot.Group{Reached: []snapshot.Reached{{Position: 7, At: 1000}}}
		})
		r := &run{axis: load.NewAxis(nil), groups: groups{g}, there: []int64{7}, stop: make(chan struct{})}
		r.axis.Set(0, time.Minute)
		began := time.Now()
		<-r.readToEnd()
		if took := time.Since(began); took != 3*readPoll || asked != 4 || r.axis.End() != 1001 {
			t.Errorf("%d looks in %v; the window ends at %d, want 1001", asked, took, r.axis.End())
		}
	})
}
