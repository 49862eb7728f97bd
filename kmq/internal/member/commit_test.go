package member

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// A commit that the coordinator does not answer ends by itself, and whoever waits behind it
// waits no longer than it has time for: a revocation would else wait for ever.
func TestACommitThatIsNotAnswered(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPlace(t)
		r := newRecorder(100)
		cfg := p.config(r, 100)
		cfg.CommitEvery, cfg.SessionTimeout = time.Hour, time.Minute // the group's coordinator may hear nothing of the member meanwhile
		m, err := Open(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		p.until("partitions", func() bool { return len(m.Owned()) == 4 })
		p.produce(4)
		p.take(m, 4)

		asked, answer := make(chan struct{}, 10), make(chan struct{})
		stopWaiting := sync.OnceFunc(func() { close(answer) })
		t.Cleanup(stopWaiting)
		p.cluster.ControlKey(int16(kmsg.OffsetCommit), func(kmsg.Request) (kmsg.Response, error, bool) {
			p.cluster.KeepControl()
			asked <- struct{}{}
			p.cluster.SleepControl(func() { <-answer })
			return nil, nil, false
		})
		first, second := make(chan error, 1), make(chan error, 1)
		began := time.Now()
		go func() { first <- m.Commit(context.Background()) }()
		p.receive("a request to commit", asked)
		go func() {
			ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
			defer cancel()
			second <- m.commit(ctx, []int32{0})
		}()
		if err := p.outcome("the commit of a revocation", second); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the commit of a revocation: %v", err)
		}
		select {
		case err := <-first:
			t.Errorf("the first commit ended first: %v", err)
		default:
		}
		// The client reads no longer than the commit may take, either, but would try again.
		var late interface{ Timeout() bool }
		if err := p.outcome("the first commit", first); !errors.As(err, &late) || !late.Timeout() {
			t.Errorf("the first commit: %v", err)
		}
		if took := time.Since(began); took > 2*commitFor {
			t.Errorf("the first commit took %v", took)
		}
		stopWaiting()
		if err := m.Commit(t.Context()); err != nil {
			t.Errorf("once there are answers: %v", err)
		}
		if err := m.Close(t.Context()); err != nil {
			t.Errorf("close: %v", err)
		}
		r.set.Close()
	})
}

func (p *place) receive(what string, c <-chan struct{}) {
	p.Helper()
	select {
	case <-c:
	case <-time.After(patience):
		p.Fatalf("%s: not within %v", what, patience)
	}
}

func (p *place) outcome(what string, c <-chan error) error {
	p.Helper()
	select {
	case err := <-c:
		return err
	case <-time.After(patience):
		p.Fatalf("%s: no end within %v", what, patience)
		return nil
	}
}
