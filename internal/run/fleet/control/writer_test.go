package control

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

var errBroken = errors.New("the connection broke")

type shaky struct {
	Memory
	takes time.Duration
	fails []bool // of failing appends: whether the record gets into the log
}

func (l *shaky) Append(ctx context.Context, record []byte) error {
	time.Sleep(l.takes)
	if len(l.fails) == 0 {
		return l.Memory.Append(ctx, record)
	}
	lands := l.fails[0]
	l.fails = l.fails[1:]
	if lands {
		_ = l.Memory.Append(ctx, record)
	}
	return errBroken
}

func (l *shaky) fold(t *testing.T) (s *State, snapshots [][]byte) {
	t.Helper()
	s = NewState(testKey, topicID)
	entries, err := l.Read(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		c, err := s.Apply(e)
		if err != nil {
			t.Fatal(err)
		}
		if c.Snapshot != nil {
			snapshots = append(snapshots, c.Snapshot)
		}
	}
	return s, snapshots
}

func (l *shaky) begin(t *testing.T) *Writer {
	t.Helper()
	agent, chief := NewWriter(l, testKey, topicID, 0, 1), NewWriter(l, testKey, topicID, Coordinator, chief)
	for _, err := range []error{
		agent.Write(t.Context(), 0, Hello{Of: 1, Instance: 1}), chief.Write(t.Context(), 1, Plan{}),
		agent.Write(t.Context(), 1, Ready{}), chief.Write(t.Context(), 1, Start{Instances: []uint64{1}, ClocksNs: []int64{5}}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return agent
}

func TestFailedAppends(t *testing.T) {
	for _, lands := range []bool{false, true} {
		l := &shaky{}
		w := l.begin(t)
		large := bytes.Repeat([]byte("large"), MaxBody/4) // three pieces
		for number, snapshot := range [][]byte{large, nil} {
			for n := range 4 {
				l.fails = []bool{lands}
				if n == 3 {
					l.fails = nil
				}
				err := w.HandIn(t.Context(), 1, number, snapshot, number == 1)
				if n == 3 && err != nil || n < 3 && !errors.Is(err, errBroken) {
					t.Fatalf("snapshot %d, call %d: %v", number, n, err)
				}
			}
		}
		l.fails = []bool{lands}
		if err := w.Write(t.Context(), 1, Sent{}); !errors.Is(err, errBroken) {
			t.Fatal(err)
		}
		if err := w.Write(t.Context(), 1, Sent{}); err != nil {
			t.Fatal(err)
		}
		s, snapshots := l.fold(t)
		if a, _ := s.Agent(0); !s.Complete(0) || a.Gaps != 0 || len(snapshots) != 2 {
			t.Errorf("lands %t: %+v with %d snapshots", lands, a, len(snapshots))
		} else if !bytes.Equal(snapshots[0], large) || len(snapshots[1]) != 0 {
			t.Errorf("lands %t: the snapshots have %d and %d bytes", lands, len(snapshots[0]), len(snapshots[1]))
		}
		if copied := s.Count(Copied) > 0; !copied {
			t.Errorf("lands %t: no copy is in the log", lands)
		}
	}
}

func TestWritersTakeTurns(t *testing.T) { synctest.Test(t, testWritersTakeTurns) }

func testWritersTakeTurns(t *testing.T) {
	l := &shaky{}
	w := l.begin(t)
	l.takes = time.Minute
	began := time.Now()
	first := make(chan error)
	go func() { first <- w.Write(t.Context(), 1, Pulse{Acked: 1}) }()
	synctest.Wait()
	if taken, err := w.Offer(t.Context(), 1, Pulse{Acked: 2}); taken || err != nil || time.Since(began) != 0 {
		t.Errorf("a pulse beside another: %t, %v after %v", taken, err, time.Since(began))
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if err := w.Write(ctx, 1, Pulse{Acked: 3}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a write that waits for its turn ended with %v", err)
	}
	if err := w.Write(t.Context(), 1, Sent{}); err != nil || time.Since(began) != 2*time.Minute {
		t.Errorf("the write ended after %v: %v", time.Since(began), err)
	}
	if err := <-first; err != nil {
		t.Error(err)
	}
	if taken, err := w.Offer(t.Context(), 1, Pulse{Acked: 4}); !taken || err != nil {
		t.Errorf("a pulse alone: %t, %v", taken, err)
	}
	s, _ := l.fold(t)
	if a, _ := s.Agent(0); a.Pulse.Acked != 4 || a.Sent == nil || a.Gaps != 0 {
		t.Errorf("the agent is %+v", a)
	}
}

func TestMemoryWaits(t *testing.T) { synctest.Test(t, testMemoryWaits) }

func testMemoryWaits(t *testing.T) {
	var m Memory
	began := time.Now()
	time.AfterFunc(time.Hour, func() { _ = m.Append(context.Background(), []byte("a")) })
	entries, err := m.Read(t.Context(), 0)
	if err != nil || len(entries) != 1 || string(entries[0].Record) != "a" || time.Since(began) != time.Hour {
		t.Errorf("read %v, %v after %v", entries, err, time.Since(began))
	}
	ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, errBroken)
	defer cancel()
	if _, err := m.Read(ctx, 1); !errors.Is(err, errBroken) || time.Since(began) != time.Hour+time.Minute {
		t.Errorf("read on: %v after %v", err, time.Since(began))
	}
	if err := m.Append(ctx, nil); !errors.Is(err, errBroken) {
		t.Errorf("appended: %v", err)
	}
}
