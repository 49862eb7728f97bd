package load

import (
	"context"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"kafkabench.example/kafka-bench/backpressure"
	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/measure/latency"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
	"kafkabench.example/kafka-bench/internal/plan/arrival"
	"kafkabench.example/kafka-bench/internal/plan/payload"
	"kafkabench.example/kafka-bench/internal/plan/unit"
)

// fakeKafka is a log in memory and a driver for it. Its acknowledgements take as
// long as ackAfter says, which makes a broker out of it that is slow or stalled
// at will. It runs in virtual time.
type fakeKafka struct {
	axis     *Axis
	ackAfter func(now int64) time.Duration // nil: at once
	outcome  func(i int) driver.Outcome    // nil: all acked; i counts produce calls

	mu       sync.Mutex
	log      [][]driver.Received // by partition
	produced []driver.Record     // as they were produced, with copies of their bytes
	at       []int64             // when
	by       []int               // by which client
	clients  int
	inFlight int
	most     int // records in flight at once, ever
	pending  sync.WaitGroup
}

func newFakeKafka(axis *Axis, partitions int) *fakeKafka {
	return &fakeKafka{axis: axis, log: make([][]driver.Received, partitions)}
}

func (k *fakeKafka) Name() string                        { return "fake" }
func (k *fakeKafka) Version() string                     { return "0" }
func (k *fakeKafka) Lacks() map[driver.Capability]string { return nil }

func (k *fakeKafka) NewProducer(cfg driver.ProducerConfig) (driver.Producer, error) {
	k.clients++
	return &fakeProducer{k, cfg.OnDone, k.clients - 1}, nil
}

func (k *fakeKafka) NewConsumer(cfg driver.ConsumerConfig) (driver.Consumer, error) {
	c := &fakeConsumer{kafka: k, cfg: cfg, next: make([]int, len(k.log)), paused: make(map[int32]bool)}
	all := make([]int32, len(k.log))
	for i := range all {
		all[i] = int32(i)
	}
	if cfg.Group == "" && cfg.Partitions != nil {
		all = slices.Sorted(maps.Keys(cfg.Partitions))
		for i := range c.next {
			c.next[i] = len(k.log[i]) // what is not assigned is read already
		}
		for id, from := range cfg.Partitions {
			c.next[id] = int(from)
		}
	}
	go func() {
		cfg.OnAssigned(all)
		c.mu.Lock()
		defer c.mu.Unlock()
		c.assigned = true
	}()
	return c, nil
}

type fakeProducer struct {
	kafka  *fakeKafka
	onDone func(driver.Done)
	client int
}

func (p *fakeProducer) Produce(r *driver.Record) {
	k := p.kafka
	k.mu.Lock()
	defer k.mu.Unlock()
	now := k.axis.Now()
	kept := *r
	kept.Key, kept.Value = append([]byte(nil), r.Key...), append([]byte(nil), r.Value...)
	i := len(k.produced)
	k.produced, k.at, k.by = append(k.produced, kept), append(k.at, now), append(k.by, p.client)
	k.inFlight++
	k.most = max(k.most, k.inFlight)
	d := driver.Done{Record: r, Tag: r.Tag, Outcome: driver.Acked, Offset: -1}
	if k.outcome != nil {
		d.Outcome = k.outcome(i)
	}
	if d.Outcome == driver.Acked {
		d.Offset = int64(len(k.log[r.Partition]))
		k.log[r.Partition] = append(k.log[r.Partition], driver.Received{Offset: d.Offset, Key: kept.Key, Value: kept.Value})
	}
	var wait time.Duration
	if k.ackAfter != nil {
		wait = k.ackAfter(now)
	}
	k.pending.Go(func() {
		time.Sleep(wait)
		k.mu.Lock()
		k.inFlight--
		k.mu.Unlock()
		p.onDone(d)
	})
}

func (p *fakeProducer) Flush(context.Context) error { return nil }
func (p *fakeProducer) Settings() []driver.Setting  { return nil }
func (p *fakeProducer) Close()                      { p.kafka.pending.Wait() }

type fakeConsumer struct {
	kafka *fakeKafka
	cfg   driver.ConsumerConfig

	mu        sync.Mutex
	assigned  bool
	next      []int
	paused    map[int32]bool
	pauses    int
	committed map[int32]int64
}

func (c *fakeConsumer) Poll(ctx context.Context) ([]driver.Chunk, error) {
	for ctx.Err() == nil {
		if chunks := c.ready(); len(chunks) > 0 {
			return chunks, nil
		}
		time.Sleep(time.Millisecond)
	}
	return nil, ctx.Err()
}

func (c *fakeConsumer) ready() []driver.Chunk {
	c.kafka.mu.Lock()
	defer c.kafka.mu.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.assigned {
		return nil
	}
	var chunks []driver.Chunk
	for p, log := range c.kafka.log {
		if n := c.next[p]; n < len(log) && !c.paused[int32(p)] {
			chunks = append(chunks, driver.Chunk{Partition: int32(p), Records: log[n:len(log):len(log)]})
			c.next[p] = len(log)
		}
	}
	return chunks
}

// commitTakes is how long a commit takes, of the tests' own time.
const commitTakes = 3 * time.Millisecond

func (c *fakeConsumer) Commit(_ context.Context, offsets map[int32]int64) error {
	time.Sleep(commitTakes)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.committed == nil {
		c.committed = make(map[int32]int64)
	}
	for p, at := range offsets {
		c.committed[p] = at
	}
	return nil
}

// committedAt is the offset that was committed for a partition.
func (c *fakeConsumer) committedAt(p int) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.committed[int32(p)]
}

// pausedNow is the number of partitions that are paused.
func (c *fakeConsumer) pausedNow() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.paused)
}

func (c *fakeConsumer) Settings() []driver.Setting { return nil }
func (c *fakeConsumer) Close()                     {}

func (c *fakeConsumer) Pause(partitions ...int32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pauses++
	for _, p := range partitions {
		c.paused[p] = true
	}
}

func (c *fakeConsumer) Resume(partitions ...int32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range partitions {
		delete(c.paused, p)
	}
}

// bench is a sending side on a fake Kafka, in virtual time.
type bench struct {
	axis  *Axis
	kafka *fakeKafka
	cfg   ProducersConfig
	ps    *Producers
	all   *latency.Collector
}

// perSecond is a constant rate.
func perSecond(n int64) unit.Rate { return unit.Rate{Records: n, Per: time.Second} }

// hundredBytes is the corpus of records of 100 bytes, made once: it takes longer than
// most of the tests.
var hundredBytes = sync.OnceValues(func() (*payload.Corpus, error) {
	sizes := payload.Sizes{Distribution: "fixed", Values: []int{100}}
	return payload.NewCorpus(payload.Spec{Class: "zeros", Stamped: true, Sizes: sizes})
})

// inBubble runs f with a sending side of 2 workers on 4 partitions, in virtual
// time; change adapts it before it is opened.
func inBubble(t *testing.T, rate int64, change func(*bench), f func(*testing.T, *bench)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		axis := NewAxis(nil)
		process, err := arrival.Constant(perSecond(max(rate, 1)))
		if err != nil {
			t.Fatal(err)
		}
		corpus, err := hundredBytes()
		if err != nil {
			t.Fatal(err)
		}
		b := &bench{axis: axis, kafka: newFakeKafka(axis, 4), all: &latency.Collector{}}
		b.cfg = ProducersConfig{
			Driver: b.kafka, Workers: 2, MaxBuffered: 10_000,
			Arrivals:   arrival.WithWarmup(time.Second, process),
			Partitions: 4, Partitioning: "round-robin",
			Corpus: corpus, Keys: &payload.Keys{}, RecordBytes: 100, Stamped: true, Run: 7,
			MaxDeferred: 1_000_000, Axis: axis,
		}
		if rate == 0 {
			b.cfg.Arrivals = nil
		}
		if change != nil {
			change(b)
		}
		if b.ps, err = OpenProducers(b.cfg); err != nil {
			t.Fatal(err)
		}
		for _, r := range b.ps.Recorders() {
			b.all.Add(r)
		}
		f(t, b)
	})
}

// offer runs a warm-up of a second and a measured window, and settles.
func (b *bench) offer(window time.Duration) (warmup, measured snapshot.Sent) {
	b.axis.Set(time.Second, window)
	b.ps.Start()
	<-b.ps.Done()
	b.ps.Close()
	b.all.Collect()
	return b.ps.Sent()
}

func (b *bench) times(m latency.Metric) latency.Distribution { return b.all.Totals(true, m) }

// closedGate is a gate that a controller has shut.
func closedGate() *backpressure.Gate {
	g, err := backpressure.New(backpressure.Config{Controller: shut{}})
	if err != nil {
		panic(err)
	}
	g.Report(g.Mark(), backpressure.Reading{})
	return g
}

type shut struct{}

func (shut) Decide(backpressure.Observation) backpressure.Decision { return backpressure.Decision{} }

func newTestRand() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }
