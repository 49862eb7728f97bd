package campaigns_test

import (
	"strings"
	"testing"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/show/campaigns"
	"kafkabench.example/kafka-bench/internal/show/report"
)

func TestSearch(t *testing.T) {
	ns := func(ms int64) *int64 { ms *= 1_000_000; return &ms }
	highest := 4000.0
	s := result.Search{
		Answer: "4,000/s is the highest rate that holds.", HighestPerS: &highest,
		Expectations: []string{"e2e_response_time_p99 <= 50ms", "failed <= 0"}, ResponseMetric: "e2e_response_time",
		Caveats: []string{"the broker is embedded"},
		Probes: []result.Probe{
			{Phase: "capacity", OfferedPerS: 5100, Passed: true, AckedPerS: 5000},
			{Phase: "bracket", OfferedPerS: 4500, AckedPerS: 4400, Failures: []string{"it did not keep up"}, Limit: result.LimitTool, ResponseP50Ns: ns(70), ResponseP99Ns: ns(80)},
			{Phase: "bisect", OfferedPerS: 40, TooFew: true, AckedPerS: 40, ResponseP50Ns: ns(2)},
			{Phase: "bisect", OfferedPerS: 4000, Stalled: true},
			{Phase: "retry", OfferedPerS: 4000, Passed: true, AckedPerS: 4000, ResponseP50Ns: ns(2), ResponseP99Ns: ns(11)},
			{Phase: "confirm", OfferedPerS: 4000, Passed: true, AckedPerS: 4000, ResponseP50Ns: ns(2), ResponseP99Ns: ns(10)},
			{Phase: "curve", OfferedPerS: 2000, Passed: true, AckedPerS: 2000, ResponseP50Ns: ns(1), ResponseP99Ns: ns(5)},
			{Phase: "curve", OfferedPerS: 4400, AckedPerS: 4200, Failures: []string{"too slow"}, ResponseP50Ns: ns(9), ResponseP99Ns: ns(20)},
		},
	}
	var b strings.Builder
	if err := campaigns.WriteSearch(&b, &s, report.Options{}); err != nil {
		t.Fatal(err)
	}
	const want = `4,000/s is the highest rate that holds.

  expected      e2e_response_time_p99 <= 50ms, failed <= 0
  but           the broker is embedded

Probes
                 offered                     acked   e2e response time p50       p99
  1   capacity       max                   5,000/s                       –         –
  2   bracket    4,500/s   failed (tool)   4,400/s                 70.0 ms   80.0 ms
        it did not keep up
  3   bisect      40.0/s   too few          40.0/s                 2.00 ms         –
  4   bisect     4,000/s   stalled             0/s                       –         –
  5   retry      4,000/s   passed          4,000/s                 2.00 ms   11.0 ms
  6   confirm    4,000/s   passed          4,000/s                 2.00 ms   10.0 ms

Curve, e2e response time against offered load
  offered       p50       p99
  2,000/s   1.00 ms   5.00 ms   passed   ███████
  4,000/s   2.00 ms   10.0 ms   passed   ███████████████
  4,400/s   9.00 ms   20.0 ms   failed   ██████████████████████████████
`
	if got := b.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got, want := campaigns.ProbeLine(s.Probes[2]), "too few · acked 40.0/s · response p50 2.00 ms, p99 –"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := campaigns.ProbeLine(s.Probes[1]), "failed (tool) · acked 4,400/s · response p50 70.0 ms, p99 80.0 ms · it did not keep up"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
