package bench

import (
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/measure/snapshot"
)

func TestFillWatch(t *testing.T) {
	begun := time.Date(2026, 11, 21, 20, 0, 0, 0, time.UTC)
	type look struct {
		after time.Duration
		sent  snapshot.Sent
		want  fillState
	}
	sent := func(acked, failed int64) snapshot.Sent {
		return snapshot.Sent{Scheduled: 100, Admitted: 100, Acked: acked, Failed: failed}
	}
	for name, looks := range map[string][]look{
		"it goes on": {
			{1 * time.Second, sent(0, 0), fillMoves}, {2 * time.Second, sent(10, 0), fillMoves}, {70 * time.Second, sent(11, 0), fillMoves},
			{130 * time.Second, sent(11, 0), fillMoves}, {131 * time.Second, sent(12, 0), fillMoves},
		},
		"some are refused":        {{1 * time.Second, sent(10, 0), fillMoves}, {2 * time.Second, sent(20, 5), fillMoves}},
		"all are refused":         {{1 * time.Second, sent(10, 0), fillMoves}, {2 * time.Second, sent(10, 5), fillRefused}},
		"nothing ever comes back": {{1 * time.Second, sent(0, 0), fillMoves}, {61 * time.Second, sent(0, 0), fillMoves}, {62 * time.Second, sent(0, 0), fillStuck}},
		"the last do not come back": {
			{1 * time.Second, sent(0, 0), fillMoves}, {30 * time.Second, sent(99, 0), fillMoves}, {90 * time.Second, sent(99, 0), fillMoves},
			{91 * time.Second, sent(99, 0), fillStuck},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newFillWatch(30 * time.Second)
			for _, l := range looks {
				if got := w.look(begun.Add(l.after), l.sent); got != l.want {
					t.Errorf("after %v: %v, want %v", l.after, got, l.want)
				}
			}
		})
	}
}
