package markers

import (
	"context"
	"errors"
	"math"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/kmq/internal/engine"
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
	state  *tracker.State
	live   int64 // from this offset on, markers are read when they are written
	paused bool
	busy   bool // redelivering

	ticking  bool  // a tick is being written
	ticked   int64 // offset of the last; -1: none
	lastTick time.Duration

	// Of the goroutine that redelivers.
	trouble     *engine.Complaint
	behind      int64 // the lowest wanted offset behind the end of the log; -1: none
	behindSince time.Duration

	finishing bool // begin nothing more
	running   context.Context
	cancel    context.CancelFunc
	work      sync.WaitGroup
}

func newPart(t *Tracker, partition int32, committed int64) *part {
	p := &part{
		t: t, partition: partition, state: tracker.New(max(committed, 0)), live: math.MaxInt64, ticked: -1, behind: -1,
		trouble: engine.NewComplaint(t.cfg.Log),
	}
	p.state.Late = t.countLate
	p.running, p.cancel = context.WithCancel(context.Background())
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

// apply applies a marker. Control records and the markers of other groups only say what time it is.
//
// A marker that cannot be read is, or may be, of the group. The tracker continues with the others, but
// commits nothing from it on: a record may depend on it.
func (p *part) apply(r *kgo.Record, at tracker.Seen) {
	m, err := marker.Parse(r.Key, r.Value)
	readable := err == nil || errors.Is(err, marker.ErrVersion)
	switch {
	case r.Attrs.IsControl(), readable && m.Partition == p.partition && !p.t.scribe.owns(m):
		m = marker.Marker{Type: marker.Tick}
	case err == nil && m.Partition == p.partition:
	default:
		p.t.unreadable.Add(1)
		if p.state.Refuse(r.Offset, r.Timestamp, at) {
			p.t.cfg.Log.Error("kmq: a marker can't be read; no offset from it on is committed until a newer tracker reads it",
				"topic", r.Topic, "partition", r.Partition, "offset", r.Offset, "error", err)
		}
		return
	}
	p.state.Apply(r.Offset, r.Timestamp, at, m)
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
	next, moreTime, ok := p.state.Next()
	due := ok && next <= now
	switch {
	case p.ticking, p.busy:
	case p.ticked >= p.state.Position(): // the last tick is not read
		if now-p.lastTick >= tickLostAfter {
			p.tick(now)
		}
	case p.live == math.MaxInt64, due && (moreTime || p.lastTick < next):
		p.tick(now)
	case due:
		p.busy = true
		p.work.Go(p.redeliver)
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
	full := p.state.Open() > openAtMost && p.busy
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
	return p.state.Committable()
}

func (p *part) needs() need {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := need{partition: p.partition, record: -1, marker: -1}
	if record, ok := p.state.Oldest(); ok {
		n.record, n.marker = record, p.state.Committable()
	}
	return n
}
