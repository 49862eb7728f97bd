package remote

import (
	"errors"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/measure/snapshot"
)

func TestNobodyWaitsWhileAProcessIsAskedForTheLastTime(t *testing.T) {
	virtually(t, func(t *testing.T) {
		child := insiders(t, 1)[0]
		if _, err := child.Open(t.Context(), Assignment{Version: Version, Partitions: partitions, Workers: []int{0}}); err != nil {
			t.Fatal(err)
		}
		seq := func() uint64 {
			s, err := child.Snapshot(Want{Fresh: true})
			if err != nil {
				t.Error(err)
			}
			return s.Seq
		}
		first := seq()
		if err := child.stand(); err != nil {
			t.Fatal(err)
		}
		waiting, resting := make(chan uint64, 1), make(chan struct{})
		go func() {
			waiting <- seq() // it began before the rest
		}()
		time.Sleep(20 * time.Millisecond)
		go func() {
			child.rest()
			close(resting)
		}()
		for running(child) {
			time.Sleep(time.Millisecond)
		}
		began := time.Now()
		if now := seq(); now != first {
			t.Errorf("while it hangs snapshot %d is there; want %d, the last", now, first)
		}
		if _, err := child.Do(Command{Do: Release}); !errors.Is(err, errNotRunning) {
			t.Errorf("it was told: %v", err)
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("that took %v", took)
		}
		select {
		case <-resting:
			t.Error("it rests before it was asked for the last time")
		default:
		}
		if err := child.goOn(); err != nil {
			t.Fatal(err)
		}
		<-resting
		if got := <-waiting; got != first+1 {
			t.Errorf("who waited got snapshot %d, want %d", got, first+1)
		}
		if last := seq(); last != first+2 {
			t.Errorf("at last snapshot %d is there, want %d", last, first+2)
		}
		child.wake()
		if !running(child) {
			t.Error("it does not run again")
		}
	})
}

func TestMisfitIsEnded(t *testing.T) {
	virtually(t, func(t *testing.T) {
		children := insiders(t, 2)
		for i, c := range children {
			a := Assignment{Version: Version, Part: i, Partitions: partitions, Workers: []int{i}}
			if i == 1 {
				a.RunID = "misfit"
			}
			if _, err := c.Open(t.Context(), a); err != nil {
				t.Fatal(err)
			}
		}
		all, err := children.Snapshots(Want{Fresh: true})
		if !errors.Is(err, snapshot.ErrMismatch) || children[0].Err() != nil || !children[1].Ended() {
			t.Errorf("of a part with a partition too few it is said: %v; of the other: %v", err, children[0].Err())
		}
		if s := merged(all); len(s.Behind.AckedIn) != partitions || s.Failed != "" {
			t.Errorf("the rest says %+v", s)
		}
	})
}

func running(c *Child) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.rests && c.err == nil
}
