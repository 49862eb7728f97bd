package markers

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/kmq/internal/engine"
	"kafkabench.example/kafka-bench/kmq/internal/lease"
	"kafkabench.example/kafka-bench/kmq/internal/marker"
)

// What a lease is marked with, under queue.marking: all that is so.
const (
	begun  uint8 = 1 << iota // its start is durable
	handed                   // it was handed out
	ended                    // it ran out before it was, and that was noted
)

// mark marks leases.
func (q *queue) mark(leases []*lease.Lease, as uint8) {
	q.marking.Lock()
	for _, l := range leases {
		l.Mark |= as
	}
	q.marking.Unlock()
}

// wait marks leases whose starts are durable, and which were not handed out before.
func (q *queue) wait(leases []*lease.Lease) {
	q.marking.Lock()
	defer q.marking.Unlock()
	for _, l := range leases {
		l.Mark = begun
		if l.State() == lease.Expired { // before its start was written
			q.unseen(l)
		}
	}
}

// ranOut is told each lease whose time ran out. One that nobody was handed is given back
// as such, so that its delivery is not counted: once its start is durable, if it waits for
// that.
func (q *queue) ranOut(l *lease.Lease) {
	q.expired.Add(1)
	q.marking.Lock()
	defer q.marking.Unlock()
	_, late := l.Private.(*start)
	if l.Mark&(handed|ended) == 0 && (late || l.Mark&begun != 0) {
		q.unseen(l)
	}
}

// unseen gives a lease back that was not handed out. It is called under marking.
func (q *queue) unseen(l *lease.Lease) {
	l.Mark |= ended
	q.noted(l, fact{partition: l.At.Partition, kind: marker.Release, undelivered: true})
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
	go func() {
		defer close(k.done)
		engine.Every(ctx, max(q.cfg.Visibility/keepsPer, time.Millisecond), q.cfg.Log, "extend the locks of records that wait", k.keep)
	}()
	return k
}

func (k *keeper) close() {
	k.stop()
	<-k.done
}

// keep extends once, each partition for itself: one batch of markers, however many records
// wait. Until that is durable, what is given back or extended of them waits, so that it comes
// later in the log.
func (k *keeper) keep(ctx context.Context) error {
	q := k.q
	// What is not written in this time is of no use any more.
	ctx, cancel := context.WithTimeout(ctx, q.cfg.Visibility/2)
	defer cancel()
	waiting := q.waiting(time.Now().Add(q.cfg.Visibility * (keepsPer - 1) / keepsPer))
	failed := make(chan error, len(waiting))
	for partition, leases := range waiting {
		go func() {
			err := q.extend(ctx, leases, q.cfg.Visibility)
			q.keepingOver(partition)
			failed <- err
		}()
	}
	var first error
	for range waiting {
		first = cmp.Or(first, <-failed)
	}
	return first
}

// tooLate is how much time a lease must have left to be extended. One that has less is given
// back as it runs out, and that must not come before its extension in the log.
const tooLate = 4 * hurryAtMost

// waiting are the leases that wait to be handed out and end before a time, by partition. It
// says that they are being extended, until keepingOver.
func (q *queue) waiting(before time.Time) map[int32][]*lease.Lease {
	after := time.Now().Add(min(tooLate, q.cfg.Visibility/keepsPer))
	waiting := make(map[int32][]*lease.Lease)
	q.marking.Lock()
	defer q.marking.Unlock()
	q.set.LoseAll(func(l *lease.Lease) bool { // loses none
		if end := l.Deadline(); l.Mark == begun && end.Before(before) && end.After(after) {
			waiting[l.At.Partition] = append(waiting[l.At.Partition], l)
		}
		return false
	})
	for partition := range waiting {
		q.keeping[partition] = make(chan struct{})
	}
	return waiting
}

func (q *queue) keepingOver(partition int32) {
	q.marking.Lock()
	defer q.marking.Unlock()
	close(q.keeping[partition])
	delete(q.keeping, partition)
}

// extend writes extend markers for those of the leases that are open, one for each run of
// offsets, and lends the records of each until d from now once it is durable. That is
// counted from before it was written, so that it never ends later here than in the log;
// until it is known to be written, and if that never is, a lease ends here when the earlier
// of the two deadlines has come. Whatever is written after extend has returned comes later
// in the log, and so does the next extension of a lease, which waits for this one. What has
// no start yet needs none of that: its start will tell.
func (q *queue) extend(ctx context.Context, leases []*lease.Lease, d time.Duration) error {
	leases, err := q.late.lend(ctx, leases, d)
	if err != nil || len(leases) == 0 {
		return err
	}
	over, err := q.claim(ctx, leases)
	if err != nil {
		return err
	}
	defer close(over)
	until := time.Now().Add(d)
	open := q.set.Lend(leases, time.Time{})
	q.shorten(open, until)
	all := runs(open)
	type outcome struct {
		of  []*lease.Lease
		err error
	}
	written := make(chan outcome, len(all))
	for _, of := range all {
		q.writer.Produce(ctx, q.extension(of, d), func(r *kgo.Record, err error) {
			if err != nil {
				err = fmt.Errorf("kmq: write to partition %d of topic %s: %w", r.Partition, r.Topic, err)
			}
			written <- outcome{of, err}
		})
	}
	var failed error
	for range all {
		select {
		case w := <-written:
			if w.err == nil {
				q.set.Lend(w.of, until)
			}
			failed = cmp.Or(failed, w.err)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return failed
}

// claim waits until nobody extends any of the leases, and has others wait until the channel
// is closed: were two under way, the one that is noted last here need not be the last in the
// log.
func (q *queue) claim(ctx context.Context, leases []*lease.Lease) (over chan struct{}, err error) {
	over = make(chan struct{})
	for {
		other := q.tryClaim(leases, over)
		if other == nil {
			return over, nil
		}
		select {
		case <-other:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// tryClaim claims all of the leases, or none of them: then it returns the claim that is in
// the way. A lease keeps its last claim as its Private.
func (q *queue) tryClaim(leases []*lease.Lease, over chan struct{}) (other chan struct{}) {
	q.marking.Lock()
	defer q.marking.Unlock()
	for _, l := range leases {
		if other, _ := l.Private.(chan struct{}); other != nil && !closed(other) {
			return other
		}
	}
	for _, l := range leases {
		l.Private = over
	}
	return nil
}

func closed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// shorten has those of the leases end at a time that would end later.
func (q *queue) shorten(leases []*lease.Lease, until time.Time) {
	later := slices.DeleteFunc(slices.Clone(leases), func(l *lease.Lease) bool { return !l.Deadline().After(until) })
	q.set.Lend(later, until)
}

// extension is the extend marker of a run.
func (q *queue) extension(run []*lease.Lease, d time.Duration) *kgo.Record {
	return q.scribe.record(marker.Marker{
		Partition: run[0].At.Partition, Offset: run[0].At.Offset, Count: int32(len(run)),
		Type: marker.Extend, Duration: d, Holder: q.holder,
	})
}

// runs sorts leases and cuts them into runs of offsets, each for one marker.
func runs(leases []*lease.Lease) (all [][]*lease.Lease) {
	slices.SortFunc(leases, func(a, b *lease.Lease) int {
		return cmp.Or(cmp.Compare(a.At.Partition, b.At.Partition), cmp.Compare(a.At.Offset, b.At.Offset))
	})
	from := 0
	for i, l := range leases {
		next := lease.ID{Partition: l.At.Partition, Offset: l.At.Offset + 1}
		if i+1 == len(leases) || leases[i+1].At != next || i+1-from == marker.MaxCount {
			all = append(all, leases[from:i+1])
			from = i + 1
		}
	}
	return all
}

// kept waits until nothing is being extended of partitions: what is written then comes later
// in the log.
func (q *queue) kept(ctx context.Context, partitions ...int32) error {
	for _, p := range partitions {
		q.marking.Lock()
		keeping := q.keeping[p]
		q.marking.Unlock()
		if keeping == nil {
			continue
		}
		select {
		case <-keeping:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

func partitionsOf(leases []*lease.Lease) (partitions []int32) {
	for _, l := range leases {
		if !slices.Contains(partitions, l.At.Partition) {
			partitions = append(partitions, l.At.Partition)
		}
	}
	return partitions
}
