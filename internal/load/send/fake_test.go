package send

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/lagcontrol"
	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/load/loadtest"
	"kafkabench.example/kafka-bench/internal/measure/latency"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
	"kafkabench.example/kafka-bench/internal/plan/arrival"
	"kafkabench.example/kafka-bench/internal/plan/payload"
	"kafkabench.example/kafka-bench/internal/plan/unit"
)

type fakeKafka struct {
	driver.Driver
	axis     *load.Axis
	ackAfter func(now int64) time.Duration // nil: immediately
	outcome  func(i int) driver.Outcome    // nil: all acked; i counts produce calls

	mu       sync.Mutex
	log      [][]driver.Received
	produced []driver.Record // copies, in order of the calls
	at       []int64
	by       []int
	clients  int
	inFlight int
	most     int
	pending  sync.WaitGroup
}

func newFakeKafka(axis *load.Axis, partitions int) *fakeKafka {
	return &fakeKafka{axis: axis, log: make([][]driver.Received, partitions)}
}

func (k *fakeKafka) NewProducer(cfg driver.ProducerConfig) (driver.Producer, error) {
	k.clients++
	return &fakeProducer{k, cfg.OnDone, k.clients - 1}, nil
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

func (p *fakeProducer) Settings() []driver.Setting { return nil }
func (p *fakeProducer) Close()                     { p.kafka.pending.Wait() }

type bench struct {
	axis  *load.Axis
	kafka *fakeKafka
	cfg   Config
	ps    *Producers
	all   *latency.Collector
}

func newAxis() *load.Axis { return load.NewAxis(func() int64 { return time.Now().UnixNano() }) }

func perSecond(n int64) unit.Rate { return unit.Rate{Records: n, Per: time.Second} }

func inBubble(t *testing.T, rate int64, change func(*bench), f func(*testing.T, *bench)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		axis := newAxis()
		process, err := arrival.Constant(perSecond(max(rate, 1)))
		if err != nil {
			t.Fatal(err)
		}
		corpus, err := loadtest.HundredBytes()
		if err != nil {
			t.Fatal(err)
		}
		b := &bench{axis: axis, kafka: newFakeKafka(axis, 4), all: &latency.Collector{}}
		b.cfg = Config{
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
		if b.ps, err = Open(b.cfg); err != nil {
			t.Fatal(err)
		}
		b.ps.AddTo(b.all)
		f(t, b)
	})
}

func (b *bench) offer(window time.Duration) (warmup, measured snapshot.Sent) {
	b.axis.Set(time.Second, window)
	b.ps.Start()
	<-b.ps.Done()
	b.ps.Close()
	b.all.Collect()
	return b.ps.Sent()
}

func (b *bench) times(m latency.Metric) latency.Distribution { return b.all.Totals(true, m) }

func closedGate() *lagcontrol.Gate { return gateOf(shut{}) }

// gateOf returns a gate after its first reading: before that it is open.
func gateOf(c lagcontrol.Controller) *lagcontrol.Gate {
	g, err := lagcontrol.New(lagcontrol.Config{Controller: c})
	if err != nil {
		panic(err)
	}
	g.Report(g.Mark(), lagcontrol.Reading{})
	return g
}

type shut struct{}

func (shut) Decide(lagcontrol.Observation) lagcontrol.Decision { return lagcontrol.Decision{} }
