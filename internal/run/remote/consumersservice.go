package remote

import (
	"context"
	"time"

	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/measure/ledger"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
)

// ConsumersName is the name that ConsumersService is served by.
const ConsumersName = "Consumers"

// OpenedGroup is what a process has made of its assignment.
type OpenedGroup struct {
	Group *load.Group
	Axis  *load.Axis
}

// ConsumersService is the child's side of Consumers. Its methods are called by the
// parent, Open first; each does what the method of load.Group of its name does.
type ConsumersService struct {
	opening[GroupAssignment, OpenedGroup]
}

// NewConsumersService returns a service that opens its part of a group as told.
func NewConsumersService(open func(GroupAssignment) (OpenedGroup, error)) *ConsumersService {
	return &ConsumersService{opening[GroupAssignment, OpenedGroup]{what: "the consumers", open: open}}
}

func (s *ConsumersService) group() (*load.Group, error) {
	o, err := s.get()
	return o.Group, err
}

// Open opens the members of this process, once.
func (s *ConsumersService) Open(a GroupAssignment, reply *GroupReply) error {
	o, err := s.once(a.Version, a)
	if err != nil {
		return err
	}
	o.Group.AddTo(&s.collector)
	*reply = GroupReply{Settings: o.Group.Settings(), Workers: o.Group.Workers()}
	if err := o.Group.CanKill(); err != nil {
		reply.CannotKill = err.Error()
	}
	return nil
}

// Begin sets the axis, or moves the end of its window.
func (s *ConsumersService) Begin(zero load.Zero, _ *None) error {
	o, err := s.get()
	if err == nil {
		o.Axis.Adopt(zero)
	}
	return err
}

// Release lets the members fetch that were held.
func (s *ConsumersService) Release(None, *None) error {
	g, err := s.group()
	if err == nil {
		g.Release()
	}
	return err
}

// Standing answers how the members stand.
func (s *ConsumersService) Standing(_ None, reply *Standing) error {
	g, err := s.group()
	if err != nil {
		return err
	}
	*reply = Standing{Received: g.Received(), Counts: g.Counts(), Working: g.Working(), Traffic: g.Traffic()}
	reply.Owned, reply.Idle = g.Assigned()
	if failed := g.Err(); failed != nil {
		reply.Failed = failed.Error()
	}
	return nil
}

// GroupReached is how far the members of a process have come.
type GroupReached struct {
	Partitions []snapshot.Reached // without Awaited
	// Books are the receiving side of the books, of the partitions that anything
	// came of, where there are stamps.
	Books map[int32]*ledger.Receiver
}

// Reached answers how far the members have come.
func (s *ConsumersService) Reached(_ None, reply *GroupReached) error {
	g, err := s.group()
	if err != nil {
		return err
	}
	// They are encoded when this has returned, so that they may be ahead of the
	// positions; nobody lays one beside the other before the members have stopped.
	if s.assigned.Stamped {
		reply.Books = make(map[int32]*ledger.Receiver)
		for p, r := range g.Receivers() {
			if !r.Empty() {
				reply.Books[int32(p)] = r
			}
		}
	}
	reply.Partitions = g.Reached()
	for p := range reply.Partitions {
		reply.Partitions[p].Awaited = nil
	}
	return nil
}

// Positions answers how far the members have come, and nothing of the books: it is
// asked many times a second.
func (s *ConsumersService) Positions(_ None, reply *[]snapshot.Reached) error {
	g, err := s.group()
	if err == nil {
		*reply = g.Positions()
	}
	return err
}

// DeliveryGaps answers in which times the members were handed nothing.
func (s *ConsumersService) DeliveryGaps(_ None, reply *[]snapshot.Gaps) error {
	g, err := s.group()
	if err == nil {
		*reply = g.DeliveryGaps()
	}
	return err
}

// Start opens a member.
func (s *ConsumersService) Start(number int, _ *None) error {
	g, err := s.group()
	if err != nil {
		return err
	}
	return g.Start(number)
}

// Leave has a member leave in order.
func (s *ConsumersService) Leave(number int, _ *None) error {
	g, err := s.group()
	if err != nil {
		return err
	}
	return g.Leave(number)
}

// Kill has a member vanish, and the process stay.
func (s *ConsumersService) Kill(number int, reply *snapshot.Loss) error {
	g, err := s.group()
	if err == nil {
		*reply, err = g.Kill(number)
	}
	return err
}

// Doom prepares a member for the end of this process.
func (s *ConsumersService) Doom(number int, reply *snapshot.Loss) error {
	g, err := s.group()
	if err == nil {
		*reply, err = g.Doom(number)
	}
	return err
}

// Pause has a member stand still.
func (s *ConsumersService) Pause(number int, reply *string) error {
	g, err := s.group()
	if err == nil {
		*reply, err = g.Pause(number)
	}
	return err
}

// Resume lets a member go on.
func (s *ConsumersService) Resume(number int, _ *None) error {
	g, err := s.group()
	if err != nil {
		return err
	}
	return g.Resume(number)
}

// Held answers with the partitions that members of this process have.
func (s *ConsumersService) Held(_ None, reply *[]int32) error {
	g, err := s.group()
	if err == nil {
		*reply = g.Held()
	}
	return err
}

// Handed answers with what was handed over here of partitions.
func (s *ConsumersService) Handed(partitions []int32, reply *[]load.Handed) error {
	g, err := s.group()
	if err == nil {
		*reply = g.Handed(partitions)
	}
	return err
}

// Elsewhere tells what was handed over in other processes.
func (s *ConsumersService) Elsewhere(handed []load.Handed, _ *None) error {
	g, err := s.group()
	if err == nil {
		g.Elsewhere(handed)
	}
	return err
}

// Stop ends the members; commits are given up after a time.
func (s *ConsumersService) Stop(patience time.Duration, _ *None) error {
	g, err := s.group()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	g.Stop(ctx)
	return nil
}
