package sarama_test

import (
	"os"
	"testing"

	"github.com/rcrowley/go-metrics"
)

// TestMain first starts the goroutine of the client's metrics, which runs once per process and would end no bubble.
func TestMain(m *testing.M) {
	metrics.NewMeter().Stop()
	os.Exit(m.Run())
}
