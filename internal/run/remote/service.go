package remote

import (
	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/load/send"
	"kafkabench.example/kafka-bench/internal/measure/ledger"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
)

// ServiceName is the name that ProducersService is served by.
const ServiceName = "Producers"

// Opened is what a process has made of its assignment.
type Opened struct {
	Producers *send.Producers
	Axis      *load.Axis
	// Started is called when the axis is set and the load begins; nil is nobody.
	Started func()
}

// ProducersService is the child's side of Producers. Its methods are called by the
// parent; the order is Open, Start, anything, Close, anything that still is of use.
type ProducersService struct {
	opening[Assignment, Opened]
}

// NewProducersService returns a service that opens its producers as told.
func NewProducersService(open func(Assignment) (Opened, error)) *ProducersService {
	return &ProducersService{opening[Assignment, Opened]{what: "the producers", open: open}}
}

func (s *ProducersService) producers() (*send.Producers, error) {
	o, err := s.get()
	return o.Producers, err
}

// Open opens the producers, once.
func (s *ProducersService) Open(a Assignment, reply *OpenReply) error {
	o, err := s.once(a.Version, a)
	if err != nil {
		return err
	}
	o.Producers.AddTo(&s.collector)
	*reply = OpenReply{Settings: o.Producers.Settings(), Bounded: o.Producers.Spent() != nil}
	return nil
}

// Start sets the axis and lets the workers begin.
func (s *ProducersService) Start(zero load.Zero, _ *None) error {
	o, err := s.get()
	if err != nil {
		return err
	}
	o.Axis.Adopt(zero)
	o.Producers.Start()
	if o.Started != nil {
		o.Started()
	}
	return nil
}

// EndAt moves the end of the measured window.
func (s *ProducersService) EndAt(ns int64, _ *None) error {
	ps, err := s.producers()
	if err == nil {
		ps.EndAt(ns)
	}
	return err
}

// Sent answers with the counts by phase.
func (s *ProducersService) Sent(_ None, reply *SentReply) error {
	ps, err := s.producers()
	if err == nil {
		reply.Warmup, reply.Measured = ps.Sent()
	}
	return err
}

// AckedIn answers with the acknowledged records of each partition.
func (s *ProducersService) AckedIn(_ None, reply *[]int64) error {
	ps, err := s.producers()
	if err == nil {
		*reply = ps.AckedIn(s.assigned.Partitions)
	}
	return err
}

// Behind answers what send.Producers.Behind does.
func (s *ProducersService) Behind(awaited [][]ledger.Awaited, reply *snapshot.Behind) error {
	ps, err := s.producers()
	if err == nil {
		*reply = ps.Behind(awaited)
	}
	return err
}

// Wire answers with the traffic so far.
func (s *ProducersService) Wire(_ None, reply *WireReply) error {
	ps, err := s.producers()
	if err == nil {
		reply.Wire, reply.Counted = ps.Wire()
		reply.Requests, reply.Timed = ps.Requests()
	}
	return err
}

// AwaitDone answers when all workers have sent and settled what they could.
func (s *ProducersService) AwaitDone(None, *None) error {
	ps, err := s.producers()
	if err == nil {
		<-ps.Done()
	}
	return err
}

// AwaitSpent answers when the workers of this process have offered their share of
// the volume.
func (s *ProducersService) AwaitSpent(_ None, reply *snapshot.Spending) error {
	ps, err := s.producers()
	if err == nil {
		<-ps.Spent()
		*reply = ps.Spending()
	}
	return err
}

// Close ends workers and clients and answers with all that is final then.
func (s *ProducersService) Close(_ None, reply *CloseReply) error {
	ps, err := s.producers()
	if err != nil {
		return err
	}
	ps.Close()
	reply.Sent.Warmup, reply.Sent.Measured = ps.Sent()
	reply.Waiting, reply.WaitingDueNs = ps.Waiting()
	reply.AckedIn = ps.AckedIn(s.assigned.Partitions)
	reply.Errors = [2]map[string]int64{ps.Errors(false), ps.Errors(true)}
	reply.Books = ps.Books()
	reply.DeferredPeak = ps.DeferredPeak()
	reply.AckGaps = ps.AckGaps()
	return nil
}
