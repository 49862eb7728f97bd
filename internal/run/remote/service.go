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

// PartName is the name that a Service is served by.
const PartName = "Part"

// Service serves a part of this process to the run, which has a Child for it. Its
// methods, but for Tell, are called by that.
type Service struct {
	ctx  context.Context
	here *Here

	collecting sync.Mutex // what a collector has collected is its own until it collects again
	collector  latency.Collector

	events chan result.Event // for the run
	untold atomic.Int64      // those for which there was no room
	letIn  sync.Once
	access access.Handover
	begun  sync.Once
	spent  chan snapshot.Spending
	done   chan struct{}
}

// maxTellings bounds the events that wait to be fetched.
const maxTellings = 1024

// NewService returns a service of a part. Nobody waits for events once the context ends.
func NewService(ctx context.Context, here *Here) *Service {
	return &Service{
		ctx: ctx, here: here, events: make(chan result.Event, maxTellings),
		spent: make(chan snapshot.Spending, 1), done: make(chan struct{}, 1),
	}
}

// Tell has the run told of an event, unless too many wait already.
func (s *Service) Tell(e result.Event) {
	select {
	case s.events <- e:
	default:
		s.untold.Add(1)
	}
}

// Opening is what a child is told at first. It is for one pipe only: it holds credentials.
type Opening struct {
	Assignment Assignment
	Access     access.Handover
}

// Access is how the cluster lets the part in, once it is being opened.
func (s *Service) Access() access.Handover { return s.access }

// Open opens the part, once.
func (s *Service) Open(o Opening, reply *Opened) (err error) {
	s.letIn.Do(func() { s.access = o.Access })
	if *reply, err = s.here.Open(s.ctx, o.Assignment); err == nil {
		s.here.AddTo(&s.collector)
	}
	return err
}

// Start sets the axis and lets producers begin.
func (s *Service) Start(zero load.Zero, _ *None) error {
	if err := s.here.Start(zero); err != nil {
		return err
	}
	if s.here.load.Producers != nil {
		s.begun.Do(func() { go s.awaitEnd() })
	}
	return nil
}

// awaitEnd notes that the volume was offered, and that all producers are done.
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

// Do does what a part is told to do.
func (s *Service) Do(c Command, reply *Answer) (err error) {
	*reply, err = s.here.Do(c)
	return err
}

// Snapshot answers how the part stands.
func (s *Service) Snapshot(w Want, reply *snapshot.Snapshot) (err error) {
	if *reply, err = s.here.Snapshot(w); err == nil && w.Times {
		reply.Times = s.times()
	}
	return err
}

// times are what was recorded since they were asked for before.
func (s *Service) times() latency.Encoded {
	s.collecting.Lock()
	defer s.collecting.Unlock()
	return s.collector.Collect().Encode()
}

// Close ends producers and consumers and answers with all that is final then. It gives up
// what has to be waited for after a time.
func (s *Service) Close(patience time.Duration, reply *snapshot.Snapshot) (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if *reply, err = s.here.Close(ctx); err == nil {
		reply.Times = s.times()
	}
	return err
}

// Told is what has happened in a part.
type Told struct {
	Events []byte             // as JSON: what an event has to say is of any type
	Spent  *snapshot.Spending // the producers have offered their share of the volume
	Done   bool               // they have sent and settled all that they could
}

// Events waits until something has happened, and answers with all that has since it last
// did.
func (s *Service) Events(_ None, reply *Told) (err error) {
	var events []result.Event
	select {
	case e := <-s.events:
		events = append(events, e)
	case spent := <-s.spent:
		reply.Spent = &spent
		return nil
	case <-s.done:
		for len(s.spent) > 0 { // that came before
			spent := <-s.spent
			reply.Spent = &spent
		}
		reply.Done = true
		return nil
	case <-s.ctx.Done():
		return s.ctx.Err()
	}
	for len(s.events) > 0 { // this is the only reader
		events = append(events, <-s.events)
	}
	if n := s.untold.Swap(0); n > 0 {
		events = append(events, result.Event{AtNs: events[len(events)-1].AtNs, Kind: "warning",
			What: fmt.Sprintf("%d events of the process were dropped", n)})
	}
	reply.Events, err = json.Marshal(slices.Clip(events))
	return err
}
