package report_test

import (
	"strings"
	"testing"

	"kafkabench.example/kafka-bench/internal/result/resulttest"
	"kafkabench.example/kafka-bench/internal/show/report"
	"kafkabench.example/kafka-bench/internal/show/showtest"
)

func TestClientOptions(t *testing.T) {
	r := showtest.Simulate(t, resulttest.Baseline())
	for path, value := range map[string]string{
		"load.batch": "1 record", "load.client.RecordRetries": "3", "consume.assignor": "range",
		"consume.poll_timeout": "100ms", "consume.client.fetch.queue.backoff.ms": "10",
	} {
		resulttest.Set(&r.Run.Scenario, path, value)
	}
	got := strings.Join(strings.Fields(string(text(t, r, report.Options{}))), " ")
	for _, want := range []string{
		"client 1 record a batch · assignor range · a poll ends after 100ms",
		"set by its own names: consume.client.fetch.queue.backoff.ms=10, load.client.RecordRetries=3",
		"with records, 37 empty",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in the report:\n%s", want, got)
		}
	}
}
