package arrival

import (
	"testing"
	"time"
)

func BenchmarkAdvance(b *testing.B) {
	day := 24 * time.Hour
	for _, c := range []struct {
		name    string
		process Process
	}{
		{"constant", must(b)(Constant(perSecond(9_999)))},
		{"burst", must(b)(Burst(perSecond(1000), perSecond(9_999), 20*time.Millisecond, 100*time.Millisecond))},
		{"ramp-up", must(b)(Ramp(perSecond(1), perSecond(1_000_000), day))},
		{"ramp-down", must(b)(Ramp(perSecond(1_000_000), perSecond(1), day))},
		{"poisson", must(b)(Poisson(perSecond(9_999), 1))},
	} {
		b.Run(c.name, func(b *testing.B) {
			s := WithWarmup(time.Second, c.process).Stripe(1, 8)
			b.ReportAllocs()
			var sum int64
			for b.Loop() {
				sum += s.Due()
				s.Advance()
			}
			if sum == Never {
				b.Fatal("the stream has ended")
			}
		})
	}
}
