package bench

import (
	"testing"
	"testing/synctest"
	"time"

	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
	"kafkabench.example/kafka-bench/internal/run/observe"
	"kafkabench.example/kafka-bench/internal/run/remote"
)

// To find out that a topic is read to its end takes only a few requests, for positions.
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
		axis := load.NewAxis(nil)
		r := &run{base: base{axis: axis, readTo: []int64{7}}, groups: remote.Groups{g}, observer: observe.New(axis)}
		r.plan.hasRead = func() bool { return r.reachedAll(r.readTo) }
		r.axis.Set(0, time.Minute)
		began := time.Now()
		<-r.readToEnd()
		if took := time.Since(began); took != 3*readPoll || asked != 4 || r.axis.End() != 1001 {
			t.Errorf("%d looks in %v; the window ends at %d, want 1001", asked, took, r.axis.End())
		}
	})
}
