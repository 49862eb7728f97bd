package sarama_test

import (
	"os"
	"testing"

	"github.com/rcrowley/go-metrics"
)

// In a synctest bubble, the goroutine of the client's metrics, which runs once per process, would keep the bubble
// from ending.
func TestMain(m *testing.M) {
	metrics.NewMeter().Stop()
	os.Exit(m.Run())
}
