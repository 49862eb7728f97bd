package backpressure_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"kafkabench.example/kafka-bench/backpressure"
)

func TestCloseEndsWhatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate, err := backpressure.Open(t.Context(), backpressure.Config{
			Controller: backpressure.Credit{MaxLag: 5}, Source: lagOf(0),
		})
		if err != nil {
			t.Fatal(err)
		}
		if !gate.TryAcquire(5) {
			t.Fatal("no room for 5 of 5")
		}
		waiting := make(chan error, 1)
		go func() { waiting <- gate.Acquire(context.Background(), 1) }()
		synctest.Wait()
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := gate.Acquire(short, 1); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the caller's context has ended: %v", err)
		}
		gate.Close()
		gate.Close()
		if err := <-waiting; !errors.Is(err, backpressure.ErrClosed) {
			t.Errorf("a waiting call got %v", err)
		}
		gate.Done(5)
		if err := gate.Acquire(t.Context(), 1); !errors.Is(err, backpressure.ErrClosed) || gate.TryAcquire(1) {
			t.Errorf("a closed gate admits records: %v", err)
		}
		if s := gate.Stats(); s.Admitted != 5 || s.Settled != 5 {
			t.Errorf("%+v", s)
		}
	})
}

type broken struct{ why error }

func (b *broken) Read(context.Context) (backpressure.Reading, error) {
	return backpressure.Reading{}, b.why
}

func TestOpenReadsTheLag(t *testing.T) {
	why := errors.New("no such topic")
	cfg := backpressure.Config{Controller: backpressure.Credit{MaxLag: 5}, Source: &broken{why}}
	if _, err := backpressure.Open(t.Context(), cfg); !errors.Is(err, why) {
		t.Errorf("Open: %v", err)
	}
	cfg.FailOpen = true
	gate, err := backpressure.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	gate.Close()
}

func TestOpenRefuses(t *testing.T) {
	for says, cfg := range map[string]backpressure.Config{
		"set Config.Source":                    {Controller: backpressure.Credit{MaxLag: 5}},
		"nil *backpressure_test.broken":        {Source: (*broken)(nil)},
		"the controller is a nil pointer":      {Controller: (*backpressure.Credit)(nil), Source: lagOf(0)},
		"must be positive, not 0 records":      {Controller: backpressure.Credit{}, Source: lagOf(0)},
		"must be a positive time":              {Controller: backpressure.Latency{}, Source: lagOf(0)},
		"above 0 and at most 1":                {Controller: backpressure.Credit{MaxLag: 5}, Source: lagOf(0), Share: backpressure.Fixed(0)},
		"the grace time must not be negative":  {Grace: -1},
		"only a gate with a share inherits":    {Inherit: time.Second},
		"there is no bound to share":           {Share: backpressure.Fixed(0.5)},
		"must be longer than the interval 10s": {Interval: 10 * time.Second, Grace: time.Second},
	} {
		if _, err := backpressure.Open(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("Open: %v; want it to say %q", err, says)
		}
	}
}

func TestPublicStatsLeaveNothingOut(t *testing.T) {
	gate, err := backpressure.Open(t.Context(), backpressure.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer gate.Close()
	if !gate.TryAcquire(7) || gate.Acquire(t.Context(), 3) != nil {
		t.Error("a gate without a controller refuses records")
	}
	if s := gate.Stats(); s.Admitted != 10 || s.Bound != backpressure.Unlimited || s.Ceiling != backpressure.Unlimited || !s.Open {
		t.Errorf("%+v", s)
	}
}
