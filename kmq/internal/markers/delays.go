package markers

import (
	"container/heap"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"kafkabench.example/kafka-bench/kmq/internal/lease"
)

// delayedAtMost is how many records of a partition a process may have given back with a
// delay that goes on: whoever gives a record back frees its room, while the tracker keeps
// it, with its start, until the delay has passed.
const delayedAtMost = 1 << 16

// delays are the ends of the delays that go on, by partition.
type delays struct {
	most int
	log  *slog.Logger

	mu      sync.Mutex
	parts   map[int32]*ends
	refused int64
	said    time.Duration // when it was last logged
}

func newDelays(most int, log *slog.Logger) *delays {
	return &delays{most: most, log: log, parts: map[int32]*ends{}}
}

// take notes a delay, or refuses it at the bound; now is a reading of a monotonic clock. It
// returns when the delay ends, or 0 for none.
func (d *delays) take(partition int32, now, delay time.Duration) (until time.Duration, err error) {
	if delay <= 0 {
		return 0, nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	e := d.parts[partition]
	if e == nil {
		e = &ends{}
		d.parts[partition] = e
	}
	for len(*e) > 0 && (*e)[0] <= now {
		heap.Pop(e)
	}
	if len(*e) >= d.most {
		if d.refused++; d.refused == 1 || now-d.said >= time.Minute {
			d.said = now
			d.log.Warn("kmq: a record can't be given back with a delay: too many are", "partition", partition, "bound", d.most, "refused", d.refused)
		}
		return 0, fmt.Errorf("%w: %d of partition %d; the next in %v: give the record back without one, or wait: it stays lent until its deadline",
			lease.ErrDelayed, len(*e), partition, ((*e)[0] - now).Round(time.Millisecond))
	}
	heap.Push(e, now+delay)
	return now + delay, nil
}

// giveBack frees the room of a delay that take noted, with which nothing was given back.
func (d *delays) giveBack(partition int32, until time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	e := d.parts[partition]
	if until == 0 || e == nil {
		return
	}
	if i := slices.Index(*e, until); i >= 0 { // else it has passed
		heap.Remove(e, i)
	}
}

// counts are the delays that go on, as far as it was looked, and those that were refused.
func (d *delays) counts(now time.Duration) (waiting, refused int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for p, e := range d.parts {
		for len(*e) > 0 && (*e)[0] <= now {
			heap.Pop(e)
		}
		waiting += int64(len(*e))
		if len(*e) == 0 {
			delete(d.parts, p)
		}
	}
	return waiting, d.refused
}

// ends is a heap of times.
type ends []time.Duration

func (e ends) Len() int           { return len(e) }
func (e ends) Less(i, j int) bool { return e[i] < e[j] }
func (e ends) Swap(i, j int)      { e[i], e[j] = e[j], e[i] }
func (e *ends) Push(x any)        { *e = append(*e, x.(time.Duration)) }
func (e *ends) Pop() any {
	n := len(*e) - 1
	x := (*e)[n]
	*e = (*e)[:n]
	return x
}
