package member

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"sync"

	"github.com/twmb/franz-go/pkg/kgo"
)

// offsets are where the partitions of a member stand.
type offsets struct {
	committing chan struct{}    // has room for one commit at a time
	most       int              // bytes of metadata in one request; in turn, as commits are
	fetched    map[int32]Offset // what the group had committed when it last assigned; in turn
	leaders    map[int32]int32  // the leader epochs of fetched; in turn

	mu    sync.Mutex
	owned map[int32]*position
}

// position is where one stands.
type position struct {
	committed Offset
	unknown   bool  // a later commit had no answer: the cluster may have that instead
	next      int64 // the offset after the last record that was polled
	begun     bool  // next is one, or a commit: what is missing from there on was deleted

	epochs Epochs // of what was read, and of what the commit says
	known  int64  // the end of what the commit says
	end    int64  // of the log, when the first records were read; 0 before
}

func newOffsets() *offsets {
	return &offsets{owned: make(map[int32]*position), committing: make(chan struct{}, 1), most: mostMetadata}
}

func (o *offsets) assign(partition int32, committed Offset, from int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	next := from
	if from < 0 {
		next = max(committed.At, 0)
	}
	o.owned[partition] = &position{committed: committed, next: next, begun: from >= 0}
}

func (o *offsets) forget(partitions []int32) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, p := range partitions {
		delete(o.owned, p)
	}
}

// gap is what a log lost before a partition was polled to its end: the offsets in [from, to).
type gap struct {
	partition int32
	from, to  int64
}

// read notes that a partition was polled, from one offset to before another, of a log that
// begins at start. It returns what was deleted before it; owned is false if the partition
// is another's. Offsets that are in the log and no records, such as the ends of
// transactions, are no gap.
func (o *offsets) read(partition int32, first, next, start int64) (lost gap, owned bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	p := o.owned[partition]
	if p == nil {
		return gap{}, false
	}
	if to := min(start, first); p.begun && to > p.next {
		lost = gap{partition: partition, from: p.next, to: to}
	}
	p.next, p.begun = next, true
	return lost, true
}

// changed are the offsets that are not committed as they are, of partitions that are owned.
func (o *offsets) changed(committable map[int32]Offset) map[int32]Offset {
	o.mu.Lock()
	defer o.mu.Unlock()
	out := make(map[int32]Offset, len(committable))
	for partition, to := range committable {
		p := o.owned[partition]
		free := to.Free
		to.Free = false
		switch {
		case p == nil || to.At < 0 || to == p.committed && !p.unknown:
		case free && to.At == p.committed.At:
		case to == Offset{} && p.committed.At < 0 && !p.unknown: // nothing of it was read
		default:
			out[partition] = to
		}
	}
	return out
}

// A coordinator writes a commit as one batch of records, which is at most as large as it
// takes one to be: 1 MiB by default. With keys, a request of mostMetadata is below that. One
// of leastMetadata was not refused for its size.
const (
	mostMetadata  = 512 << 10
	leastMetadata = 16 << 10
)

// part takes out of the offsets as many as one request has: one at least, the partitions in
// order.
func (o *offsets) part(of map[int32]Offset) map[int32]Offset {
	out, size := make(map[int32]Offset, len(of)), 0
	for _, partition := range sorted(of) {
		to := of[partition]
		if size += len(to.Metadata); size > o.most && len(out) > 0 {
			break
		}
		out[partition] = to
		delete(of, partition)
	}
	return out
}

// refused notes that a request with these was refused, perhaps for its size; false if there
// is nothing to be gained by smaller ones.
func (o *offsets) refused(offsets map[int32]Offset) (smaller bool) {
	size := 0
	for _, to := range offsets {
		size += len(to.Metadata)
	}
	if len(offsets) < 2 || size <= leastMetadata {
		return false
	}
	o.most = max(size/2, leastMetadata)
	return true
}

func (o *offsets) commit(partition int32, to Offset) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if p := o.owned[partition]; p != nil {
		p.committed, p.unknown, p.epochs = to, false, p.epochs.Within(to.At, math.MaxInt64)
	}
}

// unanswered notes that the cluster may have committed these or not, so that even what was committed before is
// committed again.
func (o *offsets) unanswered(commits map[int32]Offset) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for partition := range commits {
		if p := o.owned[partition]; p != nil {
			p.unknown = true
		}
	}
}

// know notes which epochs the committed records had.
func (o *offsets) know(partition int32, q question) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if p := o.owned[partition]; p != nil {
		p.epochs, p.known = q.epochs, q.end
	}
}

// note adds the epochs of records that were read, and reports whether one is new, or if these are the first records.
func (o *offsets) note(partition int32, records []*kgo.Record, end int64) (turned bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	p := o.owned[partition]
	if p == nil {
		return false
	}
	if p.end == 0 {
		p.end, turned = end, true
	}
	if records[len(records)-1].LeaderEpoch > p.epochs.newest() {
		turned = true
		for _, r := range records {
			p.epochs = p.epochs.add(r)
		}
	}
	return turned
}

// turn returns what to ask about the log below a record whose epoch is not the expected one.
func (p position) turn(r *kgo.Record) (question, bool) {
	if len(p.epochs) == 0 || r.LeaderEpoch < 0 || p.epochs.before(r.Offset+1) == r.LeaderEpoch {
		return question{}, false
	}
	return question{epochs: p.epochs, end: max(p.next, p.known), asked: p.epochs.newest()}, true
}

// readBeyond reports whether offsets from at on were read.
func (p position) readBeyond(at int64) bool { return p.begun && at < p.next }

// cut forgets what was read from an offset on. If that is below zero, the brokers know nothing of the epochs, and
// only what is committed counts.
func (o *offsets) cut(partition int32, at int64) cut {
	o.mu.Lock()
	defer o.mu.Unlock()
	p := o.owned[partition]
	if p == nil {
		return cut{partition, max(at, 0)}
	}
	if at < 0 {
		at, p.epochs = p.committed.At, nil
	}
	p.next, p.known, p.epochs = min(p.next, at), min(p.known, at), p.epochs.cut(at)
	if at < p.committed.At { // nothing beyond it is settled, though the cluster still has the commit
		p.committed, p.unknown = Offset{At: at}, true
	}
	return cut{partition, at}
}

// of returns where a partition stands; zero if it is not owned.
func (o *offsets) of(partition int32) position {
	o.mu.Lock()
	defer o.mu.Unlock()
	if p := o.owned[partition]; p != nil {
		return *p
	}
	return position{}
}

func (o *offsets) partitions() []int32 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return sorted(o.owned)
}

// committed are the offsets that the group has committed of the partitions that are owned.
func (o *offsets) committed() map[int32]int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	all := make(map[int32]int64, len(o.owned))
	for p, at := range o.owned {
		all[p] = at.committed.At
	}
	return all
}

// behind is how many offsets were polled and are not committed.
func (o *offsets) behind() (n int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, p := range o.owned {
		n += max(0, p.next-max(p.committed.At, 0))
	}
	return n
}

func sorted[K cmp.Ordered, V any](m map[K]V) []K {
	if len(m) == 0 {
		return nil
	}
	return slices.Sorted(maps.Keys(m))
}
