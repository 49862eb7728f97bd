package markers

import (
	"context"
	"errors"
	"math"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/kmq/internal/engine"
	"kafkabench.example/kafka-bench/kmq/internal/lease"
	"kafkabench.example/kafka-bench/kmq/internal/marker"
	"kafkabench.example/kafka-bench/kmq/internal/tracker"
)

const (
	// A tick that was written and cannot be read for so long is lost, perhaps with a failed leader.
	tickLostAfter = 5 * time.Second
	// openAtMost is how many records of a partition are kept before those that are due are redelivered
	// first, and nothing more is read.
	openAtMost = 1 << 20
)

// part is a partition of the markers that a tracker has.
type part struct {
	t         *Tracker
	partition int32

	mu     sync.Mutex
	lanes  [2]*lane // both have read the same markers
	live   int64    // from this offset on, markers are read when they are written
	paused bool

	ticking  bool  // a tick is being written
	ticked   int64 // offset of the last; -1: none
	lastTick time.Duration

	finishing bool // begin nothing more
	running   context.Context
	cancel    context.CancelFunc
	work      sync.WaitGroup
}

// lane is a partition of records whose markers are in the part: of the queue's topic, or of the retry topic.
type lane struct {
	*part
	number int32 // see [lease.Retry]

	state   *tracker.State
	busy    bool // redelivering
	settled settled

	// Of the goroutine that redelivers.
	trouble     *engine.Complaint
	behind      int64 // the lowest wanted offset behind the end of the log; -1: none
	behindSince time.Duration
}

func newPart(t *Tracker, partition int32, committed int64) *part {
	p := &part{t: t, partition: partition, live: math.MaxInt64, ticked: -1}
	p.running, p.cancel = context.WithCancel(context.Background())
	for i, number := range []int32{partition, lease.Retry(partition)} {
		l := &lane{part: p, number: number, state: tracker.New(max(committed, 0)), behind: -1, trouble: engine.NewComplaint(t.cfg.Log)}
		l.state.Late = t.countLate
		p.lanes[i] = l
	}
	return p
}

func (p *part) finish() {
	p.mu.Lock()
	p.finishing = true
	p.mu.Unlock()
}

// take applies those markers that are of the partition.
func (p *part) take(records []*kgo.Record, now time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range records {
		if r.Partition == p.partition {
			p.apply(r, tracker.Seen{At: now, Live: r.Offset >= p.live})
		}
	}
}

// apply applies a marker. To a lane, control records, other groups' markers and the other lane's only say what time it is.
//
// A marker that cannot be read is, or may be, of the group. The tracker continues with the others, but
// commits nothing from it on: a record may depend on it.
func (p *part) apply(r *kgo.Record, at tracker.Seen) {
	m, err := marker.Parse(r.Key, r.Value)
	here := lease.NumberInTopic(m.Partition) == p.partition
	readable := err == nil || errors.Is(err, marker.ErrVersion)
	switch {
	case r.Attrs.IsControl(), readable && here && !p.t.scribe.owns(m):
		m = marker.Marker{Type: marker.Tick}
	case err == nil && here:
	default:
		p.t.unreadable.Add(1)
		first := false
		for _, l := range p.lanes {
			first = l.state.Refuse(r.Offset, r.Timestamp, at)
		}
		if first {
			p.t.cfg.Log.Error("kmq: a marker can't be read; no offset from it on is committed until a newer tracker reads it",
				"topic", r.Topic, "partition", r.Partition, "offset", r.Offset, "error", err)
		}
		return
	}
	for _, l := range p.lanes {
		one := m
		if m.Partition != l.number {
			one = marker.Marker{Type: marker.Tick}
		}
		l.state.Apply(r.Offset, r.Timestamp, at, one)
	}
}

// act redelivers what is due at now, once a tick was read that was written when it was due: its end may be
// before the tick. The first tick is written at once: what comes later is read when it is written.
func (p *part) act(now time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.finishing {
		return
	}
	p.limit()
	tick := false
	switch {
	case p.ticking:
		return
	case p.live == math.MaxInt64:
		tick = true
	case p.ticked >= p.lanes[0].state.Position(): // the last tick is not read
		tick = now-p.lastTick >= tickLostAfter
	default:
		for _, l := range p.lanes {
			next, moreTime, ok := l.state.Next()
			switch {
			case l.busy || !ok || next > now:
			case moreTime || p.lastTick < next:
				tick = true
			default:
				l.busy = true
				p.work.Go(l.redeliver)
			}
		}
	}
	if tick {
		p.tick(now)
	}
}

// tick writes a tick.
func (p *part) tick(now time.Duration) {
	p.ticking, p.lastTick = true, now
	r := p.t.scribe.record(marker.Marker{Partition: p.partition, Offset: -1, Type: marker.Tick})
	p.t.client.Produce(p.running, r, func(r *kgo.Record, err error) {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.ticking = false; err == nil {
			p.ticked, p.live = r.Offset, min(p.live, r.Offset)
		}
	})
}

// limit stops the reading while too much is open and what is due is being redelivered, which makes
// room.
func (p *part) limit() {
	open, busy := 0, false
	for _, l := range p.lanes {
		open, busy = open+l.state.Open(), busy || l.busy
	}
	full := open > openAtMost && busy
	switch {
	case full == p.paused:
		return
	case full:
		p.t.member.Pause(p.partition)
	default:
		p.t.member.Resume(p.partition)
	}
	p.paused = full
}

func (p *part) committable() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lowest()
}

// lowest is called with the lock.
func (p *part) lowest() int64 {
	return min(p.lanes[0].state.Committable(), p.lanes[1].state.Committable())
}
