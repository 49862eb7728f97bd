package backpressure_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"kafkabench.example/kafka-bench/backpressure"
)

func partitioned(t *testing.T, n int, bound int64, cfg backpressure.Config) *backpressure.Partitioned {
	t.Helper()
	gate, err := backpressure.NewPartitioned(backpressure.PartitionedConfig{
		Config: cfg, Partitions: n, Topic: "t",
		NewController: func() (backpressure.Controller, error) { return &window{bound}, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	return gate
}

func reading(lags ...int64) backpressure.Reading {
	var r backpressure.Reading
	for i, lag := range lags {
		r.Partitions = append(r.Partitions, backpressure.Partition{Topic: "t", ID: int32(i), Committed: 100, End: 100 + lag})
	}
	return r
}

func TestOneFullPartitionHoldsUpNoOther(t *testing.T) {
	gate := partitioned(t, 3, 10, backpressure.Config{})
	r := reading(10, 4, 0)
	r.Partitions = append(r.Partitions, backpressure.Partition{Topic: "other", ID: 2, End: 1000}, backpressure.Partition{Topic: "t", ID: 9, End: 5})
	gate.Report(gate.Mark(), r)
	for partition, want := range []int64{0, 6, 10} {
		if got := gate.Admit(int32(partition), 99); got != want {
			t.Errorf("partition %d: admitted %d, want %d", partition, got, want)
		}
	}
	if gate.Open(1) || gate.TryAcquire(0, 1) || gate.Partitions() != 3 || gate.Admitted() != 16 {
		t.Errorf("%+v", gate.Stats())
	}
	gate.Done(1, 6)
	gate.Report(gate.Mark(), reading(10, 9, 0))
	if !gate.TryAcquire(1, 1) || gate.TryAcquire(1, 1) {
		t.Error("partition 1 has room for one")
	}
	s := gate.Stats()
	if s.Admitted != 17 || s.Settled != 6 || s.Lag != 19 || s.Bound != 30 || s.Outstanding != 30 || s.Reports != 2 {
		t.Errorf("%+v", s)
	}
	if one := gate.PartitionStats(1); one.Admitted != 7 || one.Lag != 9 || one.Bound != 10 {
		t.Errorf("%+v", one)
	}
}

func TestAPartitionThatDoesNotExistIsNeverGranted(t *testing.T) {
	gate := partitioned(t, 2, 10, backpressure.Config{})
	gate.Report(gate.Mark(), reading(0, 0))
	for _, p := range []int32{-1, 2} {
		gate.Done(p, 1)
		gate.Unsure(p, 1)
		gate.Acked("t", p, 0)
		if gate.Admit(p, 1) != 0 || gate.TryAcquire(p, 1) || gate.Open(p) || gate.PartitionStats(p) != (backpressure.Stats{}) {
			t.Errorf("partition %d is granted", p)
		}
		if err := gate.Acquire(t.Context(), p, 1); !errors.Is(err, backpressure.ErrNever) {
			t.Errorf("partition %d: %v", p, err)
		}
	}
}

func TestPartitionedTellsBlindnessOnce(t *testing.T) {
	at := &clock{}
	var told []backpressure.Change
	gate := partitioned(t, 2, 10, backpressure.Config{Now: at.now, OnChange: func(c backpressure.Change) { told = append(told, c) }})
	gate.Report(gate.Mark(), reading(0, 0))
	at.at = time.Minute
	got := gate.Missed(errors.New("away"))
	if len(got) != 1 || got[0].Partition != backpressure.WholeGate || got[0].Kind != backpressure.Blind || gate.Open(0) {
		t.Errorf("%+v", got)
	}
	got = gate.Report(gate.Mark(), reading(3, 4))
	if len(got) != 1 || got[0].Kind != backpressure.Seeing || got[0].Lag != 7 || got[0].Bound != 20 || !got[0].Open {
		t.Errorf("%+v", got)
	}
	// A partition that is missing from the readings becomes blind by itself.
	at.at = 2 * time.Minute
	gate.Report(gate.Mark(), reading(3))
	if gate.Open(1) || !gate.Open(0) || len(told) != 3 || told[2].Partition != 1 || told[2].Kind != backpressure.Blind {
		t.Errorf("told %+v", told)
	}
}

func TestPartitionedWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		gate := partitioned(t, 2, 10, backpressure.Config{Source: backpressure.SourceFunc(func(context.Context) (backpressure.Reading, error) {
			if time.Since(begin) < time.Second {
				return reading(10, 10), nil
			}
			return reading(10, 8), nil
		})})
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- gate.Watch(ctx) }()
		if err := gate.Acquire(t.Context(), 1, 2); err != nil || time.Since(begin) != time.Second {
			t.Errorf("after %v: %v", time.Since(begin), err)
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func TestNewPartitionedRefusesWhatCannotBe(t *testing.T) {
	ok := func() (backpressure.Controller, error) { return &window{1}, nil }
	for name, cfg := range map[string]backpressure.PartitionedConfig{
		"no partition":     {NewController: ok},
		"no controller":    {Partitions: 1},
		"a bad config":     {Partitions: 1, NewController: ok, Config: backpressure.Config{Grace: -1}},
		"a bad controller": {Partitions: 1, NewController: func() (backpressure.Controller, error) { return nil, errors.New("no") }},
	} {
		if _, err := backpressure.NewPartitioned(cfg); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
