package sharelog_test

import (
	"context"
	"errors"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/backpressure"
	"kafkabench.example/kafka-bench/backpressure/sharelog"
)

const (
	topic   = "shares"
	records = 1000
	beat    = 50 * time.Millisecond
	lease   = 600 * time.Millisecond
	grace   = 200 * time.Millisecond
)

// world is one partition with its consumers. Its lag must never exceed the bound.
type world struct {
	mu             sync.Mutex
	end, committed int64
	peak           int64
	stopped        bool
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{}
	every(t, 5*time.Millisecond, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if !w.stopped {
			w.committed = min(w.end, w.committed+12) // 2,400 records a second
		}
	})
	return w
}

func (w *world) stop(stopped bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopped = stopped
}

func (w *world) append(n int64) int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	first := w.end
	w.end += n
	w.peak = max(w.peak, w.end-w.committed)
	return first
}

func (w *world) lag() (now, peak int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.end - w.committed, w.peak
}

func (w *world) Read(context.Context) (backpressure.Reading, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return backpressure.Reading{Partitions: []backpressure.Partition{{Topic: "data", Committed: w.committed, End: w.end}}}, nil
}

func every(t *testing.T, interval time.Duration, do func()) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(interval)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				do()
			}
		}
	}()
	stop = func() { cancel(); <-done }
	t.Cleanup(stop)
	return stop
}

type process struct {
	*sharelog.Member
	gate *backpressure.Gate

	mu     sync.Mutex
	demand int64 // records each 5 ms
	kinds  []sharelog.ChangeKind
	halt   func()
}

func config(cluster *cluster, w *world, name string) sharelog.Config {
	return sharelog.Config{
		Brokers: cluster.ListenAddrs(), Topic: topic, Bound: "group", Records: records, Member: name,
		Beat: beat, Lease: lease, Grace: grace, Source: w, Client: []kgo.Opt{kgo.Dialer(cluster.network.DialContext)},
	}
}

func start(t *testing.T, cluster *cluster, w *world, name string, demand int64) *process {
	t.Helper()
	return startWith(t, config(cluster, w, name), w, demand)
}

func startWith(t *testing.T, cfg sharelog.Config, w *world, demand int64) *process {
	t.Helper()
	p := &process{demand: demand}
	cfg.OnChange = p.note
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	member, err := sharelog.Join(ctx, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { member.Close() })
	credit, err := backpressure.NewCredit(records)
	if err != nil {
		t.Fatal(err)
	}
	p.Member = member
	p.gate, err = backpressure.New(backpressure.Config{
		Controller: credit, Share: member, Source: w, Interval: 10 * time.Millisecond, Grace: time.Minute,
	})
	if err != nil {
		t.Fatal(err)
	}
	if part := member.Part(); part != 0 {
		t.Errorf("%s has part %v before its gate is known", cfg.Member, part)
	}
	member.Attach(p.gate)
	p.run(t, w)
	return p
}

func (p *process) run(t *testing.T, w *world) {
	ctx, cancel := context.WithCancel(context.Background())
	var watch sync.WaitGroup
	watch.Go(func() { p.gate.Watch(ctx) })
	halt := every(t, 5*time.Millisecond, func() {
		n := p.gate.Admit(p.wants())
		if n == 0 {
			return
		}
		first := w.append(n)
		for i := range n {
			p.gate.Acked("data", 0, first+i)
		}
		p.gate.Done(n)
	})
	p.halt = func() { halt(); cancel(); watch.Wait() }
	t.Cleanup(p.halt)
}

func (p *process) kill() {
	p.halt()
	p.Close()
}

func (p *process) wants() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.demand
}

func (p *process) want(n int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.demand = n
}

func (p *process) note(change sharelog.Change) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.kinds = append(p.kinds, change.Kind)
}

func (p *process) told(kind sharelog.ChangeKind) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, k := range p.kinds {
		if k == kind {
			return true
		}
	}
	return false
}

func until(t *testing.T, what string, within time.Duration, ok func() bool) {
	t.Helper()
	begun := time.Now()
	for !ok() {
		if time.Since(begun) > within {
			t.Fatalf("not within %v: %s", within, what)
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Logf("%s after %v", what, time.Since(begun).Round(time.Millisecond))
}

func (w *world) check(t *testing.T) {
	t.Helper()
	if _, peak := w.lag(); peak > records || peak == 0 {
		t.Errorf("the lag reached %d of %d records", peak, records)
	}
}

type cluster struct {
	*kfake.Cluster
	network *kfake.VirtualNetwork
}

func inVirtualTime(t *testing.T, test func(t *testing.T, cluster *cluster, w *world), opts ...kfake.Opt) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		t.Cleanup(func() { time.Sleep(time.Minute) }) // closed clients have timers
		network := &kfake.VirtualNetwork{}
		fake, err := kfake.NewCluster(append(opts, kfake.Ports(9092), kfake.ListenFn(network.Listen))...)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(fake.Close)
		test(t, &cluster{fake, network}, newWorld(t))
	})
}

func (c *cluster) client(opts ...kgo.Opt) (*kgo.Client, error) {
	return kgo.NewClient(append(opts, kgo.SeedBrokers(c.ListenAddrs()...), kgo.Dialer(c.network.DialContext))...)
}

type wire struct {
	network *kfake.VirtualNetwork

	mu    sync.Mutex
	isCut bool
	conns []net.Conn
}

func (w *wire) dial(ctx context.Context, network, address string) (net.Conn, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.isCut {
		return nil, errors.New("the wire is cut")
	}
	conn, err := w.network.DialContext(ctx, network, address)
	if err == nil {
		w.conns = append(w.conns, conn)
	}
	return conn, err
}

func (w *wire) cut(cut bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.isCut = cut
	for _, conn := range w.conns {
		conn.Close()
	}
	w.conns = nil
}
