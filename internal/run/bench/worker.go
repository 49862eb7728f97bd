package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"kafkabench.example/kafka-bench/backpressure"
	"kafkabench.example/kafka-bench/backpressure/sharelog"
	"kafkabench.example/kafka-bench/internal/kafka/access"
	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/kafka/probe"
	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/load/send"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/remote"
)

// Worker is a process that works for a run: it does what it is asked on in, answers
// on out, and returns when in ends. driverNamed opens the client under test.
func Worker(ctx context.Context, in io.Reader, out io.WriteCloser, driverNamed func(string) (driver.Driver, error)) error {
	return WorkerConfig{Driver: driverNamed}.Serve(ctx, "", in, out)
}

// WorkerConfig is how a worker is set up that runs in the process of a test.
type WorkerConfig struct {
	Driver func(name string) (driver.Driver, error)
	Probes probe.Set
	Dial   access.Dial // of the access; nil is net.Dialer
}

// Serve is Worker. It is a remote.Here.
func (c WorkerConfig) Serve(ctx context.Context, _ string, in io.Reader, out io.WriteCloser) error {
	ctx, cancel := context.WithCancel(ctx)
	w := &worker{WorkerConfig: c, ctx: ctx, tellings: make(chan result.Event, maxTellings)}
	defer w.close()
	defer cancel() // first of all: what is under way then ends by itself
	return remote.Serve(in, out, map[string]any{
		remote.ServiceName:   remote.NewProducersService(w.open),
		remote.ConsumersName: remote.NewConsumersService(w.openGroup),
		processService:       &ProcessService{worker: w},
	})
}

// worker is the process' own state.
type worker struct {
	WorkerConfig
	ctx      context.Context
	tellings chan result.Event // for the run
	untold   atomic.Int64      // those for which there was no room

	// mu guards what open makes. It is never held while a broker is waited for: whoever
	// closes must not have to wait for that.
	mu     sync.Mutex
	gate   *gatekeeper
	lag    *workerLag
	share  *sharelog.Member
	keeper sync.WaitGroup
}

// access is what was handed over.
func (w *worker) access(h access.Handover) (access.Access, error) {
	let, err := h.Access()
	let.Dial = w.Dial
	return let, err
}

// maxTellings bounds the events that wait to be fetched.
const maxTellings = 1024

// tell has the run told of an event, unless too many wait already.
func (w *worker) tell(e result.Event) {
	select {
	case w.tellings <- e:
	default:
		w.untold.Add(1)
	}
}

// open makes what an assignment says.
func (w *worker) open(a remote.Assignment) (remote.Opened, error) {
	s, err := scenario.Parse("the run's scenario", a.Scenario)
	if err != nil {
		return remote.Opened{}, err
	}
	let, err := w.access(a.Access)
	if err != nil {
		return remote.Opened{}, err
	}
	client, err := w.Driver(a.Driver)
	if err != nil {
		return remote.Opened{}, err
	}
	axis := load.NewAxis(w.Probes.Clock())
	axis.Adopt(a.Zero)
	parts := sending{
		scenario: s, driver: client, brokers: a.Brokers, access: let, runID: a.RunID, topic: a.Topic,
		partitions: a.Partitions, consumed: a.Consumed, only: a.Workers, axis: axis,
	}
	if parts.corpus, parts.keys, err = payloads(s); err != nil {
		return remote.Opened{}, err
	}
	if parts.arrivals, err = schedule(s); err != nil {
		return remote.Opened{}, err
	}
	if parts.gate, err = w.makeGate(s, a, let, axis); err != nil {
		return remote.Opened{}, err
	}
	producers, err := send.Open(parts.config())
	if err != nil {
		return remote.Opened{}, err
	}
	return remote.Opened{Producers: producers, Axis: axis, Started: w.keepGate}, nil
}

// makeGate makes this process' gate, with a reader of the lag of its own, and has it
// told the lag once: until then one with a bound admits nothing.
func (w *worker) makeGate(s scenario.Scenario, a remote.Assignment, let access.Access, axis *load.Axis) (*gatekeeper, error) {
	if s.Backpressure.Controller == "off" {
		return nil, nil //nolint:nilnil // there is none
	}
	reader, err := probe.NewLagReader(a.Brokers, let, a.Topic, a.Groups, a.Partitions)
	if err != nil {
		return nil, err
	}
	lag := &workerLag{reader: reader, axis: axis, topic: a.Topic, tell: w.tell, seen: make(map[string]bool)}
	if err := w.hold(func() { w.lag = lag }); err != nil {
		reader.Close()
		return nil, err
	}
	cfg := gateConfig{
		Backpressure: s.Backpressure, Partitions: a.Partitions, Processes: a.Processes,
		Doubt: time.Duration(s.Load.DeliveryTimeout), Axis: axis, Read: lag.read, Tell: w.tell,
	}
	var share *sharelog.Member
	if a.Shares != "" {
		if share, err = w.joinShares(s, a, let, lag); err != nil {
			return nil, err
		}
		cfg.Share = share
	}
	gate, err := newGatekeeper(cfg)
	if err != nil {
		return nil, err
	}
	if share != nil {
		share.Attach(gate.gate)
	}
	gate.poll(w.ctx)
	return gate, w.hold(func() { w.gate = gate })
}

// hold keeps what close is to end, unless that has begun: then it is an error, and
// whoever made it ends it.
func (w *worker) hold(keep func()) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.ctx.Err(); err != nil {
		return err
	}
	keep()
	return nil
}

// joinTimeout bounds joining the shares, so that its reason comes before the run's
// patience ends.
const joinTimeout = remote.OpenTimeout / 2

// joinShares takes part in the bound that the processes share by demand.
func (w *worker) joinShares(s scenario.Scenario, a remote.Assignment, let access.Access, lag *workerLag) (*sharelog.Member, error) {
	joining, cancel := context.WithTimeout(w.ctx, joinTimeout)
	defer cancel()
	member, err := sharelog.Join(joining, sharelog.Config{
		Brokers: a.Brokers, Client: let.Options(), Topic: a.Shares,
		Bound: a.RunID, Records: s.Backpressure.MaxLag, Member: fmt.Sprintf("process %d", a.Process),
		Grace:  time.Duration(s.Load.DeliveryTimeout),
		Source: backpressure.SourceFunc(lag.read),
		OnChange: func(c sharelog.Change) {
			w.tell(result.Event{AtNs: lag.axis.Now(), Kind: "backpressure", What: "share " + string(c.Kind), Reason: c.Reason,
				Data: map[string]any{"member": c.Member, "part": c.Part, "members": c.Members}})
		},
	})
	if err != nil {
		return nil, fmt.Errorf("taking part in the shared bound: %w", err)
	}
	if err := w.hold(func() { w.share = member }); err != nil {
		return nil, errors.Join(err, member.Close())
	}
	return member, nil
}

// keepGate keeps the gate from the start of the load on.
func (w *worker) keepGate() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if gate := w.gate; gate != nil && w.ctx.Err() == nil {
		w.keeper.Go(func() { gate.keep(w.ctx) })
	}
}

// close ends what open has made beside the producers. It comes when nobody is left
// to ask for anything and the context has ended, so that nothing is added any more.
func (w *worker) close() {
	w.mu.Lock()
	gate, lag, share := w.gate, w.lag, w.share
	w.mu.Unlock()
	w.keeper.Wait()
	if share != nil {
		leave, cancel := context.WithTimeout(context.Background(), leaveTimeout)
		if gate != nil {
			gate.poll(leave) // for the last time: what is committed by now is not outstanding
		}
		_ = share.Leave(leave) // otherwise the others find out
		cancel()
	}
	if lag != nil {
		lag.reader.Close()
	}
}

// leaveTimeout bounds how long a process that ends may take to give its part of the
// bound back.
const leaveTimeout = time.Second

// workerLag reads the lag for a gate of this process.
type workerLag struct {
	reader *probe.LagReader
	axis   *load.Axis
	topic  string
	tell   func(result.Event)
	// delivered is how far the consumers have come in each partition, as the run
	// last told; nil where it does not.
	delivered atomic.Pointer[[]int64]

	mu   sync.Mutex
	seen map[string]bool // errors that were told of
}

// read asks for the lag.
func (l *workerLag) read(ctx context.Context) (backpressure.Reading, error) {
	limited, cancel := context.WithTimeout(ctx, lagTimeout)
	defer cancel()
	var delivered []int64
	if told := l.delivered.Load(); told != nil {
		delivered = *told
	}
	groups, err := l.reader.Read(limited)
	switch {
	case err == nil && len(groups) > 0:
		return gateReading(l.topic, groups, delivered), nil
	case err == nil:
		return backpressure.Reading{}, errNoLag
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !errors.Is(ctx.Err(), context.Canceled) && !l.seen[err.Error()] && len(l.seen) < maxDistinct {
		l.seen[err.Error()] = true
		l.tell(result.Event{AtNs: l.axis.Now(), Kind: "warning", What: "the lag could not be read", Reason: err.Error()})
	}
	return backpressure.Reading{}, err
}

// processService is the name that ProcessService is served by.
const processService = "Process"

// ProcessService says of a process that works for a run what is no matter of its
// workers: what it uses, how its gate stands, what happened in it. Its methods are
// called by the run.
type ProcessService struct {
	worker *worker

	mu   sync.Mutex
	last probe.Runtime // when Pauses was last called
}

// ProcessUsage is what processes have used since they started.
type ProcessUsage struct {
	probe.Usage
	Known bool // the operating system tells; else Usage is empty

	GCCycles     int64
	GCCPU        time.Duration
	AllocBytes   int64
	AllocObjects int64
}

// ownUsage is that of this process.
func ownUsage(probes probe.Set) (ProcessUsage, error) {
	runtime := probes.Runtime()
	u := ProcessUsage{
		GCCycles: runtime.GCCycles, GCCPU: runtime.GCCPU, AllocBytes: runtime.AllocBytes, AllocObjects: runtime.AllocObjects,
	}
	used, err := probes.Self()
	if err == nil {
		u.Usage, u.Known = used, true
	}
	return u, err
}

// add adds what another process has used.
func (u ProcessUsage) add(o ProcessUsage) ProcessUsage {
	u.User += o.User
	u.System += o.System
	u.RSS += o.RSS
	u.Known = u.Known && o.Known
	u.GCCycles += o.GCCycles
	u.GCCPU += o.GCCPU
	u.AllocBytes += o.AllocBytes
	u.AllocObjects += o.AllocObjects
	return u
}

// Usage answers with what the process has used.
func (p *ProcessService) Usage(_ remote.None, reply *ProcessUsage) error {
	*reply, _ = ownUsage(p.worker.Probes) // Known says that it is not
	return nil
}

// RuntimePauses are how long the runtime stopped everything, and how long it let
// goroutines wait that could have run.
type RuntimePauses struct{ GC, Sched probe.Quantiles }

// worse is, of each figure, the worse of two processes; distributions of which only
// some quantiles are known can't be added up.
func (p RuntimePauses) worse(o RuntimePauses) RuntimePauses {
	return RuntimePauses{GC: worse(p.GC, o.GC), Sched: worse(p.Sched, o.Sched)}
}

func worse(a, b probe.Quantiles) probe.Quantiles {
	return probe.Quantiles{Count: a.Count + b.Count, P50: max(a.P50, b.P50), P99: max(a.P99, b.P99), Max: max(a.Max, b.Max)}
}

// Pauses answers with what there was since it was last called.
func (p *ProcessService) Pauses(_ remote.None, reply *RuntimePauses) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.worker.Probes.Runtime()
	*reply = pausesBetween(p.last, now)
	p.last = now
	return nil
}

// pausesBetween is what there was between two readings, of which the first may be
// missing.
func pausesBetween(before, after probe.Runtime) RuntimePauses {
	if before == (probe.Runtime{}) {
		return RuntimePauses{}
	}
	return RuntimePauses{GC: after.GCPauses(before), Sched: after.SchedDelays(before)}
}

// GateStanding is how a gate stands.
type GateStanding struct {
	Stats    backpressure.Stats
	Bound    *int64        // nil is any lag
	InWindow *result.Bound // how it moved in the measured window
}

// errNoGate is a run's mistake.
var errNoGate = errors.New("there is no gate")

// Gate answers with how the gate stands.
func (p *ProcessService) Gate(_ remote.None, reply *GateStanding) error {
	p.worker.mu.Lock()
	defer p.worker.mu.Unlock()
	g := p.worker.gate
	if g == nil {
		return errNoGate
	}
	*reply = GateStanding{Stats: g.stats(), Bound: g.bound(), InWindow: g.inWindow()}
	return nil
}

// Delivered tells how far the consumers have come in each partition.
func (p *ProcessService) Delivered(positions []int64, _ *remote.None) error {
	p.worker.mu.Lock()
	defer p.worker.mu.Unlock()
	if p.worker.lag == nil {
		return errNoGate
	}
	p.worker.lag.delivered.Store(&positions)
	return nil
}

// Events waits until something has happened, and answers with all that has since it
// last did, as JSON: what an event has to say is of any type.
func (p *ProcessService) Events(_ remote.None, reply *[]byte) (err error) {
	var events []result.Event
	select {
	case e := <-p.worker.tellings:
		events = append(events, e)
	case <-p.worker.ctx.Done():
		return p.worker.ctx.Err()
	}
	for len(p.worker.tellings) > 0 { // this is the only reader
		events = append(events, <-p.worker.tellings)
	}
	if n := p.worker.untold.Swap(0); n > 0 {
		events = append(events, result.Event{AtNs: events[len(events)-1].AtNs, Kind: "warning",
			What: fmt.Sprintf("%d events of the process were dropped", n)})
	}
	*reply, err = json.Marshal(slices.Clip(events))
	return err
}
