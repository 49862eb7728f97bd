package markers

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/kmq/internal/engine"
	"kafkabench.example/kafka-bench/kmq/internal/lease"
	"kafkabench.example/kafka-bench/kmq/internal/marker"
	"kafkabench.example/kafka-bench/kmq/internal/step"
)

const (
	// An ended record waits so long for others. In a drain on three brokers, markers reached 0.8 of plain's throughput,
	// and 0.68 with 50 ms. With 200 ms, redeliveries were up to 151 ms late at p99.
	linger = 100 * time.Millisecond
	hurry  = 5 * time.Millisecond // and one that was given back
	// A record that ends so shortly before its deadline is written as soon: the tracker would deliver
	// it again.
	hurryBefore = 3 * linger
)

// outbox writes what became of records: neighbours as one marker, and what is settled within a while
// at once, because a batch costs the brokers as much as thousands of records read. It needs no bound:
// while markers cannot be written, no start is durable and so nothing is handed out.
type outbox struct {
	client  *kgo.Client
	scribe  scribe
	holder  uint32
	writing pending

	mu      sync.Mutex
	waiting map[fact][]int64 // offsets
	timer   *time.Timer
	due     time.Time // of the timer
	trouble *engine.Complaint

	stop chan struct{}
	done chan struct{}
}

// fact is what is said of records: a marker without its offsets.
type fact struct {
	partition   int32
	epoch       int32
	kind        marker.Type
	reason      marker.Reason
	delay       time.Duration
	undelivered bool
}

func (f fact) about(l *lease.Lease) fact {
	f.partition, f.epoch = l.At.Partition, l.Index
	return f
}

func newOutbox(client *kgo.Client, cfg *engine.Config, holder uint32) *outbox {
	o := &outbox{
		client: client, scribe: newScribe(cfg), holder: holder,
		waiting: make(map[fact][]int64), trouble: engine.NewComplaint(cfg.Log),
		timer: time.NewTimer(time.Hour), stop: make(chan struct{}), done: make(chan struct{}),
	}
	go o.run()
	return o
}

func (o *outbox) run() {
	defer close(o.done)
	defer o.timer.Stop()
	for {
		select {
		case <-o.timer.C:
			o.send()
		case <-o.stop:
			return
		}
	}
}

// put notes what became of the record at an offset, to be written soon or very soon. It never waits.
func (o *outbox) put(f fact, offset int64, now bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	within := linger
	if now {
		within = hurry
	}
	if due := time.Now().Add(within); len(o.waiting) == 0 || due.Before(o.due) {
		o.due = due
		o.timer.Reset(within)
	}
	o.waiting[f] = append(o.waiting[f], offset)
}

// flush waits until everything that was put before is durable, or for ctx.
func (o *outbox) flush(ctx context.Context) error {
	o.send()
	return o.writing.wait(ctx)
}

// close ends the writing of what is not durable.
func (o *outbox) close() {
	close(o.stop)
	<-o.done
}

// send writes what is waiting.
func (o *outbox) send() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for f, offsets := range o.waiting {
		slices.Sort(offsets)
		for len(offsets) > 0 {
			n := 1
			for n < min(len(offsets), marker.MaxCount) && offsets[n] == offsets[0]+int64(n) {
				n++
			}
			m := marker.Marker{
				Partition: f.partition, Offset: offsets[0], Count: int32(n), Type: f.kind, Epoch: f.epoch,
				Reason: f.reason, Duration: f.delay, Undelivered: f.undelivered,
			}
			if f.kind != marker.End {
				m.Holder = o.holder
			}
			o.write(o.scribe.record(m), f, o.writing.add())
			offsets = offsets[n:]
		}
	}
	clear(o.waiting)
}

// write writes a marker until it is durable.
func (o *outbox) write(r *kgo.Record, f fact, number uint64) {
	o.client.Produce(context.Background(), r, func(_ *kgo.Record, err error) {
		if err == nil {
			switch {
			case f.kind != marker.End:
			case f.reason == marker.Copied:
				step.At(step.CopyEnded)
			default:
				step.At(step.Ended)
			}
			o.writing.done(number)
			return
		}
		o.mu.Lock()
		defer o.mu.Unlock()
		o.trouble.About("write end markers", err)
		time.AfterFunc(retryAfter, func() {
			select {
			case <-o.stop:
			default:
				o.write(r, f, number)
			}
		})
	})
}
