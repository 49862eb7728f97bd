package remote

import (
	"errors"
	"testing"
	"time"
)

// TestNobodyWaitsWhileAProcessIsAskedForTheLastTime: of a process that hangs when it is
// to stand still, everybody else goes by what was answered last, at once.
func TestNobodyWaitsWhileAProcessIsAskedForTheLastTime(t *testing.T) {
	virtually(t, func(t *testing.T) {
		child := insiders(t, 1)[0]
		p := newProcess(child)
		first, err := Ask[int64](p, "Clock.Now")
		if err != nil {
			t.Fatal(err)
		}
		if err := child.stand(); err != nil {
			t.Fatal(err)
		}
		waiting, resting := make(chan error, 1), make(chan struct{})
		go func() {
			_, err := Ask[int64](p, "Clock.Now") // since before it is to rest
			waiting <- err
		}()
		time.Sleep(20 * time.Millisecond)
		go func() {
			p.rest(nil)
			close(resting)
		}()
		for p.Running() {
			time.Sleep(time.Millisecond)
		}
		began := time.Now()
		if now, err := Ask[int64](p, "Clock.Now"); now != first || err != nil {
			t.Errorf("while it hangs its clock says %d, %v; want %d, as last", now, err, first)
		}
		if err := p.Call("Clock.Now", None(0), new(int64)); !errors.Is(err, errNotRunning) {
			t.Errorf("it was called: %v", err)
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
		if err := <-waiting; err != nil {
			t.Errorf("who waited got %v", err)
		}
		if last, err := Ask[int64](p, "Clock.Now"); last <= first || err != nil {
			t.Errorf("at last its clock said %d, %v; want more than %d", last, err, first)
		}
		p.wake()
		if !p.Running() {
			t.Error("it does not run again")
		}
	})
}
