package markers

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafka-bench/kmq/internal/engine"
	"kafka-bench/kmq/internal/lease"
	"kafka-bench/kmq/internal/marker"
)

// What a lease is marked with, in Private, under queue.marking; nil: it is not known to be
// started.
type (
	ready  struct{} // its start is durable, and it waits to be handed out
	handed struct{} // it was handed out
	ended  struct{} // it ran out while it waited, and that was written
)

// mark marks leases.
func (q *queue) mark(leases []*lease.Lease, as any) {
	q.marking.Lock()
	for _, l := range leases {
		l.Private = as
	}
	q.marking.Unlock()
}

// wait marks leases whose starts are durable as ready.
func (q *queue) wait(leases []*lease.Lease) {
	q.marking.Lock()
	defer q.marking.Unlock()
	for _, l := range leases {
		l.Private = ready{}
		if l.State() == lease.Expired { // before its start was written
			q.unseen(l)
		}
	}
}

// ranOut is told each lease whose time ran out. One that nobody was handed is given back
// as such, so that its delivery is not counted.
func (q *queue) ranOut(l *lease.Lease) {
	q.expired.Add(1)
	q.marking.Lock()
	defer q.marking.Unlock()
	if l.Private == (ready{}) {
		q.unseen(l)
	}
}

// unseen gives a lease back that was not handed out. It is called under marking.
func (q *queue) unseen(l *lease.Lease) {
	l.Private = ended{}
	q.out.put(fact{partition: l.At.Partition, kind: marker.Release, undelivered: true}, l.At.Offset)
}

// keepers extend the locks of the records that wait to be handed out: an attempt is not to
// be counted, nor its time used up, while a slow consumer has others in hand.
type keeper struct {
	q    *queue
	stop context.CancelFunc
	done chan struct{}
}

// keepsPer is how often in a Visibility a keeper looks. It extends what will be half
// through its time when it looks next.
const keepsPer = 4

func newKeeper(q *queue) *keeper {
	k := &keeper{q: q, done: make(chan struct{})}
	ctx, stop := context.WithCancel(context.Background())
	k.stop = stop
	go k.run(ctx)
	return k
}

func (k *keeper) close() {
	k.stop()
	<-k.done
}

func (k *keeper) run(ctx context.Context) {
	defer close(k.done)
	trouble := engine.NewComplaint(k.q.cfg.Log)
	every := time.NewTicker(max(k.q.cfg.Visibility/keepsPer, time.Millisecond))
	defer every.Stop()
	for {
		select {
		case <-every.C:
		case <-ctx.Done():
			return
		}
		if err := k.keep(ctx); err != nil && ctx.Err() == nil {
			trouble.About("extend the locks of records that wait", err)
		}
	}
}

// keep extends once: one batch of markers, however many records wait. Until that is
// durable, what is given back or extended of them waits, so that it comes later in the log.
func (k *keeper) keep(ctx context.Context) error {
	q := k.q
	from := time.Now()
	waiting, done := q.waiting(from.Add(q.cfg.Visibility * (keepsPer - 1) / keepsPer))
	if len(waiting) == 0 {
		return nil
	}
	defer func() {
		q.marking.Lock()
		q.keeping = nil
		q.marking.Unlock()
		close(done)
	}()
	records := q.extensions(waiting)
	// What is not written in this time is of no use any more.
	ctx, cancel := context.WithDeadline(ctx, from.Add(q.cfg.Visibility/2))
	defer cancel()
	written := make(chan error, len(records))
	for _, r := range records {
		q.writer.Produce(ctx, r, func(_ *kgo.Record, err error) { written <- err })
	}
	for range records {
		select {
		case err := <-written:
			if err != nil {
				return err // those that were written hold longer there than here
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	for _, l := range waiting {
		if until := from.Add(q.cfg.Visibility); l.Deadline().Before(until) {
			_ = q.set.Extend(l, until) // settled meanwhile, or run out
		}
	}
	return nil
}

// waiting are the leases that wait to be handed out and end before a time, in the order of
// their offsets. It says that they are being extended, until done is closed.
func (q *queue) waiting(before time.Time) (waiting []*lease.Lease, done chan struct{}) {
	q.marking.Lock()
	defer q.marking.Unlock()
	q.set.LoseAll(func(l *lease.Lease) bool { // loses none
		if l.Private == (ready{}) && l.Deadline().Before(before) {
			waiting = append(waiting, l)
		}
		return false
	})
	if len(waiting) == 0 {
		return nil, nil
	}
	slices.SortFunc(waiting, func(a, b *lease.Lease) int {
		return cmp.Or(cmp.Compare(a.At.Partition, b.At.Partition), cmp.Compare(a.At.Offset, b.At.Offset))
	})
	q.keeping = make(chan struct{})
	return waiting, q.keeping
}

// extensions are extend markers for leases: one for each run of offsets.
func (q *queue) extensions(leases []*lease.Lease) []*kgo.Record {
	var runs []marker.Marker
	for _, l := range leases {
		if n := len(runs) - 1; n >= 0 && runs[n].Partition == l.At.Partition && runs[n].Offset+int64(runs[n].Count) == l.At.Offset && runs[n].Count < marker.MaxCount {
			runs[n].Count++
			continue
		}
		runs = append(runs, marker.Marker{
			Partition: l.At.Partition, Offset: l.At.Offset, Count: 1,
			Type: marker.Extend, Duration: q.cfg.Visibility, Holder: q.holder,
		})
	}
	records := make([]*kgo.Record, len(runs))
	for i, m := range runs {
		records[i] = q.scribe.record(m)
	}
	return records
}

// kept waits until nothing is being extended: what is written then comes later in the log.
func (q *queue) kept(ctx context.Context) error {
	q.marking.Lock()
	keeping := q.keeping
	q.marking.Unlock()
	if keeping == nil {
		return nil
	}
	select {
	case <-keeping:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
