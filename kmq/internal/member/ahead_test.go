package member

import (
	"testing"
	"testing/synctest"
	"time"

	"kafkabench.example/kafka-bench/kmq/internal/engine"
)

// What nobody asks for is not begun, however much may be in flight: it stays in the client.
func TestLittleIsBegunAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const produced = 10_000
		p := newPlace(t)
		p.produce(produced)
		r := newRecorder(produced)
		m := p.open(r, produced)
		p.until("records", func() bool { return r.set.Len() > 0 })
		time.Sleep(200 * time.Millisecond)
		if n := r.set.Len(); n > 3*leastAhead {
			t.Errorf("%d records are in flight, and nobody has asked for one", n)
		}
		// What was handed out is not ahead any more, though nobody settles it.
		for n := 0; n < produced; {
			leases, err := engine.Receive(t.Context(), m, 10)
			if err != nil {
				t.Fatalf("receive: %v, after %d", err, n)
			}
			n += len(leases)
		}
	})
}
