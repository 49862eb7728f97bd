package markers

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"kafkabench.example/kafka-bench/kmq/internal/engine"
)

// A cluster is spared while its starts take longer than at its best, for as long as they do.
func TestPacingRestsWhileRequestsQueue(t *testing.T) {
	const best = time.Millisecond
	now := time.Now()
	var p pacing
	took := func(d time.Duration, full bool, times int) {
		for range times {
			now = now.Add(d)
			p.took(now, d, full)
		}
	}

	took(best, false, 1)
	took(unhurried*best, false, 100)
	if p.rest != 0 {
		t.Errorf("a rest of %v where starts take %v, %d times the best", p.rest, unhurried*best, unhurried)
	}
	took(10*best, false, 1)
	if p.rest != 0 && p.rest > best {
		t.Errorf("a rest of %v after a single start that took long", p.rest)
	}
	took(10*best, false, 100)
	if want := (10 - unhurried) * best; p.rest < want*9/10 || p.rest > want {
		t.Errorf("a rest of %v where starts take %v over what is unhurried", p.rest, want)
	}
	if want := now.Add(p.rest); !p.until().Equal(want) {
		t.Errorf("until %v, not %v", p.until(), want)
	}
	took(10*best, true, 1)
	if p.rest != 0 {
		t.Errorf("a rest of %v after a poll that was full", p.rest)
	}
	took(time.Second, false, 10)
	if p.rest != restAtMost {
		t.Errorf("a rest of %v where starts take a second", p.rest)
	}
	took(best, false, 100)
	if p.rest != 0 {
		t.Errorf("a rest of %v when they are fast again", p.rest)
	}
}

// What the cluster did at its best is forgotten: it may have become another one.
func TestPacingForgetsTheBest(t *testing.T) {
	now := time.Now()
	var p pacing
	p.took(now, time.Millisecond, false)
	for range 100 {
		now = now.Add(10 * time.Millisecond)
		p.took(now, 10*time.Millisecond, false)
	}
	if p.rest == 0 {
		t.Error("no rest where starts take ten times the best")
	}
	for end := now.Add(2*bestOf + time.Second); now.Before(end); {
		now = now.Add(10 * time.Millisecond)
		p.took(now, 10*time.Millisecond, false)
	}
	if p.rest != 0 {
		t.Errorf("a rest of %v %v after the best was seen last", p.rest, 2*bestOf)
	}
}

// Several polls are on their way while the cluster answers as fast as it can, and one where
// it is to be spared, after its rest.
func TestPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		s := &starts{q: &queue{cfg: engine.Config{StartFirst: true}}}
		paced := func() time.Duration {
			from := time.Now()
			ctx, cancel := context.WithTimeout(ctx, time.Minute)
			defer cancel()
			s.pace(ctx)
			return time.Since(from)
		}
		finish := func(after time.Duration) {
			time.AfterFunc(after, func() { s.finish(&start{}, nil) })
		}

		s.begun = startsAtMost - 1
		if d := paced(); d != 0 {
			t.Errorf("%v until one more was let begin of those that may be", d)
		}
		s.begun = startsAtMost
		finish(time.Second)
		if d := paced(); d != time.Second {
			t.Errorf("%v until one was finished", d)
		}

		s.pacing.rest = 10 * time.Millisecond
		for i := s.finished; i < s.begun; i++ {
			finish(time.Second)
		}
		s.pacing.last = time.Now().Add(time.Second)
		if d := paced(); d != time.Second+s.pacing.rest {
			t.Errorf("%v until all were finished and the cluster was spared", d)
		}

		s.begun++
		if d := paced(); d != time.Minute {
			t.Errorf("%v until the context ended", d)
		}
		s.finish(&start{}, errors.New("no waiting mends it"))
		s.begun++
		if d := paced(); d != 0 {
			t.Errorf("%v until one was let begin that fails", d)
		}
	})
}

// Once no partition is young, another poll waits for those that come first: it would have to, too,
// to stay behind them.
func TestPaceUntilNoneComesFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &starts{q: &queue{}}
		s.begun = 1
		time.AfterFunc(time.Second, func() { s.finish(&start{}, nil) })
		from := time.Now()
		s.pace(t.Context())
		if d := time.Since(from); d != time.Second {
			t.Errorf("%v until the one before was finished", d)
		}
		s.begun, s.later = 2, 1
		from = time.Now()
		s.pace(t.Context())
		if d := time.Since(from); d != 0 {
			t.Errorf("%v for one that nobody waits for", d)
		}
	})
}
