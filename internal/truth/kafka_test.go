package truth

import "testing"

// TestKafka are the proofs that need a real broker. They share it, one after
// another, because they break it.
func TestKafka(t *testing.T) {
	t.Parallel()
	t.Run("stall", func(t *testing.T) {
		r := testStall(t)
		t.Run("histogram log", func(t *testing.T) { testJava(t, r) })
	})
	t.Run("crash", testCrash)
}
