package report_test

import (
	"strings"
	"testing"

	"kafkabench.example/kafka-bench/internal/result/resulttest"
	"kafkabench.example/kafka-bench/internal/show/report"
	"kafkabench.example/kafka-bench/internal/show/showtest"
)

func TestWarmupRates(t *testing.T) {
	r := showtest.Simulate(t, resulttest.Overload())
	perS := r.Run.Warmup.Delivery.DeliveredPerS
	if perS == nil || r.Run.Warmup.Load.AckedPerS != 10_000 {
		t.Fatalf("the warm-up is %+v", r.Run.Warmup)
	}
	for _, c := range []struct {
		perS *float64
		want string
	}{
		{new(2345.), "3 s: 30,000 due · 10,000/s acked · 2,345/s delivered"},
		{nil, "3 s: 30,000 due · 10,000/s acked · delivered/s not recorded"},
	} {
		r.Run.Warmup.Delivery.DeliveredPerS = c.perS
		if got := string(text(t, r, report.Options{})); !strings.Contains(got, c.want) {
			t.Errorf("the report does not say %q:\n%s", c.want, got)
		}
	}
}
