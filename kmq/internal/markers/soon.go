package markers

import (
	"context"
	"time"

	"kafkabench.example/kafka-bench/kmq/internal/engine"
)

// soonEvery is the least time between two commits that are made because something was
// started. What was started since is read, and delivered, twice if the process crashes.
const soonEvery = 200 * time.Millisecond

// soon commits what was started, shortly after it was, beside the commits of every
// CommitEvery.
type soon struct {
	wake chan struct{}
	stop context.CancelFunc
	done chan struct{}
}

func newSoon(q *queue) *soon {
	s := &soon{wake: make(chan struct{}, 1), done: make(chan struct{})}
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	go s.run(ctx, q)
	return s
}

func (s *soon) close() {
	s.stop()
	<-s.done
}

func (s *soon) run(ctx context.Context, q *queue) {
	defer close(s.done)
	trouble := engine.NewComplaint(q.cfg.Log)
	rest := time.NewTimer(time.Hour)
	defer rest.Stop()
	for {
		select {
		case <-s.wake:
		case <-ctx.Done():
			return
		}
		if err := q.member.Commit(ctx); err != nil && ctx.Err() == nil {
			trouble.About("commit", err) // the next one commits it
		}
		rest.Reset(soonEvery)
		select {
		case <-rest.C:
		case <-ctx.Done():
			return
		}
	}
}

// commitSoon has what was started committed.
func (q *queue) commitSoon() {
	if q.soon != nil {
		signal(q.soon.wake)
	}
}
