package remote

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/access"
	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/measure/latency"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
	"kafkabench.example/kafka-bench/internal/result"
)

// PartName is the name under which a Service is served.
const PartName = "Part"

// Service serves a part of this process to the run's Child. The Child calls all methods except
// Tell.
type Service struct {
	ctx  context.Context
	here *Here

	collecting sync.Mutex
	collector  latency.Collector

	events chan result.Event
	untold atomic.Int64
	letIn  sync.Once
	access access.Handover
	begun  sync.Once
	spent  chan snapshot.Spending
	done   chan struct{}
}

const maxTellings = 1024

// NewService returns a service of a part. When the context ends, Events returns.
func NewService(ctx context.Context, here *Here) *Service {
	return &Service{
		ctx: ctx, here: here, events: make(chan result.Event, maxTellings),
		spent: make(chan snapshot.Spending, 1), done: make(chan struct{}, 1),
	}
}

// Tell sends an event to the run. If too many events wait, it drops the event and counts it.
func (s *Service) Tell(e result.Event) {
	select {
	case s.events <- e:
	default:
		s.untold.Add(1)
	}
}

// Opening is the first message to a child. It holds credentials, so send it only by the child's
// pipe.
type Opening struct {
	Assignment Assignment
	Access     access.Handover
}

// Access returns the part's access to the cluster, after Open was called.
func (s *Service) Access() access.Handover { return s.access }

// Open opens the part, once.
func (s *Service) Open(o Opening, reply *Opened) (err error) {
	s.letIn.Do(func() { s.access = o.Access })
	if *reply, err = s.here.Open(s.ctx, o.Assignment); err == nil {
		s.here.AddTo(&s.collector)
	}
	return err
}

// Start sets the axis and starts producers.
func (s *Service) Start(zero load.Zero, _ *None) error {
	if err := s.here.Start(zero); err != nil {
		return err
	}
	if s.here.load.Producers != nil {
		s.begun.Do(func() { go s.awaitEnd() })
	}
	return nil
}

func (s *Service) awaitEnd() {
	done, spent := s.here.Done(), s.here.Spent()
	select {
	case <-spent:
	case <-done:
	}
	select {
	case <-spent:
		s.spent <- s.here.Spending()
	default:
	}
	<-done
	s.done <- struct{}{}
}

// Do does a command.
func (s *Service) Do(c Command, reply *Answer) (err error) {
	*reply, err = s.here.Do(c)
	return err
}

// Snapshot returns the part's state.
func (s *Service) Snapshot(w Want, reply *snapshot.Snapshot) (err error) {
	if *reply, err = s.here.Snapshot(w); err == nil && w.Times {
		reply.Times = s.times()
	}
	return err
}

func (s *Service) times() latency.Encoded {
	s.collecting.Lock()
	defer s.collecting.Unlock()
	return s.collector.Collect().Encode()
}

// Close ends producers and consumers and returns their final state. After patience, the consumers
// no longer wait for the brokers, not even for their last commits.
func (s *Service) Close(patience time.Duration, reply *snapshot.Snapshot) (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if *reply, err = s.here.Close(ctx); err == nil {
		reply.Times = s.times()
	}
	return err
}

// Told is what happened in a part since the last call of Events.
type Told struct {
	Events []byte             // as JSON, because the data of events have any type
	Spent  *snapshot.Spending // the producers have offered their part of the volume
	Done   bool               // the producers have sent their records and all are completed
}

// Events waits until something happens, and returns everything since its last call.
func (s *Service) Events(_ None, reply *Told) (err error) {
	var events []result.Event
	select {
	case e := <-s.events:
		events = append(events, e)
	case spent := <-s.spent:
		reply.Spent = &spent
		return nil
	case <-s.done:
		for len(s.spent) > 0 { // spent before done
			spent := <-s.spent
			reply.Spent = &spent
		}
		reply.Done = true
		return nil
	case <-s.ctx.Done():
		return s.ctx.Err()
	}
	for len(s.events) > 0 {
		events = append(events, <-s.events)
	}
	if n := s.untold.Swap(0); n > 0 {
		events = append(events, result.Event{AtNs: events[len(events)-1].AtNs, Kind: "warning",
			What: fmt.Sprintf("%d events of the process were dropped", n)})
	}
	reply.Events, err = json.Marshal(slices.Clip(events))
	return err
}
