package report_test

import (
	"testing"

	"kafkabench.example/kafka-bench/internal/show/report"
	"kafkabench.example/kafka-bench/internal/show/showtest"
)

func TestSchemas(t *testing.T) {
	showtest.Schema(t, report.RunsDocument{}, "report-runs.schema.json", "report --format json of runs", "run.json")
	showtest.Schema(t, report.Histograms{}, "report-histograms.schema.json", "report --hlog-summary --format json", "histograms.json")
}
