package bench

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"sync"
	"time"

	"kafka-bench/backpressure"
	"kafka-bench/internal/access"
	"kafka-bench/internal/arrival"
	"kafka-bench/internal/cluster"
	"kafka-bench/internal/driver"
	"kafka-bench/internal/latency"
	"kafka-bench/internal/load"
	"kafka-bench/internal/payload"
	"kafka-bench/internal/probe"
	"kafka-bench/internal/result"
)

// run is one run under way. The fields of a block belong to the goroutine of
// Run unless the block says otherwise.
type run struct {
	cfg     Config
	axis    *load.Axis
	writer  *result.Writer
	journal *journal

	admin     *cluster.Admin
	topic     cluster.Topic
	groupID   string
	from      []int64 // where the group starts in each partition; nil is at zero
	lagReader *probe.LagReader
	lag       *lagWatch
	gate      *backpressure.Gate
	arrivals  arrival.Process
	corpus    *payload.Corpus
	keys      *payload.Keys
	corpusNs  int64
	stamped   bool
	producers *load.Producers
	group     *load.Group // nil: nobody consumes
	collector *latency.Collector

	interrupted           bool
	startedNs, finishedNs int64
	drained               bool
	ends                  []int64        // of the partitions, once nothing is produced any more
	atStop                []load.Reached // when the drain ended
	atStart, atEnd        reading        // of the measured window
	warnings              []string
	grouped               bool    // the group may exist on the brokers
	leftBehind            []error // what could not be taken away again

	samplers sync.WaitGroup
	stop     chan struct{}
	peaks    peaks // the interval sampler's, until it has ended
}

// readyTimeout bounds how long the consumers may take to get their partitions.
const readyTimeout = 60 * time.Second

// prepare sets up everything that a run needs and waits until the consumers
// have their partitions. On an error nothing is left behind.
func prepare(ctx context.Context, cfg Config) (_ *run, err error) {
	r := &run{
		cfg: cfg, axis: load.NewAxis(), collector: &latency.Collector{},
		stop:    make(chan struct{}),
		stamped: stamped(cfg.Scenario),
	}
	defer func() {
		if err != nil {
			r.release()
			r.discard()
			err = errors.Join(append([]error{err}, r.leftBehind...)...)
		}
	}()
	for _, step := range []func(context.Context) error{
		r.makePayloads, r.makeSchedule, r.makeGate, r.openResult, r.openTopic, r.openProbes, r.openLoad,
	} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	return r, nil
}

func (r *run) makePayloads(context.Context) (err error) {
	began := time.Now()
	if r.corpus, err = payload.NewCorpus(payloadSpec(r.cfg.Scenario)); err != nil {
		return fmt.Errorf("making the payloads: %w", err)
	}
	if r.keys, err = payload.NewKeys(keySpec(r.cfg.Scenario.Load.Record)); err != nil {
		return fmt.Errorf("making the keys: %w", err)
	}
	r.corpusNs = int64(time.Since(began))
	return nil
}

func (r *run) makeSchedule(context.Context) error {
	s := r.cfg.Scenario
	if s.Load.Rate.IsMax() {
		return nil
	}
	process, err := process(s)
	if err != nil {
		return fmt.Errorf("making the schedule: %w", err)
	}
	r.arrivals = arrival.WithWarmup(time.Duration(s.Phases.Warmup), process)
	return nil
}

func (r *run) makeGate(context.Context) error {
	b := r.cfg.Scenario.Backpressure
	if b.Controller == "off" {
		return nil
	}
	controller, err := backpressure.NewHysteresis(b.MaxLag, b.ResumeLag)
	if err != nil {
		return err
	}
	r.gate = backpressure.NewGate(controller)
	return nil
}

func (r *run) openResult(context.Context) (err error) {
	s := r.cfg.Scenario
	if r.writer, err = result.Create(r.cfg.Out, s.Name, time.Now()); err != nil {
		return err
	}
	yaml, err := s.Marshal()
	if err != nil {
		return fmt.Errorf("writing the resolved scenario: %w", err)
	}
	if err := r.writer.Scenario(yaml); err != nil {
		return err
	}
	r.journal = newJournal(r.axis, r.writer, r.cfg.Watch)
	return nil
}

func (r *run) openTopic(ctx context.Context) (err error) {
	if r.admin, err = cluster.NewAdmin(r.cfg.Cluster.Bootstrap(), r.access()); err != nil {
		return err
	}
	t := r.cfg.Scenario.Topic
	name := "kafka-bench-" + r.cfg.Scenario.Name + "-" + r.writer.ID()
	r.groupID = name
	if t.Existing == "" {
		err = r.createTopic(ctx, name)
	} else {
		r.topic, err = r.admin.UseExisting(ctx, t.Existing)
	}
	if err != nil {
		return err
	}
	return r.admin.CheckRights(ctx, r.topic, r.cfg.Scenario.Consume.Consumers > 0)
}

// createTimeout bounds the creation of the run's topic.
const createTimeout = 30 * time.Second

// createTopic makes the run's topic. It is not to be interrupted: a request that
// was sent may be carried out though nobody waits for its answer, and a topic
// whose ID is not known can't be deleted. If the answer does not come, the topic
// is looked for by its name, which is the run's alone.
func (r *run) createTopic(ctx context.Context, name string) (err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), createTimeout)
	defer cancel()
	t := r.cfg.Scenario.Topic
	if r.topic, err = r.admin.CreateTopic(ctx, name, t.Partitions, t.Replication, t.Config); err == nil || r.topic.Name != "" || errors.Is(err, cluster.ErrRefused) {
		return err
	}
	look, cancelLook := context.WithTimeout(context.WithoutCancel(ctx), lagTimeout)
	defer cancelLook()
	if made, lookErr := r.admin.UseExisting(look, name); lookErr == nil {
		made.Existing = false
		r.topic = made
	}
	return err
}

// access is how the cluster lets the run's clients in.
func (r *run) access() access.Access { return cluster.AccessTo(r.cfg.Cluster) }

// denied says of an error that it is the cluster's refusal, where it is.
func (r *run) denied(who string, err error) error { return cluster.Denied(r.cfg.Cluster, who, err) }

func (r *run) openProbes(ctx context.Context) (err error) {
	r.lagReader, err = probe.NewLagReader(r.cfg.Cluster.Bootstrap(), r.access(), r.topic.Name, r.groupID, r.topic.Partitions)
	r.lag = &lagWatch{axis: r.axis, reader: r.lagReader, gate: r.gate, journal: r.journal}
	if err != nil || !r.topic.Existing || r.cfg.Scenario.Consume.Consumers == 0 {
		return err
	}
	// The group of this run starts behind what others have written, by a
	// commit of its own, so that no record can slip between.
	if r.from, err = r.lagReader.Ends(ctx); err != nil {
		return r.denied("the run's group", err)
	}
	r.grouped = true
	return r.denied("the run's group", r.lagReader.Commit(ctx, r.from))
}

// openLoad opens the consumers first and waits for them, then the producers.
func (r *run) openLoad(ctx context.Context) (err error) {
	if r.cfg.Scenario.Consume.Consumers > 0 {
		r.grouped = true
		if r.group, err = load.StartGroup(r.groupConfig()); err != nil {
			return err
		}
		ready, cancel := context.WithTimeout(ctx, readyTimeout)
		defer cancel()
		if err := r.group.AwaitReady(ready); err != nil {
			return r.denied("the run's consumers", err)
		}
		for _, recorder := range r.group.Recorders() {
			r.collector.Add(recorder)
		}
	}
	if r.producers, err = load.OpenProducers(r.producersConfig()); err != nil {
		return err
	}
	for _, recorder := range r.producers.Recorders() {
		r.collector.Add(recorder)
	}
	return nil
}

// runNumber is the run's number in the stamps of its records: a checksum of the
// run's ID.
func (r *run) runNumber() uint32 { return crc32.ChecksumIEEE([]byte(r.writer.ID())) }

func (r *run) groupConfig() load.GroupConfig {
	c := r.cfg.Scenario.Consume
	return load.GroupConfig{
		Driver: r.cfg.Driver,
		Client: driver.ConsumerConfig{
			Brokers: r.cfg.Cluster.Bootstrap(), Access: r.access(), ClientID: "kafka-bench-" + r.writer.ID(),
			Topic: r.topic.Name, Group: r.groupID, Protocol: c.Protocol,
			FetchMinBytes: int32(c.Fetch.MinBytes), FetchMaxBytes: int32(c.Fetch.MaxBytes),
			FetchMaxPartitionBytes: int32(c.Fetch.MaxPartitionBytes), FetchMaxWait: time.Duration(c.Fetch.MaxWait),
		},
		Members: c.Consumers, Producers: r.cfg.Scenario.Load.Producers, Partitions: r.topic.Partitions, From: r.from,
		ByPartition: c.Parallel == "partition",
		Plan:        plan(c), CommitEvery: time.Duration(c.Commit.Interval),
		Seed: r.cfg.Scenario.Load.Record.Seed,
		Axis: r.axis, Stamped: r.stamped, ClosedLoop: r.arrivals == nil, Run: r.runNumber(),
		OnEvent: r.journal.now,
	}
}

func (r *run) producersConfig() load.ProducersConfig {
	l, b := r.cfg.Scenario.Load, r.cfg.Scenario.Backpressure
	cfg := load.ProducersConfig{
		Driver: r.cfg.Driver,
		Client: driver.ProducerConfig{
			Brokers: r.cfg.Cluster.Bootstrap(), Access: r.access(), ClientID: "kafka-bench-" + r.writer.ID(), Topic: r.topic.Name,
			Acks: acks(l.Acks), Compression: l.Compression, Level: l.Level,
			Linger: time.Duration(l.Linger), BatchBytes: int32(l.Batch),
			Idempotent: l.Idempotent, InFlight: l.InFlight, DeliveryTimeout: time.Duration(l.DeliveryTimeout),
		},
		Workers: l.Producers, Clients: l.Clients, MaxBuffered: l.MaxBuffered,
		Arrivals: r.arrivals, Precise: l.Pacer == "precise",
		Partitions: r.topic.Partitions, Partitioning: l.Partitioning,
		Corpus: r.corpus, Keys: r.keys, RecordBytes: int(r.corpus.MeanBytes()),
		Stamped: r.stamped, Consumed: r.group != nil, Run: r.runNumber(),
		Gate: r.gate, MaxDeferred: b.MaxDeferred, Axis: r.axis,
	}
	if b.Excess == "shed" {
		cfg.Excess = load.Shed
	}
	return cfg
}

// release closes whatever is open and takes the run's topic and group away again.
// It may be called at any stage, and more than once.
func (r *run) release() {
	if r.producers != nil {
		r.producers.Close()
	}
	if r.group != nil {
		stop, cancel := context.WithTimeout(context.Background(), stopTimeout)
		r.group.Stop(stop)
		cancel()
	}
	if r.lagReader != nil {
		r.lagReader.Close()
	}
	r.removeTopic()
}

// removeTimeout bounds how long the clean-up may take when the cluster does not
// answer.
const removeTimeout = 10 * time.Second

func (r *run) removeTopic() {
	if r.admin == nil {
		return
	}
	defer func() {
		r.admin.Close()
		r.admin = nil
	}()
	ctx, cancel := context.WithTimeout(context.Background(), r.patience(removeTimeout))
	defer cancel()
	if !r.cfg.KeepTopics && r.topic.Name != "" {
		if err := r.admin.DeleteTopic(ctx, r.topic); err != nil {
			r.leftBehind = append(r.leftBehind, fmt.Errorf("the run's topic %s was not deleted: %w", r.topic.Name, err))
		}
	}
	if r.grouped && !r.cfg.KeepTopics {
		_ = r.admin.DeleteGroup(ctx, r.groupID) // expires by itself where it can't be deleted
	}
}

// discard removes the directory of a run that never started.
func (r *run) discard() {
	if r.writer != nil {
		_ = r.writer.Discard()
	}
}
