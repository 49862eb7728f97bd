package figure

import (
	"testing"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/resulttest"
)

// 0 is an imported run.
func measuredWith(method int) *result.Run {
	r := run()
	r.Run.MethodVersion = method
	if method == 0 {
		r.Run.Imported = &result.Imported{Format: "omb"}
	}
	return r
}

func TestAmong(t *testing.T) {
	const otherwise, unknown = "measured otherwise before method 2", "measured with method 3, and this kafka-bench compares up to method 2"
	for _, c := range []struct {
		figure string
		runs   []int
		want   []string // why each does not have it
	}{
		{"e2e_response_time_p99", []int{1, 1}, []string{"", ""}},
		{"e2e_response_time_p99", []int{2, 2}, []string{"", ""}},
		{"e2e_response_time_p99", []int{1, 2, 1}, []string{otherwise, "", otherwise}},
		{"e2e_response_time_p99", []int{0, 1, 2}, []string{"", otherwise, ""}},
		{"e2e_response_time_p99", []int{0, 1}, []string{"", ""}},
		{"e2e_response_time_p99", []int{3}, []string{""}},
		{"e2e_response_time_p99", []int{3, 3}, []string{unknown, unknown}},
		{"e2e_response_time_p99", []int{1, 3}, []string{"", unknown}},
		{"acked_per_s", []int{1, 2, 0, 3}, []string{"", "", "", unknown}},
		{"delivered_per_s", []int{1, 2}, []string{otherwise, ""}},
		{"time_lag_peak", []int{1, 2}, []string{otherwise, ""}},
		{"backlog_growth", []int{1, 2}, []string{otherwise, ""}},
		{"poll_time_p99", []int{1, 2}, []string{"", ""}},
	} {
		f, err := Named(c.figure)
		if err != nil {
			t.Fatal(err)
		}
		var runs []*result.Run
		for _, method := range c.runs {
			runs = append(runs, measuredWith(method))
		}
		f = f.Among(runs)
		for i, r := range runs {
			if got := f.Missing(r); got != c.want[i] {
				t.Errorf("%s of runs of methods %v: run %d: %q, want %q", c.figure, c.runs, i, got, c.want[i])
			}
		}
	}
}

func TestReferenceOfAnotherMethod(t *testing.T) {
	off, on := measuredWith(1), measuredWith(2)
	off.Backpressure = nil
	off.Scenario = resulttest.Settings(map[string]any{"load": map[string]any{"rate": "20k/s"}})
	on.Scenario = off.Scenario
	for method, want := range map[int]bool{1: false, 2: true} {
		off.Run.MethodVersion = method
		if _, found := References([][]*result.Run{{off}, {on}})[on]; found != want {
			t.Errorf("a reference of method %d is found: %t", method, found)
		}
	}
}
