package send

import (
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"kafkabench.example/kafka-bench/backpressure"
	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/measure/latency"
	"kafkabench.example/kafka-bench/internal/measure/ledger"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
	"kafkabench.example/kafka-bench/internal/plan/arrival"
	"kafkabench.example/kafka-bench/internal/plan/payload"
)

// Config says what the sending side is.
type Config struct {
	Driver driver.Driver
	// Client is what each client is opened with; OnDone is set here, and the
	// client's number is appended to its ID.
	Client  driver.ProducerConfig
	Workers int // 0: nobody produces, and nothing is opened
	// Only are the numbers of the workers that are made here, where others make
	// the rest in processes of their own; nil is all of them. Each is what it
	// would be among all: its arrivals, its keys, its clients' names and its share
	// of everything that the workers share.
	Only []int
	// First is the number of the first worker, where others have those below it: what
	// the stamps and the books tell a worker by.
	First int
	// Clients is the number of clients: fewer than workers are shared by them,
	// more are used by a worker in turn, each for some of the partitions, so
	// that the records of one lane stay on one connection. 0 is one for each
	// worker.
	Clients int
	// MaxBuffered bounds the records in flight of one client.
	MaxBuffered int

	// Arrivals is the schedule, on the run's axis; nil is closed loop.
	Arrivals     arrival.Process
	Precise      bool
	Partitions   int
	Partitioning string // sticky, round-robin, key
	Corpus       *payload.Corpus
	Keys         *payload.Keys
	RecordBytes  int // mean size of a value
	Stamped      bool
	Consumed     bool // somebody consumes: keep what Behind needs
	Run          uint32

	// Volume ends the load once that many bytes of values were offered in the
	// measured window; 0 is no bound. Each worker offers its share, up to the
	// record that reaches it.
	Volume int64
	// Records ends it likewise, once so many records were offered: exactly so many, of
	// which each worker has its share (Dealt). At most one of the two is set.
	Records int64
	// Round has a worker of a closed loop send so many records, wait until all have come
	// back, and begin again; 0 is no rounds. A worker may have as many in flight.
	Round int
	// Fill has the volume offered before anything else, on an axis of its own whose
	// zero is never set: every record is then of the warm-up, and is taken off the
	// volume all the same. It is for a closed loop.
	Fill bool

	Gate *backpressure.Gate // nil: no backpressure, or a gate for each partition
	// Partitioned is asked in Gate's place, for each record by itself. It is for an
	// open loop.
	Partitioned *backpressure.Partitioned
	// TellOffsets has the gate told where each acked record went, which one needs
	// that has a share of the bound.
	TellOffsets bool
	// Excess says what a worker does with a record that is not admitted: it leaves it
	// in the queue at the source, sheds it and counts it, or leaves one of Keep in the
	// queue and sheds the others.
	Excess      backpressure.Excess
	Keep        int64
	MaxDeferred int64 // of all workers together

	Axis *load.Axis
	// Sleep waits for a worker's next due time; nil is the pacer of Precise. One that
	// oversleeps makes the workers late, as a busy machine does.
	Sleep func(time.Duration)
}

// Producers are the workers on the sending side and their clients.
type Producers struct {
	workers []*producer
	clients map[int]driver.Producer // by number
	axis    *load.Axis
	precise bool
	sleep   func(time.Duration) // nil: the pacer
	closed  bool                // closed loop
	volume  *volume             // nil: no bound
	abandon chan struct{}
	ended   atomic.Bool
	undo    func() // what the precise pacer changed in the process; nil is nothing
	running sync.WaitGroup

	chooser func(id, partitions int) chooser // of a worker
}

// Open opens the clients and makes the workers, which wait for Start.
// On an error nothing is left open.
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

// numbers are those of the workers that are made here.
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
	// A worker may fill all of its clients, or its share of the one it shares.
	buffer := cfg.MaxBuffered * max(1, clients/cfg.Workers) / max(1, (cfg.Workers+clients-1)/clients)
	metrics := []latency.Metric{latency.SendServiceTime, latency.UnackedServiceTime}
	w := &producer{
		id: id, number: cfg.First + id, fills: cfg.Fill,
		axis: cfg.Axis, admission: newAdmission(cfg), queue: queue{chosen: unplaced},
		maxDeferred: max(1, cfg.MaxDeferred/int64(cfg.Workers)),
		nextIndex:   int64(id), workers: cfg.Workers, roundOf: cfg.Round,
		chooser: cfg.chooser(id, cfg.Partitions),
		corpus:  cfg.Corpus, keys: cfg.Keys, stamped: cfg.Stamped, run: cfg.Run, recordBytes: cfg.RecordBytes,
		until:   math.MaxInt64,
		slots:   newSlots(len(ps.workers), buffer),
		abandon: ps.abandon,
		books:   ledger.NewSender(cfg.First+id, cfg.Partitions),
		acks:    slices.Repeat([]load.GapWatch{load.NewGapWatch(cfg.Partitions)}, cfg.Partitions),
		errors:  [2]map[string]int64{make(map[string]int64), make(map[string]int64)},
	}
	w.share = newShare(cfg, ps.volume, id)
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

// chooser is that of a worker among so many partitions.
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

// open opens a client, unless another worker has opened it already.
func (ps *Producers) open(cfg Config, id int) error {
	if ps.clients[id] != nil {
		return nil
	}
	client := cfg.Client
	client.ClientID = fmt.Sprintf("%s-producer-%d", client.ClientID, cfg.First+id)
	// The workers keep within their slots, so it is never the client that
	// blocks, however unevenly its workers use it.
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

// Restrict has the workers send to some of the partitions only, at least one. Call it
// before Start.
func (ps *Producers) Restrict(partitions []int32) {
	for _, w := range ps.workers {
		w.chooser = within{ps.chooser(w.id, len(partitions)), partitions}
	}
}

// Start lets the workers begin. They offer what is scheduled up to the end of
// the measured window and then see to it that everything is completed.
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

// Done is closed when every worker has sent and completed all that it could.
func (ps *Producers) Done() <-chan struct{} {
	done := make(chan struct{})
	go func() {
		ps.running.Wait()
		close(done)
	}()
	return done
}

// Close ends the workers and their clients. What is still in flight then is
// unknown, what still waits at the source stays deferred. Closing again does
// nothing.
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

// Spent is closed when the load has ended because all of its volume was offered,
// which has ended the measured window on the axis too. It is nil where the volume
// has no bound.
func (ps *Producers) Spent() <-chan struct{} {
	if ps.volume == nil {
		return nil
	}
	return ps.volume.spent
}

// Sent are the counts of all workers by phase.
func (ps *Producers) Sent() (warmup, measured snapshot.Sent) {
	for _, w := range ps.workers {
		w.recorder.Lock()
		warmup.Add(w.counts[0])
		measured.Add(w.counts[1])
		w.recorder.Unlock()
	}
	return warmup, measured
}

// Each is what one worker has sent, in the warm-up and the window together.
type Each struct {
	Number            int // among all producers
	Acked, AckedBytes int64
	LastAckNs         int64 // on the axis; snapshot.BeforeAll if nothing was acknowledged
}

// Each is what each worker has sent.
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

// AckedIn is the number of acknowledged records in each of n partitions.
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

// openIn counts the records that were sent to a partition, have not arrived and are neither
// failed nor unknown, and tells when the oldest of them was due, given what is to arrive of
// each producer's lane, by number among all producers. The time may be early by some
// milliseconds, never late; without such a record it is NothingDue.
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

// Waiting counts the records that wait at the source, and tells when the oldest
// of them was due. It counts the queue itself, and so checks the counters that
// say the same.
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

// DeferredPeak is an upper bound of the longest that the queue at the source
// ever was: the sum of the workers' own peaks.
func (ps *Producers) DeferredPeak() int64 {
	var sum int64
	for _, w := range ps.workers {
		sum += w.deferredPeak.Load()
	}
	return sum
}

// Errors counts what the clients reported of one phase's records, by message.
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

// Books are the sending side of the books, by worker.
func (ps *Producers) Books() []*ledger.Sender {
	books := make([]*ledger.Sender, len(ps.workers))
	for i, w := range ps.workers {
		books[i] = w.books
	}
	return books
}

// Shares are the acknowledged records of the measured window, by worker.
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

// Traffic is that of all clients, as far as the driver counts it.
func (ps *Producers) Traffic() (sum snapshot.Traffic) {
	for _, client := range ps.clients {
		sum = sum.Add(load.TrafficOf(client))
	}
	return sum
}

// Settings are the effective settings of a client; none where there is no client.
func (ps *Producers) Settings() []driver.Setting {
	if len(ps.workers) == 0 {
		return nil
	}
	return ps.workers[0].clients[0].Settings()
}
