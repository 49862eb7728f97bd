package load

import (
	"math/rand/v2"
	"testing"
	"time"
)

func TestLateTimerCostsNoCapacity(t *testing.T) {
	const ms = int64(time.Millisecond)
	fixed := Plan{Work: Work{Distribution: "fixed", Time: 10 * time.Millisecond}}
	s := Server{axis: NewAxis(nil), plan: fixed, freeAt: 10 * ms}
	if begun, _ := s.Begin(100, 0, 35*ms); begun != 3 || s.freeAt != 40*ms {
		t.Errorf("%d records began and the last ends at %v; want 3, at 40ms", begun, time.Duration(s.freeAt))
	}
}

func TestWorkDistributions(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		work Work
		mean time.Duration
	}{
		{Work{Time: 4 * time.Millisecond, Distribution: "fixed"}, 4 * time.Millisecond},
		{Work{Time: 4 * time.Millisecond, Jitter: time.Millisecond, Distribution: "uniform"}, 4500 * time.Microsecond},
		{Work{Time: 2 * time.Millisecond, Distribution: "exponential"}, 2 * time.Millisecond},
		{Work{Time: 2 * time.Millisecond, Jitter: 3 * time.Millisecond, Distribution: "lognormal"}, 2 * time.Millisecond},
	} {
		const n = 200_000
		var sum int64
		for range n {
			sum += c.work.draw(r)
		}
		if mean := time.Duration(sum / n); mean < c.mean*97/100 || mean > c.mean*103/100 || c.work.Mean() != c.mean {
			t.Errorf("%+v: mean %v drawn, %v said; want %v", c.work, mean, c.work.Mean(), c.mean)
		}
	}
}
