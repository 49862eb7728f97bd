package remote

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"kafkabench.example/kafka-bench/internal/load/send"
)

func TestRecordsAreDealtExactly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		records, workers := rapid.Int64Range(0, 1<<40).Draw(t, "records"), rapid.IntRange(1, 1024).Draw(t, "workers")
		clients := rapid.IntRange(0, 2*workers).Draw(t, "clients")
		processes := rapid.IntRange(1, 64).Draw(t, "processes")
		var sum, least, most int64 = 0, records, 0
		dealt := 0
		for _, part := range Split(workers, clients, processes) {
			for _, id := range part {
				share := send.Dealt(records, workers, id)
				sum, least, most, dealt = sum+share, min(least, share), max(most, share), dealt+1
			}
		}
		if sum != records || dealt != workers || most-least > 1 {
			t.Fatalf("%d of %d records are dealt to %d of %d workers, %d to %d each", sum, records, dealt, workers, least, most)
		}
	})
}

func TestSplit(t *testing.T) {
	for _, c := range []struct {
		workers, clients, processes int
		want                        [][]int
	}{
		{5, 0, 2, [][]int{{0, 2, 4}, {1, 3}}},
		{6, 3, 2, [][]int{{0, 2, 3, 5}, {1, 4}}}, // 0 and 3 share a client, as do 1 and 4, 2 and 5
		{2, 7, 2, [][]int{{0}, {1}}},
		{3, 0, 3, [][]int{{0}, {1}, {2}}},
	} {
		got := Split(c.workers, c.clients, c.processes)
		if !slices.EqualFunc(got, c.want, slices.Equal[[]int]) {
			t.Errorf("%d workers of %d clients in %d processes: %v, want %v", c.workers, c.clients, c.processes, got, c.want)
		}
	}
}
