package send

import (
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/lagcontrol"
	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/measure/latency"
	"kafkabench.example/kafka-bench/internal/measure/ledger"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
	"kafkabench.example/kafka-bench/internal/plan/arrival"
	"kafkabench.example/kafka-bench/internal/plan/payload"
)

// Config configures the sending side.
type Config struct {
	Driver  driver.Driver
	Client  driver.ProducerConfig
	SameID  bool // all clients have exactly Client.ClientID, and no suffix
	Workers int  // 0: no client
	// Only lists the workers in this process; nil is all.
	Only []int
	// First is the number of the first worker in stamps and books.
	First int
	// Clients is the number of clients; 0 is one for each worker. With more clients than workers,
	// each client gets some of a worker's partitions, so that all records of a worker in one
	// partition use one connection.
	Clients     int
	MaxBuffered int // records in flight of one client

	// Arrivals is the schedule; nil is a closed loop.
	Arrivals     arrival.Process
	Precise      bool
	Partitions   int
	Partitioning string // sticky, round-robin or key
	Corpus       *payload.Corpus
	Keys         *payload.Keys
	RecordBytes  int // mean size of a value
	Stamped      bool
	Header       bool // stamps are in headers, and not in values
	Consumed     bool // keep what Behind needs
	Run          uint32

	// Volume ends the load after that many bytes of values in the measured window; 0 is no bound. The part of each
	// worker includes the record with which the worker reaches its part.
	Volume int64
	// Records ends the load after exactly that many records; each worker has its part (Dealt). Set at most one of
	// Volume and Records.
	Records int64
	// Round makes a worker of a closed loop send that many records and wait for all of them; 0 is no rounds.
	Round int
	// Fill makes a closed loop fill the topic before the run: the volume counts although the zero
	// of the axis is never set, so every time is before the run.
	Fill bool

	// MaxPerS bounds the rate of a closed loop, records/s of all workers together; 0 is no bound.
	MaxPerS float64
	Gate    *lagcontrol.Gate // nil: no backpressure
	// TellOffsets reports the offset of each acked record to the gate.
	TellOffsets bool
	// Excess is what a worker does with refused records.
	Excess      Excess
	Keep        int64
	MaxDeferred int64 // of all workers together

	Axis *load.Axis
	// Sleep waits for a worker's next due time; nil is the pacer of Precise.
	Sleep func(time.Duration)
}

// Producers are the workers on the sending side and their clients.
type Producers struct {
	workers []*producer
	source  *source
	clients map[int]driver.Producer
	axis    *load.Axis
	precise bool
	sleep   func(time.Duration)
	closed  bool
	volume  *volume
	abandon chan struct{}
	ended   atomic.Bool
	undo    func() // undoes the precise pacer's change to the process; or nil
	running sync.WaitGroup

	chooser func(id, partitions int) chooser
}

// Open opens the clients and makes the workers. On an error it leaves nothing open.
func Open(cfg Config) (*Producers, error) {
	ps := &Producers{
		clients: make(map[int]driver.Producer), axis: cfg.Axis,
		precise: cfg.Precise && cfg.Sleep == nil, sleep: cfg.Sleep, closed: cfg.Arrivals == nil,
		abandon: make(chan struct{}),
		chooser: cfg.chooser,
	}
	clients := cfg.Clients
	if clients == 0 || cfg.Workers == 0 {
		clients = cfg.Workers
	}
	numbers := cfg.numbers()
	ps.source = newSource(len(numbers))
	if (cfg.Volume > 0 || cfg.Records > 0) && len(numbers) > 0 {
		ps.volume = newVolume(cfg.Axis, len(numbers), cfg.Only != nil)
		if cfg.Records > 0 {
			ps.volume.first = cfg.firstMeasured()
		}
	}
	for _, id := range numbers {
		ps.workers = append(ps.workers, ps.newWorker(cfg, id, clients))
	}
	for _, w := range ps.workers {
		for c := w.id % clients; c < clients; c += cfg.Workers {
			if err := ps.open(cfg, c); err != nil {
				ps.Close()
				return nil, err
			}
			w.clients = append(w.clients, ps.clients[c])
		}
	}
	return ps, nil
}

func (cfg Config) numbers() []int {
	if cfg.Only != nil {
		return cfg.Only
	}
	all := make([]int, cfg.Workers)
	for id := range all {
		all[id] = id
	}
	return all
}

func (ps *Producers) newWorker(cfg Config, id, clients int) *producer {
	// A worker may fill all of its clients, or its part of a shared one.
	buffer := cfg.MaxBuffered * max(1, clients/cfg.Workers) / max(1, (cfg.Workers+clients-1)/clients)
	metrics := []latency.Metric{latency.SendServiceTime, latency.UnackedServiceTime}
	w := &producer{
		id: id, number: cfg.First + id, fills: cfg.Fill,
		axis: cfg.Axis, admission: newAdmission(cfg),
		maxDeferred: max(1, cfg.MaxDeferred/int64(cfg.Workers)),
		nextIndex:   int64(id), workers: cfg.Workers, roundOf: cfg.Round,
		chooser: cfg.chooser(id, cfg.Partitions),
		corpus:  cfg.Corpus, keys: cfg.Keys, stamped: cfg.Stamped, header: cfg.Header, run: cfg.Run, recordBytes: cfg.RecordBytes,
		until:  math.MaxInt64,
		source: ps.source, head: &ps.source.heads[len(ps.workers)],
		slots:   newSlots(len(ps.workers), buffer),
		abandon: ps.abandon,
		books:   ledger.NewSender(cfg.First+id, cfg.Partitions),
		acks:    slices.Repeat([]load.GapWatch{load.NewGapWatch(cfg.Partitions)}, cfg.Partitions),
		errors:  [2]map[string]int64{make(map[string]int64), make(map[string]int64)},
	}
	w.share = newShare(cfg, ps.volume, id)
	w.pace.perNs = cfg.MaxPerS / float64(cfg.Workers) / float64(time.Second)
	if cfg.Consumed {
		w.timelines = make([]timeline, cfg.Partitions)
	}
	if cfg.Arrivals != nil {
		w.due = cfg.Arrivals.Stripe(id, cfg.Workers)
		w.sent = w.due.Clone()
		metrics = append(metrics,
			latency.PacerLateness, latency.SendDelay, latency.SendResponseTime, latency.UnackedResponseTime)
	}
	w.recorder = latency.NewRecorder(metrics...)
	return w
}

func (cfg Config) chooser(id, partitions int) chooser {
	n := int32(partitions)
	first := int32(id) % n
	keyless := &sticky{
		current: first, partitions: n,
		batchBytes: int(cfg.Client.BatchBytes), linger: int64(cfg.Client.Linger),
	}
	switch cfg.Partitioning {
	case "round-robin":
		return &roundRobin{next: first, partitions: n}
	case "key":
		return &byKey{partitions: n, fallback: keyless}
	default:
		return keyless
	}
}

func (ps *Producers) open(cfg Config, id int) error {
	if ps.clients[id] != nil {
		return nil
	}
	client := cfg.Client
	if !cfg.SameID {
		client.ClientID = fmt.Sprintf("%s-producer-%d", client.ClientID, cfg.First+id)
	}
	client.MaxBuffered = 0
	for _, w := range ps.workers {
		client.MaxBuffered += w.slots.limit()
	}
	client.OnDone = func(d driver.Done) {
		ps.workers[workerOf(d.Tag)].onDone(d)
	}
	p, err := cfg.Driver.NewProducer(client)
	if err != nil {
		return fmt.Errorf("opening producer %d: %w", id, err)
	}
	ps.clients[id] = p
	return nil
}

// Restrict limits the workers to some partitions, at least one. Call it before Start.
func (ps *Producers) Restrict(partitions []int32) {
	for _, w := range ps.workers {
		w.chooser = within{ps.chooser(w.id, len(partitions)), partitions}
	}
}

// Start starts the workers.
func (ps *Producers) Start() {
	if ps.precise {
		ps.undo = roomFor(len(ps.workers))
	}
	for _, w := range ps.workers {
		ps.running.Go(func() {
			switch {
			case ps.closed:
				w.runClosed()
			case ps.sleep != nil:
				w.runOpen(sleeping(ps.sleep))
			case ps.precise:
				w.runOpen(newPrecise())
			default:
				w.runOpen(frugal)
			}
		})
	}
}

// Done returns a channel that closes when every worker has sent and completed all that it could.
func (ps *Producers) Done() <-chan struct{} {
	done := make(chan struct{})
	go func() {
		ps.running.Wait()
		close(done)
	}()
	return done
}

// Close ends the workers and their clients. Records still in flight become unknown; those at the source stay deferred.
// Closing again does nothing.
func (ps *Producers) Close() {
	if ps.ended.Swap(true) {
		return
	}
	close(ps.abandon)
	ps.running.Wait()
	if ps.undo != nil {
		ps.undo()
	}
	var closing sync.WaitGroup
	for _, c := range ps.clients {
		closing.Go(c.Close)
	}
	closing.Wait()
	for _, w := range ps.workers {
		w.complete()
	}
}

// Spent returns a channel that closes when the whole volume was offered, which ends the measured window; nil
// without a bound.
func (ps *Producers) Spent() <-chan struct{} {
	if ps.volume == nil {
		return nil
	}
	return ps.volume.spent
}

// Sent returns the counts of all workers by phase.
func (ps *Producers) Sent() (warmup, measured snapshot.Sent) {
	for _, w := range ps.workers {
		w.recorder.Lock()
		warmup.Add(w.counts[0])
		measured.Add(w.counts[1])
		w.recorder.Unlock()
	}
	return warmup, measured
}

// Each is what one worker has sent, warm-up included.
type Each struct {
	Number            int // among all producers
	Acked, AckedBytes int64
	LastAckNs         int64 // on the axis; snapshot.BeforeAll without acks
}

// Each returns what each worker has sent.
func (ps *Producers) Each() []Each {
	all := make([]Each, len(ps.workers))
	for i, w := range ps.workers {
		w.recorder.Lock()
		sum := w.counts[0]
		sum.Add(w.counts[1])
		all[i] = Each{Number: w.number, Acked: sum.Acked, AckedBytes: sum.AckedBytes, LastAckNs: snapshot.BeforeAll}
		for p := range w.acks {
			all[i].LastAckNs = max(all[i].LastAckNs, w.acks[p].Last())
		}
		w.recorder.Unlock()
	}
	return all
}

// AckedIn returns the number of acked records in each of n partitions.
func (ps *Producers) AckedIn(n int) []int64 {
	acked := make([]int64, n)
	for _, w := range ps.workers {
		w.recorder.Lock()
		for p := range acked {
			acked[p] += w.books.AckedIn(int32(p))
		}
		w.recorder.Unlock()
	}
	return acked
}

func (ps *Producers) openIn(partition int, awaited []ledger.Awaited) (records, oldestDue int64) {
	oldestDue = snapshot.NothingDue
	for _, w := range ps.workers {
		w.recorder.Lock()
		first, open := w.books.Open(int32(partition), awaited[w.number])
		if due, behind := w.timelines[partition].oldest(first); behind {
			records, oldestDue = records+open, min(oldestDue, due)
		}
		w.recorder.Unlock()
	}
	return records, oldestDue
}

// Waiting returns the number of records that wait at the source and the due time of the oldest. It
// counts in the queue itself, not from the counters of records, so a difference shows an error in
// the counters.
func (ps *Producers) Waiting() (records, oldestDue int64) {
	for _, w := range ps.workers {
		w.recorder.Lock()
		if w.waiting > 0 {
			if due := w.oldestDue(); records == 0 || due < oldestDue {
				oldestDue = due
			}
			records += w.waiting
		}
		w.recorder.Unlock()
	}
	return records, oldestDue
}

// DeferredPeak returns the most records that waited at the source at once.
func (ps *Producers) DeferredPeak() int64 { return ps.source.peak.Load() }

// Errors counts the clients' errors for the records of one phase, by kind.
func (ps *Producers) Errors(measured bool) map[string]int64 {
	all := make(map[string]int64)
	for _, w := range ps.workers {
		w.recorder.Lock()
		for message, n := range w.errors[phaseOf(measured)] {
			all[message] += n
		}
		w.recorder.Unlock()
	}
	return all
}

// Books returns the sending side of the books, by worker.
func (ps *Producers) Books() []*ledger.Sender {
	books := make([]*ledger.Sender, len(ps.workers))
	for i, w := range ps.workers {
		books[i] = w.books
	}
	return books
}

// Shares returns the acked records of the measured window, by worker.
func (ps *Producers) Shares() []snapshot.Share {
	all := make([]snapshot.Share, len(ps.workers))
	for i, w := range ps.workers {
		w.recorder.Lock()
		all[i] = snapshot.Share{Number: w.number, Records: w.counts[1].Acked, Bytes: w.counts[1].AckedBytes,
			FirstNs: w.sentNs, LastNs: w.ackedNs}
		w.recorder.Unlock()
	}
	return all
}

// Traffic returns the traffic of all clients.
func (ps *Producers) Traffic() (sum snapshot.Traffic) {
	for _, client := range ps.clients {
		sum = sum.Add(load.TrafficOf(client))
	}
	return sum
}

// Settings returns the effective settings of a client; nil without a client.
func (ps *Producers) Settings() []driver.Setting {
	if len(ps.workers) == 0 {
		return nil
	}
	return ps.workers[0].clients[0].Settings()
}
