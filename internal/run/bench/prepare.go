package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/access"
	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/kafka/probe"
	"kafkabench.example/kafka-bench/internal/kafka/runname"
	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/load/receive"
	"kafkabench.example/kafka-bench/internal/measure/latency"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
	"kafkabench.example/kafka-bench/internal/plan/arrival"
	"kafkabench.example/kafka-bench/internal/plan/payload"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/judge"
	"kafkabench.example/kafka-bench/internal/run/observe"
	"kafkabench.example/kafka-bench/internal/run/remote"
)

type base struct {
	cfg      Config
	verified []string          // addresses of an existing cluster, see verifyCluster
	asked    scenario.Scenario // the scenario before the disk bounded it
	recorded result.Settings
	axis     *load.Axis
	writer   *result.Writer
	journal  *observe.Journal

	admin    *cluster.Admin
	topic    cluster.Topic
	groupIDs []string
	from     []int64 // where the groups start, by partition; nil is zero
	// readTo is where a run without producers stops in each partition; nil with producers, or if
	// others keep writing.
	readTo []int64

	couldNotLeave bool // members may have ended without leaving the group

	runID   string
	named   runname.Name // of the topics and groups that the run creates
	portion portion
	offsets load.Offsets // of the clocks of other agents' producers; nil without agents
}

// Only the goroutine of Run uses the fields of run, unless a block says otherwise.
type run struct {
	base
	lagReader *probe.LagReader
	own       *gatekeeper // of this process; nil if it has none
	arrivals  arrival.Process
	corpus    *payload.Corpus
	keys      *payload.Keys
	corpusNs  int64
	fill      *judge.Fill // nil if the run fills nothing
	filledIn  []int64     // by partition
	stamped   bool
	children  remote.Children // of the producers
	cells     cells           // of the consumers' processes
	producers *remote.Producers
	groups    remote.Groups
	queue     *queue
	collector *latency.Collector
	plan      plan

	observer  *observe.Observer
	lag       *observe.Lag
	brokers   *observe.Brokers   // nil without metrics
	brokerLog *observe.BrokerLog // of a coordinator; nil if the brokers are not local
	faults    *faults
	guard     *guarded // nil if the run has no guard
	machine   *observe.Machine
	intervals *observe.Intervals
	changes   *observe.Changes
	looks     *observe.Looks

	started               bool
	interrupted           bool
	startedNs, finishedNs int64
	beganNs               int64
	lateAtFinish          int64 // first deliveries from the window's end until finishedNs
	drained               bool
	ends                  []int64                 // of the partitions, final
	seen                  seenEnds                // before they are final
	atStop                [][]snapshot.Reached    // when the drain ended, by group
	atStart, atEnd        observe.Reading         // of the measured window
	membersBefore         []snapshot.MemberCounts // before consumers were released with the window; else nil
	openedNs              int64                   // when the first consumers were opened
	readyNs               int64                   // how long consumers took to get their partitions
	letGoNs               int64                   // when a phase released held consumers; 0 if none did
	lookedAtEnd           sync.WaitGroup
	windowEnd             *result.WindowEnd
	pulsed                result.Pulse // the agents' last pulse while they ran
	ackedByAll            []int64      // records of all agents by partition, once known; nil without agents
	held                  *judge.Held  // when the measured window began; nil if the groups read no earlier records
	warnings              []string
	grouped               bool    // the groups may exist on the brokers
	leftBehind            []error // what could not be removed
	unwatched             string  // why the brokers' free disk is not watched; "" if it is
}

func (b *base) readOnly() bool { return b.cfg.Scenario.Load.Producers == 0 }

func (b *base) manual() bool { return b.cfg.Scenario.Consume.Assignment == "manual" }

const readyTimeout = 60 * time.Second

// After an error nothing is left behind.
func prepare(ctx context.Context, cfg Config, g *guarded) (*run, error) {
	r := newRun(cfg)
	r.guard = g
	return r, r.prepare(ctx, r.checkQueue, r.makePayloads, r.makeSchedule, r.openResult, r.describeEarly, r.boundStored,
		r.verifyCluster, r.openGuard, r.openTopic, r.describeEarly,
		r.openProbes, r.fillTopic, r.beginReading, r.makeGate,
		r.startProcesses, r.verifyCluster, r.openGroups, r.awaitReady, r.verifyCluster, r.openSenders,
		r.prepareFaults, r.choosePlan, r.openObservers, r.readFirstLag)
}

func newRun(cfg Config) *run {
	r := &run{
		base:      base{cfg: cfg, asked: cfg.Scenario, axis: load.NewAxis(cfg.Probes.Clock())},
		collector: &latency.Collector{},
		stamped:   stamped(cfg.Scenario) && (cfg.Scenario.Load.Producers > 0 || cfg.Scenario.Filled()),
	}
	r.observer = observe.New(r.axis)
	return r
}

func (r *run) prepare(ctx context.Context, steps ...func(context.Context) error) (err error) {
	defer func() {
		if err != nil {
			r.release()
			r.discard()
			err = errors.Join(append([]error{err}, r.leftBehind...)...)
		}
	}()
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return early(ctx, err, "the run was being prepared")
		}
	}
	return nil
}

// earlyEnd unwraps to context.Canceled.
type earlyEnd struct{ while string }

func (e *earlyEnd) Error() string {
	return "interrupted while " + e.while + "; nothing was measured"
}

func (e *earlyEnd) Unwrap() error { return context.Canceled }

func early(ctx context.Context, err error, while string) error {
	if told := (*earlyEnd)(nil); ctx.Err() == nil || !errors.Is(err, context.Canceled) || errors.As(err, &told) {
		return err
	}
	return &earlyEnd{while: while}
}

func (r *run) makePayloads(context.Context) (err error) {
	s := r.cfg.Scenario
	if s.Load.Record.Payload.File != "" && !r.portion.whole() {
		return ErrFileWithAgents
	}
	began := time.Now()
	if r.corpus, r.keys, err = payloads(s); err != nil {
		return err
	}
	r.corpusNs = int64(time.Since(began))
	if repeats := repeatsInBatch(s, r.corpus); repeats != "" {
		r.warnings = append(r.warnings, repeats)
	}
	return nil
}

// ErrFileWithAgents refuses the records of a file in a run of agents: a plan that came from another machine must not
// name files of this one.
var ErrFileWithAgents = errors.New("load.record.payload.file: agents do not have the file; run without --agents, or choose a class of payload")

// A codec finds a record that a batch has twice.
func repeatsInBatch(s scenario.Scenario, corpus *payload.Corpus) string {
	if corpus.File() == nil || s.Load.Compression == "none" || corpus.Bytes() >= int64(s.BatchBytes()) {
		return ""
	}
	return fmt.Sprintf("load.record.payload.file: its %s of records are less than a batch of %s: in a full batch they repeat, and compress better than different records",
		unit.Bytes(corpus.Bytes()), s.BatchBytes())
}

func (r *run) makeSchedule(context.Context) (err error) {
	r.arrivals, err = schedule(r.cfg.Scenario)
	return err
}

func (b *base) openResult(context.Context) (err error) {
	s := b.cfg.Scenario
	if b.writer, err = result.CreatePart(b.cfg.Out, s.Name, b.runID, time.Now()); err != nil {
		return err
	}
	b.runID = b.writer.ID()
	yaml, err := s.Marshal()
	if err != nil {
		return fmt.Errorf("writing the resolved scenario: %w", err)
	}
	if err := b.writer.Scenario(yaml); err != nil {
		return err
	}
	if b.recorded, err = result.SettingsOf(b.asked); err != nil {
		return err
	}
	b.journal = observe.NewJournal(b.axis, b.writer, b.cfg.Watch)
	return nil
}

// describeEarly writes what is known before the time axis is set, for a run that fails before that.
func (r *run) describeEarly(context.Context) error {
	info := r.info()
	info.StartedAt, info.Phases = time.Time{}, nil
	return r.writer.Describe(info, r.recorded)
}

// verifyCluster asks all brokers of an existing cluster for its ID again: since the cluster was found, an address may
// lead to another one. Those that do not answer are not used.
func (b *base) verifyCluster(ctx context.Context) (err error) {
	if id := b.clusterID(); id != "" {
		b.verified, err = cluster.VerifyID(ctx, b.cfg.Cluster.Bootstrap(), id, b.access())
	}
	return err
}

// seeds returns the addresses from which the run's clients start.
func (b *base) seeds() []string {
	if b.verified != nil {
		return b.verified
	}
	return b.cfg.Cluster.Bootstrap()
}

// clusterID returns the ID that clients must find, or "" for a cluster of the tool.
func (b *base) clusterID() string {
	if info := b.cfg.Cluster.Info(); info.Kind == cluster.KindExisting {
		return info.ID
	}
	return ""
}

// clientID returns the client ID of each producer and consumer, or "" if clients are named after the run. On a cluster
// of other machines, quotas need an ID that is known before the run.
func (b *base) clientID() string {
	elsewhere := func(addr string) bool { return !cluster.OnThisMachine(addr) }
	if b.cfg.ClientID == "" && b.clusterID() != "" && slices.ContainsFunc(b.seeds(), elsewhere) {
		return "kafka-bench"
	}
	return b.cfg.ClientID
}

func clientIDOf(chosen, runID string) string { return cmp.Or(chosen, "kafka-bench-"+runID) }

func (b *base) access() access.Access { return cluster.AccessTo(b.cfg.Cluster) }

func (b *base) denied(who string, err error) error { return cluster.Denied(b.cfg.Cluster, who, err) }

func (r *run) openProbes(ctx context.Context) (err error) {
	committing := r.groupIDs
	if r.commitsNothing() {
		committing = nil
	}
	r.lagReader, err = probe.NewLagReader(r.seeds(), r.access(), r.topic.Name, committing,
		r.topic.Partitions)
	if err != nil {
		return err
	}
	sampling := r.cfg.Scenario.Sampling
	lag := observe.LagConfig{
		Axis: r.axis, Reader: r.lagReader, Journal: r.journal, Topic: r.topic.Name, Period: time.Duration(sampling.Lag),
		Others: r.apart() || !r.portion.whole() && r.cfg.Scenario.Backpressure.Gates(),
	}
	if r.cfg.Scenario.Backpressure.Signal == "delivered" {
		lag.Delivered = func() []int64 { return r.groups.Positions(r.topic.Partitions) }
	}
	r.lag = observe.NewLag(lag)
	if r.cfg.Scenario.Cluster.Metrics != "none" {
		r.brokers = observe.NewBrokers(r.cfg.Cluster, r.axis, r.journal, time.Duration(sampling.Brokers))
	}
	return nil
}

func (r *run) beginReading(ctx context.Context) error {
	if !r.topic.Existing && !r.cfg.Scenario.Filled() || r.cfg.Scenario.Consume.Consumers == 0 {
		return nil
	}
	if err := r.findBeginning(ctx); err != nil {
		return r.denied("the run's group", err)
	}
	if r.hasQueue() {
		return nil // a queue begins with the first record of the run's topic
	}
	// The commit fixes where the groups start.
	r.grouped = !r.manual()
	return r.denied("the run's group", r.lagReader.Commit(ctx, r.from))
}

// A read-only run that reads from the topic's start ends at the topic's present end.
func (r *run) findBeginning(ctx context.Context) (err error) {
	if r.from, err = r.lagReader.Ends(ctx); err != nil || r.cfg.Scenario.Consume.From == "end" ||
		r.cfg.Scenario.Filled() && !readsFill(r.cfg.Scenario) {
		return err
	}
	if r.readOnly() {
		r.readTo = r.from
	}
	r.from, err = r.lagReader.Starts(ctx)
	return err
}

// consumed reports whether any part of the run has consumers.
func (r *run) consumed() bool { return r.cfg.Scenario.Consume.Consumers > 0 }

func (r *run) openGroups(ctx context.Context) error {
	if !r.consumed() || !r.portion.receives() {
		return nil
	}
	r.grouped, r.openedNs = !r.manual(), r.axis.Now()
	for i := range r.groupIDs {
		g, err := r.openGroup(ctx, i)
		if err != nil {
			return err
		}
		r.groups = append(r.groups, g)
	}
	for _, g := range r.groups {
		g.AddTo(r.collector)
	}
	return nil
}

func (r *run) awaitReady(ctx context.Context) error {
	if len(r.groups) == 0 {
		return nil
	}
	ready, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	for _, g := range r.groups {
		if err := g.AwaitReady(ready); err != nil {
			return r.denied("the run's consumers", err)
		}
	}
	r.readyNs = max(1, r.axis.Now()-r.openedNs) // 0 is unknown
	return nil
}

func (r *run) prepareFaults(ctx context.Context) error {
	r.faults = &faults{base: &r.base, observer: r.observer, groups: r.groups}
	return r.faults.check(ctx)
}

func (r *run) groupConfig(number int) receive.Config {
	c := r.cfg.Scenario.Consume
	clientID, prefix := clientIDOf(r.clientID(), r.runID), ""
	if len(r.groupIDs) > 1 {
		prefix = fmt.Sprintf("group %d: ", number+1)
		if r.clientID() == "" {
			clientID = fmt.Sprintf("%s-group-%d", clientID, number+1)
		}
	}
	client := consumerConfig(c)
	client.Brokers, client.ClusterID, client.Access, client.ClientID = r.seeds(), r.clusterID(), r.access(), clientID
	client.Topic, client.Group = r.topic.Name, r.groupIDs[number]
	client.ControlRecords = r.topic.Existing && !driver.Lacks(r.cfg.Driver, driver.ReadControl)
	return receive.Config{
		Driver: r.cfg.Driver, Client: client, SameID: r.clientID() != "", PollTimeout: time.Duration(c.PollTimeout),
		Manual: r.manual(), Hold: r.readOnly() || readsFill(r.cfg.Scenario) || !c.Hold.Off(),
		Members: c.Consumers, Only: r.portion.members, Numbers: numbers(r.cfg.Scenario),
		Producers: r.cfg.Scenario.Load.Producers + r.cfg.Scenario.Fillers(), Filled: r.cfg.Scenario.Fillers(),
		Partitions: r.topic.Partitions, From: r.from,
		ByPartition: c.Parallel == "partition",
		Plan:        workPlan(c), CommitEvery: time.Duration(c.Commit.Interval),
		Seed: r.cfg.Scenario.Load.Record.Seed + uint64(number),
		Axis: r.axis, Offsets: r.offsets, Stamped: r.stamped, ClosedLoop: r.arrivals == nil, Run: runNumber(r.runID),
		OnEvent: func(e receive.Event) {
			r.journal.Stamp(result.Event{Kind: e.Kind, What: prefix + e.What, Reason: e.Reason, Data: e.Data})
		},
	}
}

func consumerConfig(c scenario.Consume) driver.ConsumerConfig {
	return driver.ConsumerConfig{
		Protocol:      c.Protocol,
		FetchMinBytes: int32(c.Fetch.MinBytes), FetchMaxBytes: int32(c.Fetch.MaxBytes),
		FetchMaxPartitionBytes: int32(c.Fetch.MaxPartitionBytes), FetchMaxWait: time.Duration(c.Fetch.MaxWait),
		SessionTimeout: time.Duration(c.SessionTimeout), Assignor: c.Assignor, Client: c.Client,
	}
}

// release may be called at any stage, and more than once.
func (r *run) release() {
	if r.producers != nil {
		r.producers.Close()
	}
	r.children.End()
	if len(r.groups) > 0 {
		stop, cancel := context.WithTimeout(context.Background(), stopTimeout)
		r.groups.Stop(stop)
		cancel()
	}
	if r.queue != nil {
		r.queue.close(r.patience(queueTimeout))
	}
	if err := r.cells.close(); err != nil {
		r.leftBehind = append(r.leftBehind, err)
	}
	if r.lagReader != nil {
		r.lagReader.Close()
	}
	if r.faults != nil {
		if err := r.faults.mend(r.interrupted); err != nil {
			r.leftBehind = append(r.leftBehind, err)
		}
	}
	r.removeTopic()
}

func (r *run) discard() {
	if r.writer != nil {
		_ = r.writer.Discard()
	}
}
