package receive

import (
	"context"
	"fmt"
	"slices"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
)

// Start opens a member of a number that no member has: one that is new, or one that
// takes the place of a member that is gone. It joins in the background.
func (g *Group) Start(number int) error { return g.join(number, true) }

// Leave has a member leave in order: it finishes the record that it is working on,
// commits what it has processed, and leaves its group.
func (g *Group) Leave(number int) error {
	return g.members.Leave(number, func(m *member) error {
		m.leave(g.alive)
		return nil
	})
}

// leave ends the member. The work at hand is finished, unless the group is stopped. When
// ctx ends, the last commit is given up.
func (m *member) leave(ctx context.Context) {
	m.cancel()
	m.end(m.held(nil))
	m.running.Wait() // no poll may be under way when the client is closed
	m.commit(ctx)
	m.client.Close()
}

// CanKill returns why Kill can't be done, or nil.
func (g *Group) CanKill() error {
	if _, able := g.members.Ever()[0].client.(driver.Killer); !able {
		return fmt.Errorf("the driver %s cannot kill a consumer; stop it instead, or take another driver",
			g.cfg.Driver.Name())
	}
	return nil
}

// Kill has a member vanish as its process would under kill -9: its connections are
// cut, it neither commits nor leaves, and the work at hand is lost. The group finds
// out by the session timeout; what the member had been handed and had not committed
// is then delivered to others again. When Kill returns, nothing more is delivered
// to it.
func (g *Group) Kill(number int) (loss snapshot.Loss, err error) {
	if err := g.CanKill(); err != nil {
		return loss, err
	}
	err = g.members.Leave(number, func(m *member) error {
		loss = m.kill(m.client.(driver.Killer).Kill)
		g.buried.Go(func() {
			m.running.Wait()
			m.client.Close()
		})
		return nil
	})
	return loss, err
}

// Doom takes everything from a member but its connections, because its process is
// about to be killed, which cuts them: until then the member keeps its place in the
// group. When Doom returns, nothing more is delivered to it and nothing more is
// committed, so that what was is what it will have been. Any driver can have it.
func (g *Group) Doom(number int) (loss snapshot.Loss, err error) {
	err = g.members.Leave(number, func(m *member) error {
		loss = m.kill(func() {
			m.committing.Lock() // the commit that is under way is still one
			defer m.committing.Unlock()
		})
		return nil
	})
	return loss, err
}

// kill ends a member whose connections end as given.
func (m *member) kill(cutOff func()) snapshot.Loss {
	m.dead.Store(true)
	m.die() // before it happens, so that the failure of its poll is no news
	cutOff()
	held := m.held(nil)
	m.end(held)
	var loss snapshot.Loss
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, a := range held {
		loss.Partitions = append(loss.Partitions, a.partition.id)
		loss.Uncommitted += max(0, a.handed-max(a.committed, a.from))
	}
	slices.Sort(loss.Partitions)
	clear(m.owned)
	m.size.Store(0)
	return loss
}

// Pause stops a member where it stands: it neither polls nor works nor commits until
// Resume, and its client knows nothing of it. The client goes on with heartbeats and
// fetches what fits into its buffers, so that the group keeps the member. What a real
// application would be put out for, a poll interval that passes (Kafka's
// max.poll.interval.ms), is the client's to hold: franz has none. In a rebalance the
// member gives its partitions up, unless it stands in the midst of a record's work;
// then the group waits for it, up to the client's rebalance timeout.
//
// A timer goes on in it, as it does in a process that is stopped: work that is done
// in the meantime counts as done at Resume.
//
// how says what was done, as a person is told it.
func (g *Group) Pause(number int) (how string, err error) {
	if err := g.members.With(number, func(m *member) error { return m.halt.Begin(number) }); err != nil {
		return "", err
	}
	return fmt.Sprintf("consumer %d neither polls nor works; its client goes on with heartbeats", number), nil
}

// Resume lets a member go on that was paused.
func (g *Group) Resume(number int) error {
	return g.members.With(number, func(m *member) error { return m.halt.End(number) })
}
