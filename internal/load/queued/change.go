package queued

import (
	"context"
	"fmt"
	"time"

	"kafkabench.example/kafka-bench/internal/measure/snapshot"
)

// Start opens a member of a number that no member has. It joins in the background.
func (g *Group) Start(number int) error {
	return g.members.Join(number, func() (*node, error) { return g.openMember(number) })
}

// leaveTimeout bounds how long a member that leaves may take to write what it settled.
const leaveTimeout = 30 * time.Second

// Leave has a member leave in order: its threads settle the records in hand, and its
// queue is closed, which gives back what it had fetched.
func (g *Group) Leave(number int) error {
	return g.members.Leave(number, func(n *node) error {
		n.cancel()
		_ = n.halt.End(number) // it may be paused
		n.running.Wait()
		ctx, cancel := context.WithTimeout(g.alive, leaveTimeout)
		defer cancel()
		err := n.close(ctx)
		n.letGo()
		return err
	})
}

// Kill has a member vanish: its connections are cut, its threads stop where they are, and
// nothing is given back. When it returns, nothing more is delivered to it.
func (g *Group) Kill(number int) (loss snapshot.Loss, err error) {
	err = g.members.Leave(number, func(n *node) error {
		n.kill()
		if g.cfg.Locks != LocksStay { // before they end: others may be handed its records at once
			n.gone.Store(true)
		}
		n.queue.Kill()
		n.running.Wait()
		loss = snapshot.Loss{Unsettled: n.inHand.Load(), OfQueue: true}
		queue := n.letGo()
		g.buried.Go(func() {
			dead, cancel := context.WithCancel(context.Background())
			cancel()
			_ = queue.Close(dead) // of a dead process nobody hears
		})
		return nil
	})
	return loss, err
}

// letGo takes the queue from a member that is gone, and keeps what it counted.
func (n *node) letGo() Queue {
	queue := n.queue
	last := queue.Counts()
	last.InFlight = 0
	counts := func() snapshot.QueueCounts { return last }
	n.counts.Store(&counts)
	n.queue = nil
	return queue
}

// close closes the queue of a member, which gives back what was fetched, so that nothing
// that it had lent waits for a deadline any more.
func (n *node) close(ctx context.Context) error {
	n.gone.Store(true)
	for _, b := range n.group.books {
		b.release(n)
	}
	if err := n.queue.Close(ctx); err != nil {
		return fmt.Errorf("closing consumer %d of the queue: %w", n.number, err)
	}
	return nil
}

// Pause stops a member where it stands: its threads neither receive nor work nor settle
// until Resume. Its queue goes on in the background: heartbeats, and what it fetches
// ahead.
func (g *Group) Pause(number int) (how string, err error) {
	if err := g.members.With(number, func(n *node) error { return n.halt.Begin(number) }); err != nil {
		return "", err
	}
	return fmt.Sprintf("consumer %d neither receives nor settles; its queue goes on with heartbeats", number), nil
}

// Resume lets a member go on that was paused.
func (g *Group) Resume(number int) error {
	return g.members.With(number, func(n *node) error { return n.halt.End(number) })
}
