package remote

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"kafkabench.example/kafka-bench/internal/kafka/probe"
	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/load/receive"
	"kafkabench.example/kafka-bench/internal/load/send"
	"kafkabench.example/kafka-bench/internal/measure/latency"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
)

// Load is what a part in this process has opened.
type Load struct {
	Opened
	Axis       *load.Axis
	Producers  *send.Producers // nil: none
	Consumers  Consuming       // nil: none
	Partitions int             // of the topic
	// Gate returns the state of the gate. Deliver reports the consumers' positions to it. Both are
	// nil without a gate.
	Gate    func() snapshot.Gate
	Deliver func(positions []int64)
	Started func() // called when the producers begin; may be nil
}

// Consuming is a group of consumers: receive.Group or queued.Group.
type Consuming interface {
	members
	AwaitReady(context.Context) error
	Release()
	Standing(books bool) snapshot.Group
	DeliveryGaps() []snapshot.Gaps
	Err() error
	AddTo(*latency.Collector)
	Stop(context.Context)
}

type members interface {
	Start(number int) error
	Leave(number int) error
	Kill(number int) (snapshot.Loss, error)
	Pause(number int) (how string, err error)
	Resume(number int) error
}

// Here is a part in this process.
type Here struct {
	probes probe.Set
	open   func(context.Context, Assignment) (Load, error)
	seq    atomic.Uint64

	mu      sync.Mutex
	part    int
	begun   bool
	load    *Load // nil until it is open
	started bool
	pauses  probe.Runtime
}

// NewHere returns a part that calls open to open its assignment.
func NewHere(probes probe.Set, open func(context.Context, Assignment) (Load, error)) *Here {
	return &Here{probes: probes, open: open}
}

// Open implements Part. It can be called once, by a run with this version of the protocol.
func (h *Here) Open(ctx context.Context, a Assignment) (Opened, error) {
	if a.Version != Version {
		return Opened{}, fmt.Errorf("protocol version %d, but the run has %d: the program file was replaced",
			Version, a.Version)
	}
	h.mu.Lock()
	again := h.begun
	h.begun = true
	h.mu.Unlock()
	if again {
		return Opened{}, errors.New("the part is open already")
	}
	l, err := h.open(ctx, a)
	if err != nil {
		return Opened{}, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.part, h.load = a.Part, &l
	return l.Opened, nil
}

func (h *Here) get() (Load, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.load == nil {
		return Load{}, errors.New("the part is not open")
	}
	return *h.load, nil
}

// Start implements Part.
func (h *Here) Start(zero load.Zero) error {
	l, err := h.get()
	if err != nil {
		return err
	}
	l.Axis.Adopt(zero)
	h.mu.Lock()
	again := h.started
	h.started = true
	h.mu.Unlock()
	if again || l.Producers == nil {
		return nil
	}
	l.Producers.Start()
	if l.Started != nil {
		l.Started()
	}
	return nil
}

// Do implements Part.
func (h *Here) Do(c Command) (a Answer, err error) {
	l, err := h.get()
	if err != nil {
		return a, err
	}
	switch c.Do {
	case End:
		l.Axis.EndAt(c.EndNs)
	case Restrict:
		l.Producers.Restrict(c.Partitions)
	case Release:
		l.Consumers.Release()
	case Join:
		err = l.Consumers.Start(c.Number)
	case Leave:
		err = l.Consumers.Leave(c.Number)
	case Kill:
		a.Loss, err = l.Consumers.Kill(c.Number)
	case Pause:
		a.How, err = l.Consumers.Pause(c.Number)
	case Resume:
		err = l.Consumers.Resume(c.Number)
	default:
		return l.doApart(c)
	}
	return a, err
}

func (l Load) doApart(c Command) (a Answer, err error) {
	g, able := l.Consumers.(*receive.Group)
	if !able {
		return a, errors.New("this part has no members of a consumer group")
	}
	switch c.Do {
	case Doom:
		a.Loss, err = g.Doom(c.Number)
	case Hold:
		a.Partitions = g.Held()
	case Tell:
		a.Handed = g.Handed(c.Partitions)
	case Hear:
		g.Elsewhere(c.Handed)
	default:
		return a, fmt.Errorf("there is no command %d", c.Do)
	}
	return a, err
}

// Snapshot implements Part.
func (h *Here) Snapshot(w Want) (s snapshot.Snapshot, err error) {
	l, err := h.get()
	if err != nil {
		return s, err
	}
	if w.Delivered != nil && l.Deliver != nil {
		l.Deliver(w.Delivered)
	}
	s = snapshot.Snapshot{Version: Version, Part: h.part, Seq: h.seq.Add(1), FromNs: l.Axis.Now()}
	if l.Consumers != nil { // arrived records must be read before sent ones
		l.received(&s, w)
	}
	if l.Producers != nil {
		l.sent(&s, w)
	}
	if l.Gate != nil {
		gate := l.Gate()
		s.Gate = &gate
	}
	s.ToNs = l.Axis.Now()
	if w.Usage {
		usage := UsageOf(h.probes)
		s.Usage = &usage
	}
	if w.Pauses {
		pauses := h.pausesSince()
		s.Pauses = &pauses
	}
	return s, nil
}

func (l Load) received(s *snapshot.Snapshot, w Want) {
	s.Groups = []snapshot.Group{l.Consumers.Standing(w.Books)}
	if err := l.Consumers.Err(); err != nil {
		s.Failed = err.Error()
	}
	if w.Last {
		s.Last = &snapshot.Last{DeliveryGaps: [][]snapshot.Gaps{l.Consumers.DeliveryGaps()}}
	}
}

func (l Load) sent(s *snapshot.Snapshot, w Want) {
	ps := l.Producers
	s.Sent[0], s.Sent[1] = ps.Sent()
	if w.Awaited != nil {
		s.Behind = ps.Behind(w.Awaited)
	} else {
		s.Behind.AckedIn = ps.AckedIn(l.Partitions)
		s.Behind.WaitingRecords, s.Behind.WaitingDueNs = ps.Waiting()
	}
	s.DeferredPeak, s.Traffic = ps.DeferredPeak(), ps.Traffic()
	if w.Last {
		if s.Last == nil {
			s.Last = &snapshot.Last{}
		}
		s.Last.Books, s.Last.AckGaps, s.Last.Shares = ps.Books(), ps.AckGaps(), ps.Shares()
		s.Last.Errors = [2]map[string]int64{ps.Errors(false), ps.Errors(true)}
	}
}

// Close implements Part.
func (h *Here) Close(ctx context.Context) (snapshot.Snapshot, error) {
	l, err := h.get()
	if err != nil {
		return snapshot.Snapshot{}, err
	}
	if l.Producers != nil {
		l.Producers.Close()
	}
	if l.Consumers != nil {
		l.Consumers.Stop(ctx)
	}
	return h.Snapshot(Want{Books: true, Last: true})
}

// AddTo adds the histograms to a collector.
func (h *Here) AddTo(c *latency.Collector) {
	l, err := h.get()
	if err == nil && l.Producers != nil {
		l.Producers.AddTo(c)
	}
	if err == nil && l.Consumers != nil {
		l.Consumers.AddTo(c)
	}
}

func (h *Here) awaitReady(ctx context.Context) error { return h.load.Consumers.AwaitReady(ctx) }

// Done is closed when every producer has sent its records and all are completed.
func (h *Here) Done() <-chan struct{} { return h.load.Producers.Done() }

// Spent is the channel of send.Producers.
func (h *Here) Spent() <-chan struct{} { return h.load.Producers.Spent() }

// Spending returns how the volume ended. It is valid after Spent is closed.
func (h *Here) Spending() snapshot.Spending { return h.load.Producers.Spending() }

// UsageOf returns the usage of this process so far.
func UsageOf(probes probe.Set) snapshot.Usage {
	runtime := probes.Runtime()
	u := snapshot.Usage{
		GCCycles: runtime.GCCycles, GCCPU: runtime.GCCPU, AllocBytes: runtime.AllocBytes, AllocObjects: runtime.AllocObjects,
		GCPause: runtime.GCPause, HeapBytes: runtime.HeapBytes, Goroutines: runtime.Goroutines,
	}
	if used, err := probes.Self(); err == nil {
		u.Known, u.User, u.System, u.RSS = true, used.User, used.System, used.RSS
	}
	return u
}

func (h *Here) pausesSince() snapshot.Pauses {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.probes.Runtime()
	p := PausesBetween(h.pauses, now)
	h.pauses = now
	return p
}

// PausesBetween returns the pauses between two readings; zero if before is zero.
func PausesBetween(before, after probe.Runtime) snapshot.Pauses {
	if before == (probe.Runtime{}) {
		return snapshot.Pauses{}
	}
	return snapshot.Pauses{
		GC: snapshot.Quantiles(after.GCPauses(before)), Sched: snapshot.Quantiles(after.SchedDelays(before)),
	}
}
