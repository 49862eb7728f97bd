package markers

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/kmq/internal/engine"
	"kafkabench.example/kafka-bench/kmq/internal/lease"
	"kafkabench.example/kafka-bench/kmq/internal/marker"
	"kafkabench.example/kafka-bench/kmq/internal/step"
	"kafkabench.example/kafka-bench/kmq/internal/window"
)

// The bounds of an outbox.
const (
	lingerAtMost = 100 * time.Millisecond // an ended record waits so long for others
	hurryAtMost  = 5 * time.Millisecond   // and one that was given back: somebody may wait for it
	// A record that is ended so shortly before its deadline is written as soon: the tracker
	// would deliver it again.
	hurryBefore    = 3 * lingerAtMost
	rangesAtMost   = 4096               // or until so many ranges of them have come together
	recordsAtMost  = unwrittenBound / 2 // or records
	batchesAtMost  = 4                  // being written at a time; more come together in one
	unwrittenBound = 1 << 18            // records settled and not durable: at the bound, settling waits
	behindBound    = unwrittenBound / 2 // of them of partitions that are behind, about: settling of those waits
)

// outbox writes what became of the records that were settled: neighbours as one marker,
// and what is settled within a while as one batch, for a batch costs the brokers as much
// as thousands of records read. What is not written of a batch, or not in time, is set aside,
// and written by itself until it succeeds.
type outbox struct {
	cl     *kgo.Client
	scribe scribe
	holder uint32
	log    *slog.Logger

	held   atomic.Int64 // records that were put and are not durable
	behind atomic.Int64 // of them those that are aside

	released func() // told that something given back is durable; nil: nobody is

	mu      sync.Mutex
	pending map[fact]*offsets
	last    fact     // that was put
	latest  *offsets // of it; nil: there is none
	ranges  int      // in pending
	records int64    // in pending
	next    uint64   // the number of the batch that pending will be
	writing []*batch
	aside   map[int32][]*batch // what of a partition is written by itself, in order
	trouble *engine.Complaint
	changed chan struct{} // closed when a batch is durable, if somebody waits for that

	wake  chan struct{} // there is something pending
	hurry chan struct{} // some of it was given back
	kick  chan struct{} // do not linger
	slot  chan struct{} // batches being written, but for what is aside
	stop  context.Context
	end   context.CancelFunc
	done  chan struct{}

	catching sync.WaitGroup // by the partitions that have something aside
}

// offsets are those of which the same is said, in the order in which they came.
type offsets struct{ ranges []window.Range }

// fact is what is said of records: a marker without its offsets.
type fact struct {
	partition   int32
	kind        marker.Type
	reason      marker.Reason
	delay       time.Duration
	undelivered bool
}

// batch are markers that are written together.
type batch struct {
	number   uint64
	markers  []*kgo.Record
	counts   []int32 // of the records of each marker; 0: it is durable
	places   []int32 // the partition of each, which the client writes into what it sends
	records  int64
	acked    bool  // has ends
	released bool  // has others
	alone    bool  // is aside: it is of one partition, and has no slot
	of       int32 // that partition
	cause    error // why it is aside; nil: it was slow
	late     *time.Timer

	mu     sync.Mutex
	left   int
	failed []*kgo.Record
	err    error
	idle   chan struct{}    // closed when none is left; nil: it is not aside, or the client does not have it
	aside  map[int32]*batch // what was taken out of it, by partition; nil: nothing
}

func newOutbox(cl *kgo.Client, cfg *engine.Config, holder uint32) *outbox {
	o := &outbox{
		cl: cl, scribe: newScribe(cfg), holder: holder, log: cfg.Log,
		pending: map[fact]*offsets{}, aside: map[int32][]*batch{}, trouble: engine.NewComplaint(cfg.Log),
		wake: make(chan struct{}, 1), hurry: make(chan struct{}, 1), kick: make(chan struct{}, 1),
		slot: make(chan struct{}, batchesAtMost),
		done: make(chan struct{}),
	}
	o.stop, o.end = context.WithCancel(context.Background())
	go o.run()
	return o
}

// room waits until the outbox is below its bounds for a partition, or for ctx. It is asked
// before a record is settled, so that one that is settled can always be put.
func (o *outbox) room(ctx context.Context, partition int32) error {
	for o.held.Load() >= unwrittenBound || o.behind.Load() >= behindBound {
		o.mu.Lock()
		if !o.full(partition) {
			o.mu.Unlock()
			return nil
		}
		changed := o.waitChanged()
		o.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		case <-o.stop.Done():
			return lease.ErrClosed
		}
	}
	return nil
}

// full is whether nothing more of a partition is to be put; under the lock.
func (o *outbox) full(partition int32) bool {
	return o.held.Load() >= unwrittenBound || o.behind.Load() >= behindBound && o.aside[partition] != nil
}

// put notes what became of the record at an offset. It never waits.
func (o *outbox) put(f fact, offset int64) {
	o.held.Add(1)
	o.mu.Lock()
	of := o.of(f)
	if n := len(of.ranges); n > 0 && of.ranges[n-1].To == offset {
		of.ranges[n-1].To++
	} else {
		of.ranges = append(of.ranges, window.Range{From: offset, To: offset + 1})
		o.ranges++
	}
	o.records++
	first, full := o.records == 1, o.ranges == rangesAtMost || o.records == recordsAtMost
	o.mu.Unlock()
	if f.kind != marker.End {
		o.hasten()
	}
	if first {
		signal(o.wake)
	}
	if full {
		signal(o.kick)
	}
}

// of is what a fact is said of; under the lock. Most are said of neighbours, one after the
// other.
func (o *outbox) of(f fact) *offsets {
	if o.latest != nil && o.last == f {
		return o.latest
	}
	of := o.pending[f]
	if of == nil {
		of = new(offsets)
		o.pending[f] = of
	}
	o.last, o.latest = f, of
	return of
}

// tell has somebody told that something given back is durable.
func (o *outbox) tell(released func()) {
	o.mu.Lock()
	o.released = released
	o.mu.Unlock()
}

// hasten has what is pending written soon.
func (o *outbox) hasten() { signal(o.hurry) }

// flush waits until everything that was put before is durable, or for ctx.
func (o *outbox) flush(ctx context.Context) error {
	return o.flushed(ctx, func(*batch) bool { return true })
}

// flushed is flush, for those batches that count.
func (o *outbox) flushed(ctx context.Context, counts func(*batch) bool) error {
	o.mu.Lock()
	before := o.next // those numbered below it are being written
	if o.records > 0 {
		before++
		signal(o.kick)
	}
	under := func(b *batch) bool { return b.number < before && counts(b) }
	for o.next < before || slices.ContainsFunc(o.writing, under) {
		changed := o.waitChanged()
		o.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		case <-o.stop.Done():
			return lease.ErrClosed
		}
		o.mu.Lock()
	}
	o.mu.Unlock()
	return nil
}

// close ends the writing, and waits for it; what is not durable is not written any more.
// abort has the client give up what it is about to write.
func (o *outbox) close(abort func()) {
	o.mu.Lock() // what is set aside later is not written any more
	o.end()
	o.mu.Unlock()
	abort()
	<-o.done
	o.catching.Wait()
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// waitChanged is a channel that is closed when a batch is durable. It needs the lock.
func (o *outbox) waitChanged() chan struct{} {
	if o.changed == nil {
		o.changed = make(chan struct{})
	}
	return o.changed
}

// changes lets those look who wait. It needs the lock.
func (o *outbox) changes() {
	if o.changed != nil {
		close(o.changed)
		o.changed = nil
	}
}

// run collects batches and has them written.
func (o *outbox) run() {
	defer close(o.done)
	linger := time.NewTimer(time.Hour)
	defer linger.Stop()
	for {
		select {
		case <-o.wake:
			o.linger(linger)
			select {
			case o.slot <- struct{}{}:
				o.send(o.take())
			case <-o.stop.Done():
			}
		case <-o.stop.Done():
			return // a client that is closed need not say what became of what it had
		}
	}
}

// linger waits for more to come.
func (o *outbox) linger(timer *time.Timer) {
	timer.Reset(lingerAtMost)
	hurry := o.hurry
	for {
		select {
		case <-hurry:
			timer.Reset(hurryAtMost)
			hurry = nil
			continue
		case <-timer.C:
		case <-o.kick:
		case <-o.stop.Done():
		}
		return
	}
}

// take makes a batch of what is pending. What is of a partition that is behind joins what is
// aside of it.
func (o *outbox) take() *batch {
	o.mu.Lock()
	defer o.mu.Unlock()
	b := &batch{number: o.next, records: o.records, markers: make([]*kgo.Record, 0, o.ranges), counts: make([]int32, 0, o.ranges)}
	o.writing = append(o.writing, b)
	var behind map[int32]*batch
	for f, of := range o.pending {
		to := b
		if o.aside[f.partition] != nil {
			behind = b.into(behind, f.partition)
			to = behind[f.partition]
			b.move(to, lengths(of.ranges))
		}
		o.add(to, f, of)
	}
	for partition, part := range behind {
		o.setAside(partition, part)
	}
	clear(o.pending)
	o.latest = nil
	o.ranges, o.records = 0, 0
	o.next++
	return b
}

// add writes down what is said of records.
func (o *outbox) add(b *batch, f fact, of *offsets) {
	b.acked = b.acked || f.kind == marker.End
	b.released = b.released || f.kind != marker.End
	for _, r := range merge(of.ranges) {
		b.counts, b.places = append(b.counts, int32(r.Len())), append(b.places, f.partition)
		b.markers = append(b.markers, o.scribe.record(marker.Marker{
			Partition: f.partition, Offset: r.From, Count: int32(r.Len()),
			Type: f.kind, Reason: f.reason, Duration: f.delay, Holder: o.owner(f), Undelivered: f.undelivered,
		}))
	}
}

func (o *outbox) owner(f fact) uint32 {
	if f.kind == marker.End {
		return 0
	}
	return o.holder
}

// merge sorts ranges and joins those that touch; what it is given is used up.
func merge(ranges []window.Range) []window.Range {
	slices.SortFunc(ranges, func(a, b window.Range) int { return int(min(1, max(-1, a.From-b.From))) })
	joined := ranges[:0]
	for _, r := range ranges {
		if n := len(joined); n > 0 && joined[n-1].To >= r.From && r.To-joined[n-1].From <= marker.MaxCount {
			joined[n-1].To = max(joined[n-1].To, r.To)
			continue
		}
		joined = append(joined, r)
	}
	return joined
}

// send writes a batch that has a slot.
func (o *outbox) send(b *batch) {
	if len(b.markers) == 0 {
		o.leave(b, nil)
		return
	}
	b.late = time.AfterFunc(asideAfter, func() { o.overdue(b) })
	o.produce(b)
}

// produce hands the markers of a batch to the client.
func (o *outbox) produce(b *batch) {
	b.mu.Lock() // overdue may look already
	b.left = len(b.markers)
	b.mu.Unlock()
	for i, r := range b.markers {
		r.Timestamp = time.Time{} // of when it is written, and not of when it was tried first
		o.cl.Produce(context.Background(), r, func(r *kgo.Record, err error) { o.wrote(b, i, r, err) })
	}
}

// wrote notes what became of a marker: of a batch, or of what was set aside of it.
func (o *outbox) wrote(b *batch, i int, r *kgo.Record, err error) {
	b.mu.Lock()
	of := b
	if part := b.aside[r.Partition]; part != nil {
		of = part
	}
	if err != nil {
		of.failed, of.err = append(of.failed, r), err
	} else {
		b.counts[i] = 0
	}
	of.left--
	last := of.left == 0
	b.mu.Unlock()
	switch {
	case !last:
	case of.idle != nil:
		close(of.idle)
	default:
		o.ended(b)
	}
}

// ended is called when every marker of a batch was written or has failed.
func (o *outbox) ended(b *batch) {
	b.late.Stop()
	b.mu.Lock()
	var rest map[int32]*batch
	if len(b.failed) > 0 {
		rest = b.divide()
	}
	b.mu.Unlock()
	o.leave(b, rest)
}

// overdue is called when a batch was not written in time.
func (o *outbox) overdue(b *batch) {
	b.mu.Lock()
	if b.left == 0 { // it has ended just now
		b.mu.Unlock()
		return
	}
	rest := b.divide()
	b.mu.Unlock()
	o.leave(b, rest)
}

// leave frees the slot of a batch. The rest of it, by partition, is set aside.
func (o *outbox) leave(b *batch, rest map[int32]*batch) {
	<-o.slot
	o.mu.Lock()
	for partition, part := range rest {
		o.setAside(partition, part)
	}
	o.durable(b)
	o.mu.Unlock()
	o.say(b)
}

// durable lets go of a batch that is; under the lock.
func (o *outbox) durable(b *batch) {
	o.held.Add(-b.records)
	o.writing = slices.DeleteFunc(o.writing, func(w *batch) bool { return w == b })
	o.changes()
}

// say tells what a batch had that is durable.
func (o *outbox) say(b *batch) {
	o.mu.Lock()
	released := o.released
	o.mu.Unlock()
	if b.acked {
		step.At(step.Ended)
	}
	if b.released && released != nil {
		released()
	}
}
