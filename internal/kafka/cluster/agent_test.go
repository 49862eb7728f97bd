package cluster

import (
	"fmt"
	"testing"

	"kafkabench.example/kafka-bench/internal/kafka/access"
)

func TestMeteredExisting(t *testing.T) {
	e := startEmbedded(t, EmbeddedOptions{Brokers: 2})
	found, err := Connect(testContext(t), e.Bootstrap(), "", access.Access{})
	if err != nil {
		t.Fatal(err)
	}
	if len(found.MetricsEndpoints()) != 0 {
		t.Errorf("endpoints that nobody named: %+v", found.MetricsEndpoints())
	}
	wantError(t, found.Meter([]string{"http://a:1/metrics"}), ErrInput, "1 metrics endpoints for 2 brokers", "in the order of their IDs: [0 1]")
	wantError(t, found.Meter([]string{"http://a:1/metrics", "b:1"}), ErrInput, `"b:1" is not a metrics endpoint`, "http://host:port/metrics")
	if err := found.Meter([]string{"http://a:1/metrics", "https://b/metrics"}); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(found.MetricsEndpoints()); got != "[{0 http://a:1/metrics} {1 https://b/metrics}]" {
		t.Errorf("endpoints %s", got)
	}
}
