package markers

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafka-bench/kmq/internal/engine"
	"kafka-bench/kmq/internal/lease"
	"kafka-bench/kmq/internal/marker"
	"kafka-bench/kmq/internal/step"
	"kafka-bench/kmq/internal/window"
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
)

// outbox writes what became of the records that were settled: neighbours as one marker,
// and what is settled within a while as one batch, for a batch costs the brokers as much
// as thousands of records read. A batch that fails is written again until it succeeds.
type outbox struct {
	cl     *kgo.Client
	scribe scribe
	holder uint32
	log    *slog.Logger

	held atomic.Int64 // records that were put and are not durable

	released func() // told that something given back is durable; nil: nobody is

	mu      sync.Mutex
	pending map[fact]*offsets
	last    fact     // that was put
	latest  *offsets // of it; nil: there is none
	ranges  int      // in pending
	records int64    // in pending
	next    uint64   // the number of the batch that pending will be
	writing []*batch
	failed  []*batch
	changed chan struct{} // closed when a batch is durable, if somebody waits for that

	wake  chan struct{} // there is something pending
	hurry chan struct{} // some of it was given back
	kick  chan struct{} // do not linger
	slot  chan struct{} // batches being written
	redo  chan struct{} // there is something failed
	stop  context.Context
	end   context.CancelFunc
	done  chan struct{}
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
	records  int64
	acked    bool // has ends
	released bool // has others

	mu     sync.Mutex
	left   int
	failed []*kgo.Record
	err    error
}

func newOutbox(cl *kgo.Client, cfg *engine.Config, holder uint32) *outbox {
	o := &outbox{
		cl: cl, scribe: newScribe(cfg), holder: holder, log: cfg.Log,
		pending: map[fact]*offsets{},
		wake:    make(chan struct{}, 1), hurry: make(chan struct{}, 1), kick: make(chan struct{}, 1), redo: make(chan struct{}, 1),
		slot: make(chan struct{}, batchesAtMost),
		done: make(chan struct{}),
	}
	o.stop, o.end = context.WithCancel(context.Background())
	go o.run()
	return o
}

// room waits until the outbox is below its bound, or for ctx. It is asked before a record
// is settled, so that one that is settled can always be put.
func (o *outbox) room(ctx context.Context) error {
	for o.held.Load() >= unwrittenBound {
		o.mu.Lock()
		changed := o.waitChanged()
		o.mu.Unlock()
		if o.held.Load() < unwrittenBound {
			return nil
		}
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
	o.mu.Lock()
	before := o.next // those numbered below it are being written
	if o.records > 0 {
		before++
		signal(o.kick)
	}
	for len(o.writing) > 0 && o.writing[0].number < before || o.next < before {
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
	o.end()
	abort()
	<-o.done
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

// run collects batches and has them written.
func (o *outbox) run() {
	defer close(o.done)
	linger := time.NewTimer(time.Hour)
	defer linger.Stop()
	wait, complaint := engine.NewWait(), engine.NewComplaint(o.log)
	for {
		select {
		case <-o.wake:
			o.linger(linger)
			select {
			case o.slot <- struct{}{}:
				o.send(o.take())
			case <-o.redo:
				o.again(wait, complaint)
				signal(o.wake)
				signal(o.kick) // it has lingered
			case <-o.stop.Done():
			}
		case <-o.redo:
			o.again(wait, complaint)
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

// take makes a batch of what is pending.
func (o *outbox) take() *batch {
	o.mu.Lock()
	defer o.mu.Unlock()
	b := &batch{number: o.next, records: o.records, markers: make([]*kgo.Record, 0, o.ranges)}
	for f, of := range o.pending {
		b.acked = b.acked || f.kind == marker.End
		b.released = b.released || f.kind != marker.End
		for _, r := range merge(of.ranges) {
			b.markers = append(b.markers, o.scribe.record(marker.Marker{
				Partition: f.partition, Offset: r.From, Count: int32(r.Len()),
				Type: f.kind, Reason: f.reason, Duration: f.delay, Holder: o.owner(f), Undelivered: f.undelivered,
			}))
		}
	}
	clear(o.pending)
	o.latest = nil
	o.ranges, o.records = 0, 0
	o.next++
	o.writing = append(o.writing, b)
	return b
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

// send writes what of a batch is not written.
func (o *outbox) send(b *batch) {
	b.left, b.failed, b.err = len(b.markers), nil, nil
	if b.left == 0 {
		o.ended(b)
		return
	}
	for _, r := range b.markers {
		r.Timestamp = time.Time{} // of when it is written, and not of when it was tried first
		o.cl.Produce(context.Background(), r, func(r *kgo.Record, err error) {
			b.mu.Lock()
			if err != nil {
				b.failed, b.err = append(b.failed, r), err
			}
			b.left--
			last := b.left == 0
			b.mu.Unlock()
			if last {
				o.ended(b)
			}
		})
	}
}

// ended is called when every marker of a batch was written or has failed.
func (o *outbox) ended(b *batch) {
	<-o.slot
	o.mu.Lock()
	if len(b.failed) > 0 {
		b.markers = b.failed
		o.failed = append(o.failed, b)
		o.mu.Unlock()
		signal(o.redo)
		return
	}
	o.held.Add(-b.records)
	o.writing = slices.DeleteFunc(o.writing, func(w *batch) bool { return w == b })
	if o.changed != nil {
		close(o.changed)
		o.changed = nil
	}
	released := o.released
	o.mu.Unlock()
	if b.acked {
		step.At(step.Ended)
	}
	if b.released && released != nil {
		released()
	}
}

// again writes once more, after a while, what the client gave up.
func (o *outbox) again(wait *engine.Wait, complaint *engine.Complaint) {
	o.mu.Lock()
	failed := o.failed
	o.failed = nil
	o.mu.Unlock()
	for _, b := range failed {
		complaint.About("write end markers to topic "+o.scribe.topic, b.err)
		if wait.Sleep(o.stop) != nil {
			return
		}
		select {
		case o.slot <- struct{}{}:
			o.send(b)
		case <-o.stop.Done():
			return
		}
	}
}
