package send

import (
	"testing"

	"pgregory.net/rapid"
)

// The answer is never late, and early by at most a period.
func TestTimelineKnowsTheOldest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var line timeline
		var due []int64
		now := int64(-1_000_000_000)
		next := uint64(0)
		for range rapid.IntRange(1, 300).Draw(t, "steps") {
			if rapid.Bool().Draw(t, "send") {
				now += rapid.Int64Range(0, 4*periodLength).Draw(t, "gap")
				line.add(uint64(len(due)), now)
				due = append(due, now)
				continue
			}
			next += uint64(rapid.IntRange(0, len(due)-int(next)).Draw(t, "delivered"))
			got, ok := line.oldest(next)
			if ok != (int(next) < len(due)) {
				t.Fatalf("next %d of %d: ok %v", next, len(due), ok)
			}
			if ok && (got > due[next] || due[next]-got >= periodLength) {
				t.Fatalf("next %d: oldest %d, want %d or up to a period before", next, got, due[next])
			}
		}
	})
}

func TestTimelineIsBounded(t *testing.T) {
	var line timeline
	const every = 1_000_000
	const n = 20 * maxPeriods * periodLength / every
	for i := range int64(n) {
		line.add(uint64(i), i*every)
	}
	if len(line.periods) > maxPeriods {
		t.Errorf("%d periods", len(line.periods))
	}
	got, ok := line.oldest(n / 2)
	if want := int64(n / 2 * every); !ok || got > want || want-got > 2*line.length {
		t.Errorf("oldest %d, want %d or up to %d before", got, want, 2*line.length)
	}
}

func TestTimelineKeepsSilencesApart(t *testing.T) {
	var line timeline
	const silence = 30_000_000_000
	sequence := uint64(0)
	for burst := range int64(3) {
		for i := range int64(2 * maxPeriods) {
			line.add(sequence, burst*silence+i*periodLength)
			sequence++
		}
	}
	for burst := range uint64(3) {
		first := burst * 2 * maxPeriods
		got, ok := line.oldest(first)
		if want := int64(burst) * silence; !ok || got > want || want-got > line.length {
			t.Errorf("burst %d: oldest %d, want %d", burst, got, want)
		}
	}
}

// Delivered records leave nothing behind, so the answer stays exact.
func TestTimelineStaysSharpInALongHealthyRun(t *testing.T) {
	var line timeline
	for i := range int64(10 * maxPeriods) {
		line.add(uint64(i), i*periodLength)
		line.oldest(uint64(i))
	}
	if len(line.periods) > 1 || line.length != 0 {
		t.Errorf("%d periods of up to %d ns", len(line.periods), line.length)
	}
}
