package figure

import (
	"fmt"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/resulttest"
)

// The window has six seconds. Its intervals are of one second, and there is one before and after.
func series() (*result.Run, []result.Interval) {
	r := run()
	r.Run.Phases = []result.Phase{{Name: "warm-up", StartNs: -2e9}, {Name: "measure", EndNs: 6.5e9}}
	var all []result.Interval
	for n := range int64(9) {
		second, lag := n-1, 100*n
		i := result.Interval{
			StartNs: second * 1e9, EndNs: (second + 1) * 1e9, ReadFromNs: second * 1e9, ReadToNs: (second+1)*1e9 + second*1e6,
			Acked: 10_000 - 100*second, Failed: 1, Delivered: 9_000, Duplicates: 500, LagRecords: &lag,
			LagSamples: []result.LagSample{{Records: 50}, {Records: lag + 7}},
			Time: map[string]result.IntervalTime{
				"e2e_response_time": {Count: 999 + second, P50Ns: 1e6, P99Ns: 10e6, MaxNs: (20 + second) * 1e6},
			},
		}
		all = append(all, i)
	}
	return r, all
}

func TestCheckStretches(t *testing.T) {
	longer := func(all []result.Interval) []result.Interval { // the sampler was late at 2 s
		all[2].EndNs = all[3].EndNs
		return append(all[:3:3], all[4:]...)
	}
	late := func(all []result.Interval) []result.Interval {
		all[1].Late = []string{"process 0 (pid 7)"}
		return all
	}
	stalled := func(all []result.Interval) []result.Interval {
		all[3].Time = nil
		return all
	}
	for _, c := range []struct {
		expect string
		change func([]result.Interval) []result.Interval
		want   string
		text   string
	}{
		{"acked >= 9500 in every 1s", nil, Met, "acked is 9,500 at worst, from 5 s to 6 s, expected >= 9500 in every 1s"},
		{"acked >= 9600 in every 1s", nil, Failed, "acked is 9,500 from 5 s to 6 s (1 of 6 stretches failed), expected >= 9600 in every 1s"},
		{"acked = 19900 in every 2s", nil, Failed, "acked is 19,100 from 4 s to 6 s (2 of 3 stretches failed), expected = 19900 in every 2s"},
		{"failed <= 4 in every 4s", nil, Met, "failed is 4 at worst, from 0 s to 4 s, expected <= 4 in every 4s"},
		// 29,700 records in 3.003 s
		{"acked_per_s > 9890/s in every 3s", nil, Failed, "acked_per_s is 9,562/s from 3 s to 6 s (1 of 2 stretches failed), expected > 9890/s in every 3s"},
		{"delivered_per_s > 8400/s in every 3s", nil, Met, "delivered_per_s is 8,466/s at worst, from 3 s to 6 s, expected > 8.4k/s in every 3s"},
		{"lag_peak <= 607 in every 6s", nil, Met, "lag_peak is 607 at worst, from 0 s to 6 s, expected <= 607 in every 6s"},
		{"lag_peak < 607 in every 3s", nil, Failed, "lag_peak is 607 from 3 s to 6 s (1 of 2 stretches failed), expected < 607 in every 3s"},
		{"e2e_response_time_max < 25ms in every 2s", nil, Failed, "e2e_response_time_max is 25.0 ms from 4 s to 6 s (1 of 3 stretches failed), expected < 25ms in every 2s"},
		{"e2e_response_time_p50 < 2ms in every 1s", nil, Met, "e2e_response_time_p50 is 1.00 ms at worst, from 0 s to 1 s, expected < 2ms in every 1s"},
		{"e2e_response_time_p99 < 20ms in every 1s", nil, Undecided, "e2e_response_time_p99 is not known from 0 s to 1 s: 999 records are too few for p99 (1 of 6 stretches); expected < 20ms in every 1s"},
		{"e2e_response_time_p99 < 9ms in every 1s", nil, Failed, "e2e_response_time_p99 is 10.0 ms from 1 s to 2 s (5 of 6 stretches failed), expected < 9ms in every 1s"},
		{"e2e_response_time_p90 < 9ms in every 1s", nil, Undecided, "e2e_response_time_p90 is not known from 0 s to 1 s: it was not measured (6 of 6 stretches); expected < 9ms in every 1s"},
		{"e2e_response_time_p99 < 9ms in every 2s", nil, Undecided, "e2e_response_time_p99 is not known: in every 2s: a percentile is known of one interval, and sampling.interval is 1s; set sampling.interval=2s, or write in every 1s; expected < 9ms in every 2s"},
		{"acked > 0 in every 7s", nil, Undecided, "acked is not known: the window has no whole stretch; expected > 0 in every 7s"},
		{"acked > 0 in every 1500ms", nil, Undecided, "acked is not known: in every 1.5s: it is no multiple of sampling.interval, which is 1s; set sampling.interval=1.5s, or write in every 2s; expected > 0 in every 1.5s"},
		{"acked > 0 in every 1s", longer, Undecided, "acked is not known from 1 s to 2 s: its intervals were closed late (2 of 6 stretches); expected > 0 in every 1s"},
		{"acked > 0 in every 3s", longer, Met, "acked is 19,900 at worst, from 0 s to 3 s, expected > 0 in every 3s"},
		{"acked > 0 in every 2s", late, Undecided, "acked is not known from 0 s to 2 s: process 0 (pid 7) did not answer in time (1 of 3 stretches); expected > 0 in every 2s"},
		{"e2e_response_time_max < 99ms in every 1s", stalled, Undecided, "e2e_response_time_max is not known from 2 s to 3 s: no record ended in it (1 of 6 stretches); expected < 99ms in every 1s"},
		{"e2e_response_time_max < 25ms in every 1s", stalled, Failed, "e2e_response_time_max is 25.0 ms from 5 s to 6 s (1 of 6 stretches failed), expected < 25ms in every 1s"},
		{"acked_bytes_per_s > 0 in every 1s", nil, Undecided, "acked_bytes_per_s is not known from 0 s to 1 s: it was not measured (6 of 6 stretches); expected > 0 in every 1s"},
		{"queue_acked_per_s > 0 in every 1s", nil, Undecided, "queue_acked_per_s is not known from 0 s to 1 s: it was not measured (6 of 6 stretches); expected > 0 in every 1s"},
	} {
		e, err := ParseExpectation(c.expect)
		if err != nil {
			t.Fatal(err)
		}
		r, all := series()
		r.Scenario = resulttest.Settings(map[string]any{"sampling": map[string]any{"interval": "1s"}})
		if c.change != nil {
			all = c.change(all)
		}
		if got := e.Check(r, all); got.Outcome != c.want || got.Text != c.text || (got.Value != nil) != (c.want != Undecided) {
			t.Errorf("%s: %s\n%s, want %s\n%s", c.expect, got.Outcome, got.Text, c.want, c.text)
		}
	}
}

func TestSuits(t *testing.T) {
	for expect, want := range map[string]string{
		"e2e_response_time_p99 < 1h":                 "",
		"e2e_response_time_p99 < 1ms in every 10s":   "in every 10s: a percentile is known of one interval, and sampling.interval is 3s; set sampling.interval=10s, or write in every 3s",
		"e2e_response_time_p99 < 1ms in every 3s":    "",
		"e2e_response_time_max < 1ms in every 6s":    "",
		"e2e_response_time_max < 1ms in every 10s":   "in every 10s: it is no multiple of sampling.interval, which is 3s; set sampling.interval=10s, or write in every 12s",
		"e2e_response_time_max < 1ms in every 500ms": "in every 500ms: it is no multiple of sampling.interval, which is 3s; set sampling.interval=500ms, or write in every 3s",
		"acked > 0 in every 60s":                     "in every 1m: the measured window is 20s; set phases.measure=1m, or write in every 18s",
	} {
		e, err := ParseExpectation(expect)
		if err != nil {
			t.Fatal(err)
		}
		if want != "" {
			want = fmt.Sprintf("expectation %q: %s", e, want)
		}
		if err := e.Suits(3*time.Second, 20*time.Second); (err == nil) != (want == "") || err != nil && err.Error() != want {
			t.Errorf("%s: %v, want %s", expect, err, want)
		}
	}
}
