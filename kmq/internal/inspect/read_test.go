package inspect

import (
	"slices"
	"testing"

	"kafka-bench/kmq/internal/window"
)

func TestUnsettled(t *testing.T) {
	p := Partition{unlent: 10, open: []window.Range{{From: 2, To: 4}, {From: 7, To: 8}}}
	var got []int64
	for offset := range int64(12) {
		if p.unsettled(offset) {
			got = append(got, offset)
		}
	}
	if want := []int64{2, 3, 7, 10, 11}; !slices.Equal(got, want) {
		t.Errorf("not settled: %v, want %v", got, want)
	}
}
