package receive

import (
	"context"
	"fmt"
	"slices"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
)

// Start opens a member under a free number.
func (g *Group) Start(number int) error { return g.join(number, true) }

// Leave makes a member finish its current record, commit, and leave the group.
func (g *Group) Leave(number int) error {
	return g.members.Leave(number, func(m *member) error {
		m.leave(g.alive)
		return nil
	})
}

// leave finishes the current work unless the group is stopped. If ctx ends, it gives up the last commit.
func (m *member) leave(ctx context.Context) {
	m.cancel()
	m.end(m.held(nil))
	m.running.Wait() // no poll may run when the client closes
	m.commit(ctx)
	m.client.Close()
}

// CanKill returns an error if the driver cannot kill a consumer.
func (g *Group) CanKill() error {
	if _, able := g.members.Ever()[0].client.(driver.Killer); !able {
		return fmt.Errorf("the driver %s cannot kill a consumer; stop it instead, or take another driver",
			g.cfg.Driver.Name())
	}
	return nil
}

// Kill makes a member vanish like a process under kill -9: no commit, no leave. Its current work is lost. After
// Kill returns, nothing more is delivered to the member.
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

// Doom ends a member before its process is killed. After Doom returns, nothing more is delivered to
// the member or committed by it. Its connections stay open, and it keeps its place in the group.
func (g *Group) Doom(number int) (loss snapshot.Loss, err error) {
	err = g.members.Leave(number, func(m *member) error {
		loss = m.kill(func() {
			m.committing.Lock() // waits for the commit in progress
			defer m.committing.Unlock()
		})
		return nil
	})
	return loss, err
}

func (m *member) kill(cutOff func()) snapshot.Loss {
	m.dead.Store(true)
	m.die() // before cutOff, so that the failing poll is not reported
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

// Pause stops a member until Resume: it neither polls nor works nor commits. Its client continues to send heartbeats
// and to fetch until its buffers are full, so the member stays in the group. Only the client can enforce a poll
// interval (Kafka's max.poll.interval.ms); franz has none. If the member is working on a record, a rebalance waits for
// it, up to the client's rebalance timeout.
//
// how describes the pause for a report.
func (g *Group) Pause(number int) (how string, err error) {
	if err := g.members.With(number, func(m *member) error { return m.halt.Begin(number) }); err != nil {
		return "", err
	}
	return fmt.Sprintf("consumer %d neither polls nor works; its client goes on with heartbeats", number), nil
}

// Resume ends the pause of a member.
func (g *Group) Resume(number int) error {
	return g.members.With(number, func(m *member) error { return m.halt.End(number) })
}
