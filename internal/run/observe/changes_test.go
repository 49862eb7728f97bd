package observe

import (
	"testing"

	"kafkabench.example/kafka-bench/internal/plan/scenario"
)

func TestWordOfWork(t *testing.T) {
	if got := workWord(scenario.Work{P50: 5e6, P99: 1e8, Distribution: "lognormal"}); got != "lognormal with a p50 of 5ms and a p99 of 100ms" {
		t.Error(got)
	}
}
