package observe

import (
	"testing"

	"kafkabench.example/kafka-bench/internal/run/judge"
)

func TestLooksAreBounded(t *testing.T) {
	var l Looks
	const n = 10*maxLooks + 3
	for i := range n {
		l.add(judge.Look{AtNs: int64(i), Delivered: int64(i)})
	}
	if len(l.all) > maxLooks || len(l.all) < maxLooks/2 {
		t.Errorf("%d looks are kept, the bound is %d", len(l.all), maxLooks)
	}
	for i, at := range l.all[1:] {
		if at.AtNs <= l.all[i].AtNs {
			t.Fatalf("look %d is of %d, after one of %d", i+1, at.AtNs, l.all[i].AtNs)
		}
	}
	if first, last := l.all[0].AtNs, l.all[len(l.all)-1].AtNs; first > 32 || last < n-32 {
		t.Errorf("the looks are from %d to %d of %d", first, last, n)
	}
}
