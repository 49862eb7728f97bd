package inspect

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"

	"kafkabench.example/kafka-bench/kmq/internal/engine"
)

// Without open records nothing is in flight, even if the broker's start offset is below the end of the log.
func TestShareWithoutLag(t *testing.T) {
	for _, test := range []struct {
		lag, unlent, waiting, inFlight int64
	}{
		{0, 350, 0, 0},
		{3, 276, 3, unknown},
		{-1, 276, 74, unknown},
	} {
		p := &Partition{Committed: unknown, End: 350, stable: 350, InFlight: unknown}
		i := inspector{
			cfg: engine.Config{Topic: "orders"}, parts: []*Partition{p},
			shared: kadm.ShareOffsets{"orders": {0: {StartOffset: 276, Lag: test.lag}}},
		}
		i.share()
		if p.Committed != 276 || p.unlent != test.unlent || p.Waiting != test.waiting || p.InFlight != test.inFlight {
			t.Errorf("lag %d: %+v", test.lag, *p)
		}
		if test.lag != 0 {
			continue
		}
		if err := i.readUnsettled(t.Context()); err != nil || !p.OldestUnacked.IsZero() {
			t.Errorf("%+v, %v", *p, err)
		}
	}
}
