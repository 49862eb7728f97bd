package markers

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kafkabench.example/kafka-bench/kmq/internal/engine"
	"kafkabench.example/kafka-bench/kmq/internal/marker"
	"kafkabench.example/kafka-bench/kmq/internal/tracker"
)

// part is a partition that a tracker has.
type part struct {
	t         *Tracker
	partition int32

	committed int64 // under the tracker's lock; -1: nothing by this tracker

	mu      sync.Mutex
	state   *tracker.State // nil until the first marker is read
	barrier int64          // up to where there were markers when the first was read
	end     int64          // the end of the partition, as the last poll knew it
	goal    int64          // up to where to read before anything is redelivered; -1: not set
	paused  bool
	busy    bool // redelivering

	// Of the goroutine that redelivers.
	troubled bool // the last try failed
	trouble  *engine.Complaint

	behind      int64 // the lowest offset that is behind the end of the log; -1: none
	behindSince time.Duration
	scolded     time.Duration // when a refusal was logged; 0: never

	ticking  bool // a tick is being written
	ticked   int64
	lastTick time.Duration

	ending    chan struct{} // batches of ends that are being written
	finishing bool          // start nothing more
	running   context.Context
	cancel    context.CancelFunc
	work      sync.WaitGroup
}

func newPart(t *Tracker, partition int32) *part {
	p := &part{t: t, partition: partition, committed: -1, barrier: -1, goal: -1, ticked: -1, behind: -1, ending: make(chan struct{}, endingAtMost), trouble: engine.NewComplaint(t.cfg.Log)}
	p.running, p.cancel = context.WithCancel(context.Background())
	return p
}

// finish starts nothing more; wait waits for what is under way, and breakOff ends that as
// it is, and the waiting for it.
func (p *part) finish() {
	p.mu.Lock()
	p.finishing = true
	p.mu.Unlock()
}

func (p *part) breakOff() {
	p.finish()
	p.cancel()
}

// What a broker does not answer the client does not give up, broken off or not: that ends
// with the answer, or with the client, and the tracker waits for it when it is closed.
func (p *part) wait() {
	over := make(chan struct{})
	p.t.leave(over)
	p.t.work.Go(func() {
		p.work.Wait()
		close(over)
	})
	select {
	case <-over:
	case <-p.running.Done():
	}
	p.cancel()
}

// take applies the markers of a poll.
func (p *part) take(f kgo.FetchPartition, now time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if f.Err == nil { // an error knows of no end
		p.end = f.HighWatermark
		if p.t.cfg.Transactions {
			p.end = f.LastStableOffset
		}
	}
	if len(f.Records) == 0 {
		return
	}
	if p.state == nil {
		p.state = tracker.New(f.Records[0].Offset)
		p.state.Late = p.t.counted
		p.barrier = p.end
	}
	if from, to := p.state.Position(), min(f.LogStartOffset, f.Records[0].Offset); from < to {
		p.t.deleted(p.partition, from, to)
	}
	for _, r := range f.Records {
		p.apply(r, seen(r, now, p.barrier))
	}
}

func (p *part) apply(r *kgo.Record, at tracker.Seen) {
	if r.Attrs.IsControl() {
		p.state.Apply(r.Offset, r.Timestamp, at, marker.Marker{Type: marker.Tick})
		return
	}
	m, err := marker.Parse(r.Key, r.Value)
	if (err == nil || errors.Is(err, marker.ErrVersion)) && m.Partition != p.partition {
		err = marker.ErrMalformed // nor is it one of a later format
	}
	switch others := !p.t.scribe.ours(m); {
	case others && (err == nil || errors.Is(err, marker.ErrVersion)):
		m = marker.Marker{Type: marker.Tick} // it says what time it is
	case err != nil:
		p.refuse(r, at, err)
		return
	}
	p.state.Apply(r.Offset, r.Timestamp, at, m)
}

// refuse says, once, that a marker can't be read which is, or may be, of the group: it can't
// be told of a damaged one. The tracker goes on with the others, but commits nothing from it
// on: a record may depend on it.
func (p *part) refuse(r *kgo.Record, at tracker.Seen, err error) {
	p.t.refused.Add(1)
	if _, before := p.state.Refused(); !before {
		p.t.cfg.Log.Error("kmq: a marker can't be read; no offset from it on is committed until a newer tracker reads it",
			"topic", r.Topic, "partition", r.Partition, "offset", r.Offset, "error", err)
	}
	p.state.Refuse(r.Offset, r.Timestamp, at)
}

// act starts what is to be done at now, and says in how long it is to be asked again, and
// whether something that is due waits for markers.
func (p *part) act(now time.Duration) (wake time.Duration, waits bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.state == nil || p.finishing {
		return idle, false
	}
	p.bound()
	next, tick, ok := p.state.Next()
	switch {
	case !ok || p.busy:
		return idle, false
	case next > now:
		return next - now, false
	case tick:
		return p.carry(now), true
	case !p.readUp():
		return idle, true
	}
	p.busy, p.goal = true, -1
	p.work.Go(p.redeliver)
	return idle, false
}

// readUp is whether everything has been read that there was when something was first found
// to be due: its end may be among it. Where too much is kept for that, it must do.
func (p *part) readUp() bool {
	if p.goal < 0 {
		p.goal = max(p.end, p.barrier)
	}
	return p.state.Position() >= p.goal || p.state.Spans() > spansAtMost
}

// carry writes a tick, unless one is on its way or was just written.
func (p *part) carry(now time.Duration) time.Duration {
	if unread := p.ticked >= p.state.Position(); p.ticking || unread && now-p.lastTick < tickLostAfter {
		return idle // until it is read
	}
	if next := p.lastTick + tickEvery; p.lastTick > 0 && next > now {
		return next - now
	}
	p.ticking, p.lastTick = true, now
	p.t.tick(p.partition, func(offset int64, err error) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.ticking = false
		if err == nil {
			p.ticked = offset
		} else {
			p.t.poke() // for another
		}
	})
	return idle
}

// bound stops reading while more is kept than should be and what is due is being worked
// off, which makes room. What is lent and not due is bounded by those who hold it.
func (p *part) bound() {
	_, taken := p.state.Open()
	full := p.state.Spans() > spansAtMost && taken > 0
	if full == p.paused {
		return
	}
	p.paused = full
	topic := map[string][]int32{p.t.cfg.MarkersTopic: {p.partition}}
	if full {
		p.t.group.PauseFetchPartitions(topic)
	} else {
		p.t.group.ResumeFetchPartitions(topic)
	}
}

// committable is what may be committed, and whether that is news.
func (p *part) committable() (at int64, news bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.state == nil {
		return 0, false
	}
	at = p.state.Committable()
	return at, at != p.committed
}

func (p *part) reach() reach {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := reach{partition: p.partition, record: -1, marker: -1}
	if p.state == nil {
		return r
	}
	if record, ok := p.state.Oldest(); ok {
		r.record = record
	}
	if _, ok := p.state.OldestStart(); ok {
		r.marker = p.state.Committable()
	}
	return r
}

// commitOffsets commits a group's offsets of one topic, all of them or with an error.
func commitOffsets(ctx context.Context, cl *kgo.Client, topic string, offsets map[int32]kgo.EpochOffset) error {
	var failed error
	cl.CommitOffsetsSync(ctx, map[string]map[int32]kgo.EpochOffset{topic: offsets},
		func(_ *kgo.Client, _ *kmsg.OffsetCommitRequest, resp *kmsg.OffsetCommitResponse, err error) {
			failed = err
			if err != nil {
				return
			}
			for _, t := range resp.Topics {
				for _, p := range t.Partitions {
					failed = errors.Join(failed, kerr.ErrorForCode(p.ErrorCode))
				}
			}
		})
	return failed
}
