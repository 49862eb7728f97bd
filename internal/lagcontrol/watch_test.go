package lagcontrol_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"kafkabench.example/kafka-bench/internal/lagcontrol"
)

type source struct {
	mu    sync.Mutex
	lag   int64
	takes time.Duration
	away  error
	hangs bool
	asked []time.Duration
	begin time.Time
}

func (s *source) set(f func(*source)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(s)
}

func (s *source) Read(ctx context.Context) (lagcontrol.Reading, error) {
	s.mu.Lock()
	s.asked = append(s.asked, time.Since(s.begin))
	lag, takes, away, hangs := s.lag, s.takes, s.away, s.hangs
	s.mu.Unlock()
	if hangs {
		<-ctx.Done()
		return lagcontrol.Reading{}, ctx.Err()
	}
	time.Sleep(takes)
	return lagcontrol.Reading{Lag: lag}, away
}

func watching(t *testing.T, s *source, cfg lagcontrol.Config, test func(*lagcontrol.Gate, func() []lagcontrol.Change)) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var changes []lagcontrol.Change
		cfg.Source, s.begin = s, time.Now()
		cfg.OnChange = func(c lagcontrol.Change) {
			mu.Lock()
			defer mu.Unlock()
			changes = append(changes, c)
		}
		gate := newGate(t, cfg)
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- gate.Watch(ctx) }()
		test(gate, func() []lagcontrol.Change {
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			return append([]lagcontrol.Change(nil), changes...)
		})
		stop()
		if err := <-ended; err != nil {
			t.Errorf("watch ended with %v", err)
		}
	})
}

func TestWatchReadsAtOnceAndAtEachInterval(t *testing.T) {
	s, c := &source{takes: 20 * time.Millisecond}, &ceiling{at: 5}
	watching(t, s, lagcontrol.Config{Controller: c}, func(gate *lagcontrol.Gate, _ func() []lagcontrol.Change) {
		time.Sleep(350 * time.Millisecond)
		s.set(func(s *source) {
			if len(s.asked) != 4 || s.asked[0] != 0 || s.asked[3] != 300*time.Millisecond {
				t.Errorf("it read at %v", s.asked)
			}
		})
		if st := gate.Stats(); st.Reports != 4 || st.MaxAge != 20*time.Millisecond || st.Ceiling != 5 {
			t.Errorf("%+v", st)
		}
	})
}

func TestWatchMovesAPacerEvery10ms(t *testing.T) {
	watching(t, &source{}, lagcontrol.Config{Controller: &ramp{}, Interval: time.Second}, func(gate *lagcontrol.Gate, _ func() []lagcontrol.Change) {
		time.Sleep(505 * time.Millisecond)
		synctest.Wait()
		if got := gate.Stats().Ceiling; got != 500 {
			t.Errorf("after 505 ms the ceiling was %d", got)
		}
	})
}

func TestWatchGoesBlindAndSeesAgain(t *testing.T) {
	for name, away := range map[string]func(*source){
		"it answers with errors": func(s *source) { s.away = errors.New("no coordinator") },
		"it hangs":               func(s *source) { s.hangs = true },
		"it hangs for ever":      func(s *source) { s.takes = time.Minute }, // in spite of its context
	} {
		t.Run(name, func(t *testing.T) {
			s := &source{}
			watching(t, s, lagcontrol.Config{Controller: &ceiling{at: 1000}}, func(gate *lagcontrol.Gate, changes func() []lagcontrol.Change) {
				time.Sleep(time.Second)
				s.set(away)
				time.Sleep(4900 * time.Millisecond)
				if got := changes(); len(got) != 0 || !gate.Open() {
					t.Errorf("within the grace time: %+v", got)
				}
				time.Sleep(400 * time.Millisecond)
				got := changes()
				if len(got) != 1 || got[0].Kind != lagcontrol.Blind || got[0].Open || gate.TryAcquire(1) {
					t.Fatalf("after the grace time: %+v", got)
				}
				s.set(func(s *source) { s.away, s.hangs, s.takes = nil, false, 0 })
				time.Sleep(time.Minute)
				got = changes()
				if len(got) != 2 || got[1].Kind != lagcontrol.Seeing || !gate.TryAcquire(1) {
					t.Errorf("after it came back: %+v", got)
				}
			})
		})
	}
}

func TestASlowSourceIsNotBlindness(t *testing.T) {
	watching(t, &source{takes: 2 * time.Second}, lagcontrol.Config{Controller: &ceiling{at: 9}}, func(gate *lagcontrol.Gate, changes func() []lagcontrol.Change) {
		time.Sleep(time.Minute)
		if got := changes(); len(got) != 0 || gate.Stats().Reports < 25 {
			t.Errorf("%d reports, %+v", gate.Stats().Reports, got)
		}
	})
}

func TestWatchNeedsASource(t *testing.T) {
	if err := newGate(t, lagcontrol.Config{}).Watch(t.Context()); err == nil {
		t.Error("nothing to watch is no error")
	}
}

func TestWaitersGoAsTheLagFalls(t *testing.T) {
	s := &source{lag: 10}
	watching(t, s, lagcontrol.Config{Controller: &window{bound: 10}}, func(gate *lagcontrol.Gate, _ func() []lagcontrol.Change) {
		begin := time.Now()
		time.AfterFunc(450*time.Millisecond, func() { s.set(func(s *source) { s.lag = 7 }) })
		if err := gate.Acquire(context.Background(), 3); err != nil || time.Since(begin) != 500*time.Millisecond {
			t.Errorf("after %v: %v", time.Since(begin), err)
		}
		st := gate.Stats()
		if st.Closed != 500*time.Millisecond && st.Closed != 500*time.Millisecond-1 {
			t.Errorf("closed for %v", st.Closed)
		}
	})
}
