package truth

import "testing"

// TestKafka are the proofs that need Apache Kafka itself. They share one broker,
// one after another, because they break it. They are the longest, so they are the
// first to start.
func TestKafka(t *testing.T) {
	t.Parallel()
	t.Run("stall", func(t *testing.T) {
		r := testStall(t)
		t.Run("histogram log", func(t *testing.T) { testJava(t, r) })
	})
	t.Run("credit", testCredit)
	t.Run("killed consumer", testKilledConsumer)
	t.Run("killed process", testKilledProcess)
	t.Run("credit library", testCreditLibrary)
	// Those that compare times come when the broker has compiled what it runs: for its first
	// minute that takes a processor.
	t.Run("processes", testProcesses)
	t.Run("consumers apart", testConsumersApart)
	t.Run("queue settles", testQueueSettles)
	t.Run("queue drops", testQueueDrops)
	t.Run("queue kill", testQueueKill)
	t.Run("queue fill", testQueueFill)
	t.Run("queue loses", testQueueLoses)
	t.Run("crash", testCrash)
}
