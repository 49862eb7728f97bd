package queued

import (
	"context"
	"fmt"
	"time"

	"kafkabench.example/kafka-bench/internal/measure/snapshot"
)

// Start opens a member under a free number.
func (g *Group) Start(number int) error {
	return g.members.Join(number, func() (*node, error) { return g.openMember(number) })
}

const leaveTimeout = 30 * time.Second

// Leave makes a member settle its current records and close its queue, which gives back fetched records.
func (g *Group) Leave(number int) error {
	return g.members.Leave(number, func(n *node) error {
		n.cancel()
		_ = n.halt.End(number)
		n.running.Wait()
		ctx, cancel := context.WithTimeout(g.alive, leaveTimeout)
		defer cancel()
		err := n.close(ctx)
		n.letGo()
		return err
	})
}

// Kill makes a member vanish without giving anything back. Nothing is delivered to it after Kill returns.
func (g *Group) Kill(number int) (loss snapshot.Loss, err error) {
	err = g.members.Leave(number, func(n *node) error {
		n.kill()
		if g.cfg.Locks != LocksStay { // before Kill ends the locks and others get its records
			n.gone.Store(true)
		}
		n.queue.Kill()
		n.running.Wait()
		loss = snapshot.Loss{Unsettled: n.inHand.Load(), OfQueue: true}
		queue := n.letGo()
		g.buried.Go(func() {
			dead, cancel := context.WithCancel(context.Background())
			cancel()
			_ = queue.Close(dead) // the process is dead, so the error does not matter
		})
		return nil
	})
	return loss, err
}

func (n *node) letGo() Queue {
	queue := n.queue
	last := queue.Counts()
	last.InFlight = 0
	counts := func() snapshot.QueueCounts { return last }
	n.counts.Store(&counts)
	n.queue = nil
	return queue
}

// After close, none of the member's records waits for a deadline.
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

// Pause stops the threads of a member until Resume. Its queue continues to send heartbeats and to prefetch.
func (g *Group) Pause(number int) (how string, err error) {
	if err := g.members.With(number, func(n *node) error { return n.halt.Begin(number) }); err != nil {
		return "", err
	}
	return fmt.Sprintf("consumer %d neither receives nor settles; its queue goes on with heartbeats", number), nil
}

// Resume ends the pause of a member.
func (g *Group) Resume(number int) error {
	return g.members.With(number, func(n *node) error { return n.halt.End(number) })
}
