package bench

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/load/receive"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
	"kafkabench.example/kafka-bench/internal/run/remote"
)

func TestReadable(t *testing.T) {
	for _, c := range []struct {
		ends, from, acked []int64
		want              bool
	}{
		{[]int64{5, 7}, nil, []int64{5, 7}, true},
		{[]int64{5, 7}, nil, []int64{5, 8}, false}, // the last record is not below the high watermark yet
		{[]int64{60, 140}, nil, []int64{100, 100}, false},
		{[]int64{5, 7}, []int64{2, 3}, []int64{3, 4}, true},
		{[]int64{5, 7}, []int64{2, 3}, []int64{4, 3}, false},
		{[]int64{0}, nil, []int64{0}, true},
		{[]int64{9}, nil, []int64{3}, true}, // another writer, or a duplicate
	} {
		if got := readable(c.ends, c.from, c.acked); got != c.want {
			t.Errorf("%v from %v hold %v: %v", c.ends, c.from, c.acked, got)
		}
	}
}

type endsLook struct {
	at      time.Duration
	end     int64 // of the only partition; -1: the read failed
	logEnd  int64 // -1: unknown
	settled bool  // all acked records lie before the end
}

// Ends are final when the leaders' logs end there too and either all acked records lie before the
// ends or nothing moves.
func TestEndsAreFinal(t *testing.T) {
	const s = time.Second
	every := func(step, from, to time.Duration, l endsLook) (all []endsLook) {
		for l.at = from; l.at <= to; l.at += step {
			all = append(all, l)
		}
		return all
	}
	for _, test := range []struct {
		name  string
		looks []endsLook
		at    time.Duration // when they are final; -1 is never
	}{
		{"all is there", []endsLook{{0, 100, 100, true}}, 0},
		{"a record came twice, and the last one is not told of", []endsLook{{0, 100, 101, true}, {s, 101, 101, true}}, s},
		{"others go on writing", []endsLook{{0, 100, 120, true}, {s, 115, 130, true}, {2 * s, 135, 150, true}}, 2 * s},
		{"nobody tells what the leaders have", []endsLook{{0, 90, -1, false}, {s, 100, -1, true}}, s},
		{"truncated", every(s/2, 0, 9*s, endsLook{end: 90, logEnd: 90}), 3 * s},
		{"a dead follower is in sync by name", slices.Concat(every(s/2, 0, 20*s, endsLook{end: 90, logEnd: 100}), []endsLook{{21 * s, 100, 100, true}}), 21 * s},
		{"nobody tells what the leaders have, ever", every(s/2, 0, 60*s, endsLook{end: 90, logEnd: -1}), -1},
		{"leaders that fail to tell begin it anew", slices.Concat(every(s/2, 0, 3*s, endsLook{end: 90, logEnd: -1}), every(s/2, 3*s+s/2, 9*s, endsLook{end: 90, logEnd: 90})), 6*s + s/2},
		{"looks that fail are no looks", []endsLook{{0, 90, 90, false}, {4 * s, -1, 0, false}, {5 * s, 90, 90, false}, {6 * s, 90, 90, false}}, -1},
		{"few looks", []endsLook{{0, 90, 90, false}, {9 * s, 90, 90, false}, {10 * s, 90, 90, false}}, -1},
		{"ends that move", slices.Concat(every(s/2, 0, 2*s, endsLook{end: 90, logEnd: 90}), every(s/2, 2*s+s/2, 9*s, endsLook{end: 95, logEnd: 95})), 5*s + s/2},
	} {
		var seen seenEnds
		final := time.Duration(-1)
		for _, l := range test.looks {
			if l.end < 0 {
				seen.missed()
				continue
			}
			if seen.final([]int64{l.end}, int64(l.at), l.settled, func() ([]int64, error) {
				if l.logEnd < 0 {
					return nil, errors.New("not told")
				}
				return []int64{l.logEnd}, nil
			}) {
				final = l.at
				break
			}
		}
		if final != test.at {
			t.Errorf("%s: final at %v, want %v", test.name, final, test.at)
		}
	}
}

type bereft struct {
	fakePart
	began time.Time
}

func (b bereft) Err() error {
	if time.Since(b.began) < time.Second {
		return nil
	}
	return errors.New("killed")
}

func TestDrainOfTheBereft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		began := time.Now()
		part := bereft{began: began, fakePart: fakePart{stand: func(remote.Want) snapshot.Snapshot {
			return snapshot.Snapshot{Groups: []snapshot.Group{{Reached: []snapshot.Reached{{Position: 5}}}}}
		}}}
		r := &run{base: base{axis: load.NewAxis(nil)}, groups: remote.Groups{remote.ConsumersOf(part, receive.Config{}, remote.Opened{})}, ends: []int64{7}}
		drained := r.awaitEnds(ctx)
		if took := time.Since(began); took != time.Second || drained {
			t.Errorf("waited for %v; drained: %t", took, drained)
		}
	})
}
