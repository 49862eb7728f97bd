//go:build full

package truth

import (
	"testing"

	"kafkabench.example/kafka-bench/internal/kafka/cluster/clustertest"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
)

// The lag stays at or below 5,000 records under four times the consumers' capacity with commits
// each second.
func TestCreditOnKafka(t *testing.T) {
	t.Parallel()
	s, err := scenario.Read("overload", "phases.warmup=2s", "phases.measure=5s", "phases.drain=10s",
		"backpressure.controller=credit", "backpressure.max_lag=5000", "backpressure.excess=shed")
	if err != nil {
		t.Fatal(err)
	}
	r := run(t, config(t, clustertest.Shared(t), s))
	wantValid(t, r)
	wantBalance(t, r)
	wantBound(t, r, 5000)
}
