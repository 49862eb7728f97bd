package load

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/measure/latency"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
)

// A seat is what a group keeps for a member's number, whoever has it: members come
// and go, and their figures stay.
type seat struct {
	recorder *latency.Recorder // poll times
	worker   *worker           // parallel by consumer: the one worker; else nil
	member   *member           // guarded by the group's lock; nil while nobody has the number
}

func (g *Group) newSeat() *seat {
	s := &seat{recorder: latency.NewRecorder(latency.PollTime)}
	if !g.cfg.ByPartition {
		s.worker = g.newWorker(g.cfg)
	}
	return s
}

// sit gives a member its seat.
func (g *Group) sit(m *member) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.members = append(g.members, m)
	g.seats[m.id].member = m
}

// rise takes a member off its seat.
func (g *Group) rise(m *member) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.seats[m.id].member = nil
}

// seated are the members that are there.
func (g *Group) seated() (all []*member) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, s := range g.seats {
		if s.member != nil {
			all = append(all, s.member)
		}
	}
	return all
}

// everyone are all members that there have been.
func (g *Group) everyone() []*member {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clip(g.members)
}

// memberOf is the member of a number; nil if nobody has it.
func (g *Group) memberOf(number int) (*member, error) {
	if number < 0 || number >= len(g.seats) {
		return nil, fmt.Errorf("consumer %d: the numbers are 0 to %d", number, len(g.seats)-1)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.seats[number].member, nil
}

// errStopped is why a group that was stopped is left as it is.
var errStopped = errors.New("the group was stopped")

// Start opens a member of a number that nobody has: one that is new, or one that
// takes the place of a member that is gone. It joins in the background.
func (g *Group) Start(number int) error {
	g.changing.Lock()
	defer g.changing.Unlock()
	switch m, err := g.memberOf(number); {
	case err != nil:
		return err
	case g.stopping.Load():
		return errStopped
	case m != nil:
		return fmt.Errorf("consumer %d is there already", number)
	}
	return g.open(number, true)
}

// present is the member of a number, which somebody must have.
func (g *Group) present(number int) (*member, error) {
	switch m, err := g.memberOf(number); {
	case err != nil:
		return nil, err
	case g.stopping.Load():
		return nil, errStopped
	case m == nil:
		return nil, fmt.Errorf("consumer %d is not there", number)
	default:
		return m, nil
	}
}

// Leave has a member leave in order: it finishes the record that it is working on,
// commits what it has processed, and leaves its group.
func (g *Group) Leave(number int) error {
	g.changing.Lock()
	defer g.changing.Unlock()
	m, err := g.present(number)
	if err != nil {
		return err
	}
	m.leave(g.alive)
	g.rise(m)
	return nil
}

// leave ends the member as Stop does, but for the work at hand, which it finishes.
func (m *member) leave(ctx context.Context) {
	m.cancel()
	m.end(m.held(nil))
	m.running.Wait()
	m.commit(ctx)
	m.client.Close()
}

// CanKill tells whether Kill can be done, nil, or why not.
func (g *Group) CanKill() error {
	if _, able := g.everyone()[0].client.(driver.Killer); !able {
		return fmt.Errorf("the driver %s cannot kill a consumer; stop it instead, or take another driver", g.cfg.Driver.Name())
	}
	return nil
}

// Kill has a member vanish as its process would under kill -9: its connections are
// cut, it neither commits nor leaves, and the work at hand is lost. The group finds
// out by the session timeout; what the member had been handed and had not committed
// is then delivered to others again. When Kill returns, nothing more is delivered
// to it.
func (g *Group) Kill(number int) (snapshot.Loss, error) {
	g.changing.Lock()
	defer g.changing.Unlock()
	m, err := g.present(number)
	if err != nil {
		return snapshot.Loss{}, err
	}
	killer, able := m.client.(driver.Killer)
	if !able {
		return snapshot.Loss{}, g.CanKill()
	}
	loss := m.kill(killer.Kill)
	g.rise(m)
	g.buried.Go(func() {
		m.running.Wait()
		m.client.Close()
	})
	return loss, nil
}

// Doom takes everything from a member but its connections, because its process is
// about to be killed, which cuts them: until then the member keeps its place in the
// group. When Doom returns, nothing more is delivered to it and nothing more is
// committed, so that what was is what it will have been. Any driver can have it.
func (g *Group) Doom(number int) (snapshot.Loss, error) {
	g.changing.Lock()
	defer g.changing.Unlock()
	m, err := g.present(number)
	if err != nil {
		return snapshot.Loss{}, err
	}
	loss := m.kill(func() {
		m.committing.Lock() // the commit that is under way is still one
		defer m.committing.Unlock()
	})
	g.rise(m)
	return loss, nil
}

// kill ends a member whose connections end as given.
func (m *member) kill(cutOff func()) snapshot.Loss {
	m.dead.Store(true)
	close(m.cut)
	m.cancel() // before it happens, so that the failure of its poll is no news
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
