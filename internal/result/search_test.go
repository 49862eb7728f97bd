package result_test

import (
	"slices"
	"testing"

	"kafkabench.example/kafka-bench/internal/result"
)

// A search that was recorded before the answer named the rates below it that did not pass.
func TestExplainAnOlderSearch(t *testing.T) {
	s := result.Search{
		HighestPerS: new(133_000.0), FailedPerS: new(136_800.0), Answer: "133,000/s is the highest rate that holds.",
		Caveats: []string{
			"on the curve 93,100/s did not pass: backlog_growth is 28.6/s ± 24.4/s, expected <= 0",
			"on the curve 146,300/s passed: at another time more may hold than the answer",
			"an earlier run at the answer did not pass",
		},
		Probes: []result.Probe{
			{Phase: "capacity", OfferedPerS: 100},
			{Phase: "bisect", OfferedPerS: 133_000, Failures: []string{"the p99 is 68 ms"}},
			{Phase: "bisect", OfferedPerS: 120_000, TooFew: true},
			{Phase: "bisect", OfferedPerS: 110_000, Failures: []string{"the p99 is 67 ms"}},
			{Phase: "retry", OfferedPerS: 110_000, Passed: true},
			{Phase: "retry", OfferedPerS: 133_000, Passed: true},
			{Phase: "confirm", OfferedPerS: 133_000, Passed: true},
			{Phase: "confirm", OfferedPerS: 136_800, Failures: []string{"the p99 is 70 ms"}},
			{Phase: "curve", OfferedPerS: 93_100, Failures: []string{"backlog_growth is 28.6/s ± 24.4/s, expected <= 0"}},
			{Phase: "curve", OfferedPerS: 79_800, Failures: []string{"3 records were lost", "the p99 is 60 ms"}},
			{Phase: "curve", OfferedPerS: 146_300, Passed: true},
		},
	}
	for range 2 {
		s.Explain()
		const want = "133,000/s is the highest rate that holds. Below the answer, 79,800/s (3 records were lost; the p99 is 60 ms) " +
			"and 93,100/s (backlog_growth is 28.6/s ± 24.4/s, expected <= 0) did not pass. " +
			"110,000/s (the p99 is 67 ms) and 133,000/s (the p99 is 68 ms) passed only when tried again."
		if s.Answer != want {
			t.Errorf("got\n%s, want\n%s", s.Answer, want)
		}
		if want := []string{
			"on the curve 146,300/s passed: at another time more may hold than the answer",
			"this search tested the growth of each probe alone: one of about 25 with a stable backlog fails",
		}; !slices.Equal(s.Caveats, want) {
			t.Errorf("got %q, want %q", s.Caveats, want)
		}
	}
}

func TestExplainNamesThreeRates(t *testing.T) {
	s := result.Search{HighestPerS: new(9.0), Answer: "9.0/s holds."}
	for perS := range 5 {
		s.Probes = append(s.Probes, result.Probe{Phase: "curve", OfferedPerS: float64(perS + 1), Failures: []string{"no"}})
	}
	s.Explain()
	if want := "9.0/s holds. Below the answer, 1.00/s (no), 2.00/s (no), 3.00/s (no) and 2 more did not pass."; s.Answer != want {
		t.Errorf("got %s, want %s", s.Answer, want)
	}
}

// A curve tries the answer again, as its tenth rate.
func TestExplainAFailureAtTheAnswer(t *testing.T) {
	s := result.Search{HighestPerS: new(9.0), Answer: "9.00/s holds.", Probes: []result.Probe{
		{Phase: "confirm", OfferedPerS: 9, Passed: true},
		{Phase: "curve", OfferedPerS: 8, Failures: []string{"the p99 is 68 ms"}},
		{Phase: "curve", OfferedPerS: 9, Failures: []string{"the p99 is 70 ms"}},
	}}
	s.Explain()
	if want := "9.00/s holds. Below the answer, 8.00/s (the p99 is 68 ms) did not pass. " +
		"Tried again, the answer itself, 9.00/s (the p99 is 70 ms), did not pass."; s.Answer != want {
		t.Errorf("got %s, want %s", s.Answer, want)
	}
}
