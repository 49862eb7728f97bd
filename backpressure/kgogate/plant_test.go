package kgogate_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kafkabench.example/kafka-bench/backpressure"
	"kafkabench.example/kafka-bench/backpressure/kgogate"
)

type plant struct {
	*testing.T
	cluster *kfake.Cluster
	network *kfake.VirtualNetwork
	client  *kgo.Client
	delay   time.Duration

	away       atomic.Bool // brokers close the connection on each produce request
	loseAnswer atomic.Bool // the next answer on a connection of client is lost, and the connection with it

	mu       sync.Mutex
	promised []string // "value" or "value: error", in the order of the promises
}

func inVirtualTime(t *testing.T, test func(p *plant), opts ...kgo.Opt) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := &plant{T: t, network: &kfake.VirtualNetwork{}}
		// Close of a client does not wait for its slow requests. They end during this sleep: the
		// bubble's clock stops when this function returns.
		defer time.Sleep(time.Minute)
		var err error
		p.cluster, err = kfake.NewCluster(kfake.NumBrokers(1), kfake.ListenFn(p.network.Listen),
			kfake.SeedTopics(2, "orders"), kfake.Ports(9092))
		if err != nil {
			t.Fatal(err)
		}
		defer p.cluster.Close()
		p.client = p.newClient(append([]kgo.Opt{
			kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerLinger(0), kgo.Dialer(p.dialSlow),
		}, opts...)...)
		defer p.client.Close()
		p.cluster.ControlKey(int16(kmsg.Produce), func(kmsg.Request) (kmsg.Response, error, bool) {
			p.cluster.KeepControl()
			if p.away.Load() {
				return nil, errAway, true
			}
			return nil, nil, false
		})
		test(p)
	})
}

func (p *plant) newClient(opts ...kgo.Opt) *kgo.Client {
	p.Helper()
	client, err := kgo.NewClient(append([]kgo.Opt{
		kgo.SeedBrokers(p.cluster.ListenAddrs()...), kgo.DisableClientMetrics(), kgo.Dialer(p.network.DialContext),
	}, opts...)...)
	if err != nil {
		p.Fatal(err)
	}
	return client
}

func (p *plant) dialSlow(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := p.network.DialContext(ctx, network, address)
	return bad{conn, p.delay, &p.loseAnswer}, err
}

var errAway = errors.New("away")

type bad struct {
	net.Conn
	delay time.Duration
	lose  *atomic.Bool
}

func (b bad) Write(data []byte) (int, error) {
	time.Sleep(b.delay)
	return b.Conn.Write(data)
}

func (b bad) Read(into []byte) (int, error) {
	n, err := b.Conn.Read(into)
	if b.lose.CompareAndSwap(true, false) {
		_ = b.Conn.Close()
		return 0, io.EOF
	}
	return n, err
}

// gate is a producer's gate, whose readings are those that report gives.
type gate struct {
	*backpressure.Gate
	cfg     backpressure.Config
	pending atomic.Pointer[backpressure.Reading]
}

const everyReading = 10 * time.Millisecond

var errNoReport = errors.New("nothing was reported")

func (p *plant) gate(maxLag int64) *gate {
	g := &gate{cfg: backpressure.Config{
		Controller: backpressure.Credit{MaxLag: maxLag}, Interval: everyReading, Grace: 1000 * time.Hour,
	}}
	g.pending.Store(&backpressure.Reading{Partitions: []backpressure.Partition{}})
	g.cfg.Source = backpressure.SourceFunc(func(context.Context) (backpressure.Reading, error) {
		if r := g.pending.Load(); r != nil {
			return *r, nil
		}
		return backpressure.Reading{}, errNoReport
	})
	return g
}

func (g *gate) Open() bool { return g.Stats().Open }

func (g *gate) read(r backpressure.Reading) {
	g.pending.Store(&r)
	time.Sleep(everyReading)
	synctest.Wait()
	g.pending.Store(nil)
}

func report(g *gate, lag int64) { g.read(backpressure.Reading{Lag: lag}) }

func (p *plant) producer(g *gate, cfg kgogate.Config) *kgogate.Producer {
	p.Helper()
	cfg.Gate = g.cfg
	producer, err := kgogate.Open(context.Background(), p.client, cfg)
	if err != nil {
		p.Fatal(err)
	}
	p.Cleanup(producer.Close)
	g.Gate = producer.Gate()
	synctest.Wait()
	g.pending.Store(nil)
	return producer
}

func (p *plant) produce(to *kgogate.Producer, first, end int) {
	for i := first; i < end; i++ {
		to.Produce(context.Background(), record(i), p.promise)
	}
}

func record(i int) *kgo.Record {
	return &kgo.Record{Topic: "orders", Value: strconv.AppendInt(nil, int64(i), 10)}
}

func (p *plant) promise(r *kgo.Record, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	said := string(r.Value)
	if err != nil {
		said += ": " + err.Error()
	}
	p.promised = append(p.promised, said)
}

// Promises with and without an error run on two goroutines, so each kind is compared in its own
// order.
func (p *plant) wantPromised(want ...string) {
	p.Helper()
	p.rest()
	p.mu.Lock()
	defer p.mu.Unlock()
	if got, want := p.byOutcome(p.promised), p.byOutcome(want); got != want {
		p.Errorf("promises %s, want %s", got, want)
	}
	p.promised = nil
}

func (p *plant) byOutcome(promised []string) string {
	failed := slices.DeleteFunc(slices.Clone(promised), func(s string) bool { return !strings.Contains(s, ": ") })
	acked := slices.DeleteFunc(slices.Clone(promised), func(s string) bool { return strings.Contains(s, ": ") })
	return fmt.Sprintf("%q and %q", failed, acked)
}

func (p *plant) rest() {
	time.Sleep(100 * time.Millisecond)
	synctest.Wait()
}

func (p *plant) wantStats(producer *kgogate.Producer, want string) {
	p.Helper()
	s := producer.Stats()
	got := fmt.Sprintf("produced %d acked %d", s.Produced, s.Acked)
	for _, n := range []struct {
		name string
		n    int64
	}{
		{"failed", s.Failed}, {"unknown", s.Unknown}, {"deferred", s.Deferred}, {"abandoned", s.Abandoned},
		{"gate", s.Shed["gate"]}, {"queue", s.Shed["queue"]},
		{"degrade", s.Shed["degrade"]}, {"close", s.Shed["close"]},
	} {
		if n.n != 0 {
			got += fmt.Sprintf(" %s %d", n.name, n.n)
		}
	}
	if got != want {
		p.Errorf("stats %q, want %q", got, want)
	}
}
