package scenario

import (
	"testing"

	"pgregory.net/rapid"
)

func TestNeededBound(t *testing.T) {
	const keepsUp = "load: {rate: 10k/s}\n"
	for _, c := range []struct {
		text string
		want int64
	}{
		// rate × (commit + poll + linger + 50 ms)
		{keepsUp + "consume: {commit: 1s}", 11_550},
		{keepsUp + "consume: {commit: 100ms}", 2_550},
		{keepsUp + "consume: {commit: 100ms}\nbackpressure: {poll: 10ms}", 1_650},
		{keepsUp + "consume: {commit: 1s}\nbackpressure: {signal: delivered}", 1_550},
		{keepsUp + "consume: {commit: batch}", 1_550},
		// The consumers' capacity is lower than the rate.
		{keepsUp + "consume: {commit: 1s, parallel: partition, work: {time: 4ms, jitter: 1ms}}", 3_080},
		{keepsUp + "consume: {commit: 1s, consumers: 2, work: 1ms}", 2_310},
		{keepsUp + "consume: {commit: 1s, consumers: 20, work: 1ms}", 11_550},
		{keepsUp + "consume: {commit: 1s, parallel: partition, work: 4ms, changes: [{at: 1s, work: 2ms}, {at: 2s, work: 3ms}]}", 6_930},
		{keepsUp + "consume: {commit: 1s, work: 4ms, changes: [{at: 1s, work: 0}]}", 11_550},
		{keepsUp + "topic: {existing: orders}\nconsume: {commit: 1s, parallel: partition, work: 4ms}", 11_550},
		// The schedule's highest rate counts.
		{"load: {rate: 1k/s, arrival: {process: burst, peak: 30k/s, length: 1s, period: 5s}}\nconsume: {commit: batch}", 4_650},
		{"load: {rate: 1k/s, arrival: {process: ramp, to: 3k/s}}\nconsume: {commit: batch}", 465},
		{"load: {rate: max}", 0},
		{"load: {producers: 0}\ntopic: {existing: orders}", 0},
	} {
		s, err := Parse("f.yaml", []byte(c.text))
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
		} else if got := NeededBound(s); got != c.want {
			t.Errorf("%q needs %d records, want %d", c.text, got, c.want)
		}
	}
}

func TestNeededBoundIsWarnedOf(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := anyScenario(t)
		s.Backpressure = Defaults().Backpressure
		needed := NeededBound(s)
		if s.Load.Rate.IsMax() || needed < 2 || needed > maxRecords {
			return
		}
		s.Backpressure.Controller, s.Backpressure.MaxLag = "credit", needed
		if warned := s.backpressureWarnings(); len(warned) > 0 {
			t.Fatalf("%d records are enough, and yet %q", needed, warned)
		}
		if s.Backpressure.MaxLag--; len(s.backpressureWarnings()) != 1 {
			t.Fatalf("%d records are needed, and %d not warned of", needed, s.Backpressure.MaxLag)
		}
	})
}
