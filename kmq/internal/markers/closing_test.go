package markers

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// Close waits for the redeliveries of a partition that was given up before: its copies
// are still on their way with the tracker's clients.
func TestCloseWaitsForWhatWasGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1)
		tr, err := NewTracker(w.ctx, w.cfg)
		if err != nil {
			t.Fatal(err)
		}
		over := make(chan struct{})
		tr.leave(over)
		time.AfterFunc(10*time.Second, func() { close(over) })
		began := time.Now()
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := tr.Close(ctx); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took < 10*time.Second || took > 11*time.Second {
			t.Errorf("the tracker was closed after %v, want 10 s", took)
		}
	})
}
