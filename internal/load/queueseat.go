package load

import (
	"context"
	"fmt"
	"time"

	"kafkabench.example/kafka-bench/internal/measure/snapshot"
)

// Members of a queue come and go as those of a group do (seat.go).

// present is the member of a number, which somebody must have.
func (g *QueueGroup) present(number int) (*queueNode, error) {
	n, err := g.memberOf(number)
	switch {
	case err != nil:
		return nil, err
	case n == nil:
		return nil, fmt.Errorf("consumer %d is not there", number)
	}
	return n, nil
}

func (g *QueueGroup) memberOf(number int) (*queueNode, error) {
	if number < 0 || number >= len(g.seats) {
		return nil, fmt.Errorf("consumer %d: the numbers are 0 to %d", number, len(g.seats)-1)
	}
	if g.stopping.Load() {
		return nil, errStopped
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.seats[number].member, nil
}

// Start opens a member of a number that nobody has. It joins in the background.
func (g *QueueGroup) Start(number int) error {
	g.changing.Lock()
	defer g.changing.Unlock()
	n, err := g.memberOf(number)
	switch {
	case err != nil:
		return err
	case n != nil:
		return fmt.Errorf("consumer %d is there already", number)
	}
	return g.seatMember(number)
}

// leaveTimeout bounds how long a member that leaves may take to write what it settled.
const leaveTimeout = 30 * time.Second

// Leave has a member leave in order: its threads settle the records in hand, and its
// queue is closed, which gives back what it had fetched.
func (g *QueueGroup) Leave(number int) error {
	g.changing.Lock()
	defer g.changing.Unlock()
	n, err := g.present(number)
	if err != nil {
		return err
	}
	n.cancel()
	n.halt.end()
	n.running.Wait()
	ctx, cancel := context.WithTimeout(g.alive, leaveTimeout)
	defer cancel()
	err = n.close(ctx)
	g.rise(n)
	return err
}

// CanKill tells whether Kill can be done: always.
func (g *QueueGroup) CanKill() error { return nil }

// Kill has a member vanish: its connections are cut, its threads stop where they are, and
// nothing is given back. When it returns, nothing more is delivered to it.
func (g *QueueGroup) Kill(number int) (snapshot.Loss, error) {
	g.changing.Lock()
	defer g.changing.Unlock()
	n, err := g.present(number)
	if err != nil {
		return snapshot.Loss{}, err
	}
	n.kill()
	if g.cfg.Locks != LocksStay { // before they end: others may be handed its records at once
		n.gone.Store(true)
	}
	n.queue.Kill()
	n.running.Wait()
	loss := snapshot.Loss{Unsettled: n.inHand.Load(), OfQueue: true}
	n.inHand.Store(0)
	g.rise(n)
	g.buried.Go(func() {
		dead, cancel := context.WithCancel(context.Background())
		cancel()
		_ = n.queue.Close(dead) // of a dead process nobody hears
	})
	return loss, nil
}

// rise takes a member off its seat, and keeps what it counted.
func (g *QueueGroup) rise(n *queueNode) {
	counts := n.queue.Counts()
	counts.InFlight = 0
	g.mu.Lock()
	defer g.mu.Unlock()
	g.gone.Add(counts)
	g.polls.Polls += n.polls.Load()
	g.polls.EmptyPolls += n.empty.Load()
	n.seat.member = nil
}

// close closes the queue of a member, which gives back what was fetched, so that nothing
// that it had lent waits for a deadline any more.
func (n *queueNode) close(ctx context.Context) error {
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
func (g *QueueGroup) Pause(number int) (how string, err error) {
	g.changing.Lock()
	defer g.changing.Unlock()
	n, err := g.present(number)
	if err != nil {
		return "", err
	}
	if !n.halt.begin() {
		return "", fmt.Errorf("consumer %d is paused already", number)
	}
	return fmt.Sprintf("consumer %d neither receives nor settles; its queue goes on with heartbeats", number), nil
}

// Resume lets a member go on that was paused.
func (g *QueueGroup) Resume(number int) error {
	g.changing.Lock()
	defer g.changing.Unlock()
	n, err := g.present(number)
	if err != nil {
		return err
	}
	if !n.halt.end() {
		return fmt.Errorf("consumer %d is not paused", number)
	}
	return nil
}
