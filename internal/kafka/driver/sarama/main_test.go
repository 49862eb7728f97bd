package sarama_test

import (
	"os"
	"testing"

	"github.com/rcrowley/go-metrics"
)

// TestMain starts what the client starts once in a process, and what would end no
// bubble: the goroutine of its metrics.
func TestMain(m *testing.M) {
	metrics.NewMeter().Stop()
	os.Exit(m.Run())
}
