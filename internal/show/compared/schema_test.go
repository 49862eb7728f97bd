package compared_test

import (
	"testing"

	"kafkabench.example/kafka-bench/internal/show/compared"
	"kafkabench.example/kafka-bench/internal/show/showtest"
)

func TestSchemas(t *testing.T) {
	showtest.Schema(t, compared.Comparison{}, "report-comparison.schema.json", "compare --format json", "compare.json")
	showtest.Schema(t, compared.History{}, "report-history.schema.json", "history --format json", "history.json")
}
