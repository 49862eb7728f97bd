package bench

import (
	"context"
	"fmt"
	"hash/crc32"
	"reflect"
	"sync"
	"time"
	"weak"

	"kafkabench.example/kafka-bench/internal/kafka/access"
	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/load/send"
	"kafkabench.example/kafka-bench/internal/plan/arrival"
	"kafkabench.example/kafka-bench/internal/plan/payload"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/run/remote"
)

type sending struct {
	scenario   scenario.Scenario
	driver     driver.Driver
	brokers    []string
	clusterID  string
	clientID   string // of all clients; "" names them after the run
	access     access.Access
	runID      string
	topic      string
	partitions int
	consumed   bool
	only       []int // the workers' numbers; nil is all

	axis     *load.Axis
	arrivals arrival.Process
	corpus   *payload.Corpus
	keys     *payload.Keys
	gate     *gatekeeper
	sleep    func(time.Duration)
}

func (s sending) config() send.Config {
	l, b := s.scenario.Load, s.scenario.Backpressure
	client := producerConfig(s.scenario, s.driver)
	client.Brokers, client.ClusterID, client.Access = s.brokers, s.clusterID, s.access
	client.ClientID, client.Topic = clientIDOf(s.clientID, s.runID), s.topic
	cfg := send.Config{
		Driver: s.driver, Client: client, SameID: s.clientID != "",
		Workers: l.Producers, Only: s.only, Clients: l.Clients, MaxBuffered: l.MaxBuffered,
		Arrivals: s.arrivals, Precise: l.Pacer == "precise",
		Partitions: s.partitions, Partitioning: l.Partitioning,
		Corpus: s.corpus, Keys: s.keys, RecordBytes: int(s.corpus.MeanBytes()) + int(l.Record.HeaderBytes()),
		Stamped: stamped(s.scenario), Header: l.Record.Header(), Consumed: s.consumed, Run: runNumber(s.runID),
		Volume: int64(l.Volume), Records: l.Count(), Round: l.Round,
		MaxPerS:     l.MaxRate.PerSecond(),
		MaxDeferred: b.MaxDeferred, Axis: s.axis, Sleep: s.sleep,
	}
	s.gate.admission(&cfg)
	return cfg
}

func producerConfig(s scenario.Scenario, d driver.Driver) driver.ProducerConfig {
	l := s.Load
	cfg := driver.ProducerConfig{
		Acks: acks(l.Acks), Compression: l.Compression, Level: l.Level,
		Linger: time.Duration(l.Linger), BatchBytes: int32(s.BatchBytes()), OneRecord: l.Batch == scenario.OneRecord,
		Idempotent: l.Idempotent, InFlight: inFlight(d, l.InFlight),
		DeliveryTimeout: time.Duration(l.DeliveryTimeout), Client: l.Client,
	}
	if cfg.OneRecord && driver.Lacks(d, driver.OneRecordBatches) { // see NeedsOf
		bound, _ := s.OneRecordBound(driver.LeastBatchBytes)
		cfg.OneRecord, cfg.BatchBytes, cfg.Linger = false, int32(bound), 0
	}
	return cfg
}

// inFlight returns 0 for a client without such a limit (see NeedsOf).
func inFlight(d driver.Driver, limit int) int {
	if driver.Lacks(d, driver.InFlightLimit) {
		return 0
	}
	return limit
}

// runNumber is the run's number in stamps.
func runNumber(runID string) uint32 { return crc32.ChecksumIEEE([]byte(runID)) }

func payloads(s scenario.Scenario) (*payload.Corpus, *payload.Keys, error) {
	corpus, err := corpusOf(s)
	if err != nil {
		return nil, nil, fmt.Errorf("making the payloads: %w", err)
	}
	keys, err := payload.NewKeys(keySpec(s.Load.Record))
	if err != nil {
		return nil, nil, fmt.Errorf("making the keys: %w", err)
	}
	return corpus, keys, nil
}

func corpusOf(s scenario.Scenario) (*payload.Corpus, error) {
	if p := s.Load.Record.Payload; p.File != "" {
		return p.ReadFile()
	}
	return lastCorpus.of(payloadSpec(s))
}

// lastCorpus is that of the run before, while something still uses it: runs of one process often have the same records.
var lastCorpus sharedCorpus

type sharedCorpus struct {
	mu     sync.Mutex
	spec   payload.Spec
	corpus weak.Pointer[payload.Corpus]
}

func (c *sharedCorpus) of(spec payload.Spec) (*payload.Corpus, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if corpus := c.corpus.Value(); corpus != nil && reflect.DeepEqual(c.spec, spec) {
		return corpus, nil
	}
	corpus, err := payload.NewCorpus(spec)
	if err == nil {
		c.spec, c.corpus = spec, weak.Make(corpus)
	}
	return corpus, err
}

// schedule includes the warm-up; nil for a closed loop.
func schedule(s scenario.Scenario) (arrival.Process, error) {
	if s.Load.Rate.IsMax() || s.Load.Producers == 0 {
		return nil, nil //nolint:nilnil // there is none
	}
	measured, err := process(s)
	if err != nil {
		return nil, fmt.Errorf("making the schedule: %w", err)
	}
	return arrival.WithWarmup(time.Duration(s.Phases.Warmup), measured), nil
}

func (s sending) open() (l remote.Load, err error) {
	l = remote.Load{Axis: s.axis, Partitions: s.partitions}
	if l.Producers, err = send.Open(s.config()); err != nil {
		return l, err
	}
	if s.gate != nil {
		l.Gate = s.gate.standing
	}
	l.Settings, l.Bounded = l.Producers.Settings(), l.Producers.Spent() != nil
	return l, nil
}

func (r *run) openSenders(ctx context.Context) (err error) {
	parts, assignments := []remote.Part{r.sendHere()}, []remote.Assignment{{Version: remote.Version}}
	if r.apart() {
		parts = r.children.Parts()
		if assignments, err = r.assignments(ctx); err != nil {
			return err
		}
	}
	producers, err := remote.OpenProducers(ctx, r.axis, parts, assignments)
	if err != nil {
		return err
	}
	r.producers = producers
	r.producers.AddTo(r.collector)
	return nil
}

func (r *run) sendHere() *remote.Here {
	return remote.NewHere(r.cfg.Probes, func(context.Context, remote.Assignment) (remote.Load, error) {
		return sending{
			scenario: r.cfg.Scenario, driver: r.cfg.Driver, brokers: r.seeds(), clusterID: r.clusterID(), clientID: r.clientID(), access: r.access(),
			runID: r.runID, topic: r.topic.Name, partitions: r.topic.Partitions, consumed: r.consumed(),
			only: r.portion.producers, axis: r.axis, arrivals: r.arrivals, corpus: r.corpus, keys: r.keys, gate: r.own, sleep: r.cfg.Sleep,
		}.open()
	})
}
