package bench

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/access"
	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/kafka/probe"
	"kafkabench.example/kafka-bench/internal/lagcontrol"
	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/observe"
	"kafkabench.example/kafka-bench/internal/run/remote"
)

// Worker reads a run's requests from in and writes the responses to out. It returns at the end of
// the input. driverNamed opens the client under test.
func Worker(ctx context.Context, in io.Reader, out io.WriteCloser,
	driverNamed func(string) (driver.Driver, error)) error {
	return WorkerConfig{Driver: driverNamed}.Serve(ctx, "", in, out)
}

// WorkerConfig configures a worker in a test's process.
type WorkerConfig struct {
	Driver func(name string) (driver.Driver, error)
	Probes probe.Set
	Dial   access.Dial // nil is net.Dialer
}

// Serve is Worker. It is a remote.InProcess.
func (c WorkerConfig) Serve(ctx context.Context, _ string, in io.Reader, out io.WriteCloser) error {
	ctx, cancel := context.WithCancel(ctx)
	w := &worker{WorkerConfig: c, ctx: ctx}
	w.service = remote.NewService(ctx, remote.NewHere(c.Probes, w.open))
	defer w.close()
	defer cancel() // first, so that work under way ends
	return remote.Serve(in, out, map[string]any{remote.PartName: w.service})
}

type worker struct {
	WorkerConfig
	ctx     context.Context
	service *remote.Service

	// mu guards what open makes. Nothing that waits for a broker holds mu, because close must not
	// wait for a broker.
	mu     sync.Mutex
	gate   *gatekeeper
	lag    *workerLag
	keeper sync.WaitGroup
}

func (w *worker) access(h access.Handover) (access.Access, error) {
	let, err := h.Access()
	let.Dial = w.Dial
	return let, err
}

func (w *worker) open(_ context.Context, a remote.Assignment) (remote.Load, error) {
	let, err := w.access(w.service.Access())
	if err != nil {
		return remote.Load{}, err
	}
	client, err := w.Driver(a.Driver)
	if err != nil {
		return remote.Load{}, err
	}
	axis := load.NewAxis(w.Probes.Clock())
	axis.Adopt(a.Zero)
	if err := w.verifyCluster(&a, let); err != nil {
		return remote.Load{}, err
	}
	if a.Group != nil {
		return w.openGroup(*a.Group, client, let, axis)
	}
	return w.openProducers(a, client, let, axis)
}

// verifyCluster is base.verifyCluster of this process.
func (w *worker) verifyCluster(a *remote.Assignment, let access.Access) (err error) {
	brokers, id := &a.Brokers, a.ClusterID
	if a.Group != nil {
		brokers, id = &a.Group.Client.Brokers, a.Group.Client.ClusterID
	}
	if id != "" {
		*brokers, err = cluster.VerifyID(w.ctx, *brokers, id, let)
	}
	return err
}

func (w *worker) openProducers(a remote.Assignment, client driver.Driver, let access.Access,
	axis *load.Axis) (remote.Load, error) {
	s, err := scenario.Parse("the run's scenario", a.Scenario)
	if err != nil {
		return remote.Load{}, err
	}
	parts := sending{
		scenario: s, driver: client, brokers: a.Brokers, clusterID: a.ClusterID, clientID: a.ClientID, access: let, runID: a.RunID, topic: a.Topic,
		partitions: a.Partitions, consumed: a.Consumed, only: a.Workers, axis: axis,
	}
	if parts.corpus, parts.keys, err = payloads(s); err != nil {
		return remote.Load{}, err
	}
	if parts.arrivals, err = schedule(s); err != nil {
		return remote.Load{}, err
	}
	if parts.gate, err = w.makeGate(s, a, let, axis); err != nil {
		return remote.Load{}, err
	}
	l, err := parts.open()
	l.Started, l.Deliver = w.keepGate, w.deliver
	return l, err
}

// A bounded gate admits nothing before its first reading.
func (w *worker) makeGate(s scenario.Scenario, a remote.Assignment, let access.Access, axis *load.Axis) (*gatekeeper,
	error) {
	if !s.Backpressure.Gates() {
		return nil, nil //nolint:nilnil // there is none
	}
	reader, err := probe.NewLagReader(a.Brokers, let, a.Topic, a.Groups, a.Partitions)
	if err != nil {
		return nil, err
	}
	lag := &workerLag{reader: reader, axis: axis, topic: a.Topic, tell: w.service.Tell, seen: make(map[string]bool)}
	if err := w.hold(func() { w.lag = lag }); err != nil {
		reader.Close()
		return nil, err
	}
	cfg := gateConfig{
		Backpressure: s.Backpressure, Processes: a.Parts,
		Doubt: time.Duration(s.Load.DeliveryTimeout), Axis: axis, Read: lag.read, Tell: w.service.Tell,
	}
	gate, err := newGatekeeper(cfg)
	if err != nil {
		return nil, err
	}
	gate.poll(w.ctx)
	return gate, w.hold(func() { w.gate = gate })
}

// hold calls keep. After close has begun, hold returns an error instead, and its caller closes what
// the caller has made.
func (w *worker) hold(keep func()) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.ctx.Err(); err != nil {
		return err
	}
	keep()
	return nil
}

func (w *worker) deliver(positions []int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.lag != nil {
		w.lag.delivered.Store(&positions)
	}
}

func (w *worker) keepGate() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if gate := w.gate; gate != nil && w.ctx.Err() == nil {
		w.keeper.Go(func() { gate.keep(w.ctx) })
	}
}

// After ctx has ended, neither hold nor keepGate adds anything any more.
func (w *worker) close() {
	w.mu.Lock()
	lag := w.lag
	w.mu.Unlock()
	w.keeper.Wait()
	if lag != nil {
		lag.reader.Close()
	}
}

type workerLag struct {
	reader *probe.LagReader
	axis   *load.Axis
	topic  string
	tell   func(result.Event)
	// delivered has the positions that the run last sent; nil if it sends none.
	delivered atomic.Pointer[[]int64]

	mu   sync.Mutex
	seen map[string]bool // reported errors
}

func (l *workerLag) read(ctx context.Context) (lagcontrol.Reading, error) {
	limited, cancel := context.WithTimeout(ctx, observe.ReadTimeout)
	defer cancel()
	var delivered []int64
	if told := l.delivered.Load(); told != nil {
		delivered = *told
	}
	groups, err := l.reader.Read(limited)
	switch {
	case err == nil && len(groups) > 0:
		return observe.GateReading(l.topic, groups, delivered), nil
	case err == nil:
		return lagcontrol.Reading{}, observe.ErrNoLag
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !errors.Is(ctx.Err(), context.Canceled) && !l.seen[err.Error()] && len(l.seen) < observe.MaxDistinct {
		l.seen[err.Error()] = true
		l.tell(result.Event{AtNs: l.axis.Now(), Kind: "warning", What: "the lag could not be read",
			Reason: err.Error()})
	}
	return lagcontrol.Reading{}, err
}
