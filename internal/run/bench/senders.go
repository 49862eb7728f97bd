package bench

import (
	"context"
	"fmt"
	"hash/crc32"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/access"
	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/load/send"
	"kafkabench.example/kafka-bench/internal/plan/arrival"
	"kafkabench.example/kafka-bench/internal/plan/payload"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/run/remote"
)

// sending is all that the workers on the sending side are made of, whichever
// process they are in.
type sending struct {
	scenario   scenario.Scenario
	driver     driver.Driver
	brokers    []string
	access     access.Access
	runID      string
	topic      string
	partitions int
	consumed   bool
	only       []int // the numbers of the workers that are made here; nil is all

	axis     *load.Axis
	arrivals arrival.Process
	corpus   *payload.Corpus
	keys     *payload.Keys
	gate     *gatekeeper // nil: no backpressure
	sleep    func(time.Duration)
}

// config is what the workers are opened with.
func (s sending) config() send.Config {
	l, b := s.scenario.Load, s.scenario.Backpressure
	client := producerConfig(s.scenario, s.driver)
	client.Brokers, client.Access, client.ClientID, client.Topic = s.brokers, s.access, "kafka-bench-"+s.runID, s.topic
	cfg := send.Config{
		Driver: s.driver, Client: client,
		Workers: l.Producers, Only: s.only, Clients: l.Clients, MaxBuffered: l.MaxBuffered,
		Arrivals: s.arrivals, Precise: l.Pacer == "precise",
		Partitions: s.partitions, Partitioning: l.Partitioning,
		Corpus: s.corpus, Keys: s.keys, RecordBytes: int(s.corpus.MeanBytes()),
		Stamped: stamped(s.scenario), Consumed: s.consumed, Run: runNumber(s.runID),
		Volume: int64(l.Volume), Records: l.Count(), Round: l.Round,
		MaxDeferred: b.MaxDeferred, Axis: s.axis, Sleep: s.sleep,
	}
	s.gate.admission(&cfg)
	return cfg
}

// producerConfig is what a scenario says of its producing clients.
func producerConfig(s scenario.Scenario, d driver.Driver) driver.ProducerConfig {
	l := s.Load
	return driver.ProducerConfig{
		Acks: acks(l.Acks), Compression: l.Compression, Level: l.Level,
		Linger: time.Duration(l.Linger), BatchBytes: int32(s.BatchBytes()), OneRecord: l.Batch == scenario.OneRecord,
		Idempotent: l.Idempotent, InFlight: inFlight(d, l.InFlight),
		DeliveryTimeout: time.Duration(l.DeliveryTimeout), Client: l.Client,
	}
}

// inFlight is the limit of requests in flight, or none for a client that has no such
// limit: the scenario, too, has its default then (see NeedsOf).
func inFlight(d driver.Driver, limit int) int {
	if _, lacking := d.Lacks()[driver.InFlightLimit]; lacking {
		return 0
	}
	return limit
}

// runNumber is a run's number in the stamps of its records: a checksum of the run's
// ID.
func runNumber(runID string) uint32 { return crc32.ChecksumIEEE([]byte(runID)) }

// payloads are the values and keys of a scenario's records.
func payloads(s scenario.Scenario) (*payload.Corpus, *payload.Keys, error) {
	corpus, err := payload.NewCorpus(payloadSpec(s))
	if err != nil {
		return nil, nil, fmt.Errorf("making the payloads: %w", err)
	}
	keys, err := payload.NewKeys(keySpec(s.Load.Record))
	if err != nil {
		return nil, nil, fmt.Errorf("making the keys: %w", err)
	}
	return corpus, keys, nil
}

// schedule is when a scenario's records are due, warm-up included; nil for a closed
// loop.
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

// open opens the workers.
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

// openSenders opens the sending side, wherever it is to be.
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

// sendHere is the sending side in this process.
func (r *run) sendHere() *remote.Here {
	return remote.NewHere(r.cfg.Probes, func(context.Context, remote.Assignment) (remote.Load, error) {
		return sending{
			scenario: r.cfg.Scenario, driver: r.cfg.Driver, brokers: r.cfg.Cluster.Bootstrap(), access: r.access(),
			runID: r.id(), topic: r.topic.Name, partitions: r.topic.Partitions, consumed: r.consumed(),
			only: r.workersHere(), axis: r.axis, arrivals: r.arrivals, corpus: r.corpus, keys: r.keys, gate: r.own, sleep: r.cfg.Sleep,
		}.open()
	})
}

// workersHere are the numbers of the workers that a part has; nil is all.
func (r *run) workersHere() []int {
	if r.part == nil {
		return nil
	}
	producers, _ := r.part.plan.Workers(r.cfg.Scenario, r.part.number)
	return append([]int{}, producers...)
}
