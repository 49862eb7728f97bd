package remote

import (
	"slices"
	"testing"
)

func TestSplit(t *testing.T) {
	for _, c := range []struct {
		workers, clients, processes int
		want                        [][]int
	}{
		{5, 0, 2, [][]int{{0, 2, 4}, {1, 3}}},
		{6, 3, 2, [][]int{{0, 2, 3, 5}, {1, 4}}}, // 0 and 3 share a client, as 1 and 4, 2 and 5
		{2, 7, 2, [][]int{{0}, {1}}},
		{3, 0, 3, [][]int{{0}, {1}, {2}}},
	} {
		got := Split(c.workers, c.clients, c.processes)
		if !slices.EqualFunc(got, c.want, slices.Equal[[]int]) {
			t.Errorf("%d workers of %d clients in %d processes: %v, want %v", c.workers, c.clients, c.processes, got, c.want)
		}
	}
}
