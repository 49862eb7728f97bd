package markers

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/kmq/internal/engine"
	"kafkabench.example/kafka-bench/kmq/internal/marker"
)

// A lock lasts from when its start came, however long that waited to be polled. Where nothing
// says when it came, from when it was polled.
func TestALockLastsFromWhenItsStartCame(t *testing.T) {
	for _, c := range []struct {
		name string
		came time.Duration // 0: not known
		due  time.Duration
	}{
		{"known", 3 * time.Second, 4 * time.Second},
		{"not known", 0, 11 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPart(&Tracker{cfg: engine.Config{Visibility: time.Second}}, 0)
			r := scribe{}.record(marker.Marker{Offset: 0, Type: marker.Start, Count: 2, Duration: time.Second})
			r.Timestamp = time.UnixMilli(0)
			if c.came > 0 {
				arrivals(func() time.Duration { return c.came }).OnFetchRecordBuffered(r)
			}
			p.take(kgo.FetchPartition{HighWatermark: 0, Records: []*kgo.Record{r}}, 10*time.Second)
			// The log's time is cut to milliseconds: due up to one later.
			if at, _, ok := p.state.Next(); !ok || at < c.due || at > c.due+time.Millisecond {
				t.Errorf("due at %v, want %v", at, c.due)
			}
		})
	}
}

// polled counts the markers that are polled, and those that say when they came.
type polled struct {
	topic string

	all, noted atomic.Int64
}

func (p *polled) OnFetchRecordUnbuffered(r *kgo.Record, _ bool) {
	if r.Topic != p.topic {
		return
	}
	if a, ok := r.Context.(arrival); ok && a.at >= 0 && a.at < time.Minute && a.Value(p) == nil { // by the tracker's clock
		p.noted.Add(1)
	}
	p.all.Add(1)
}

// What a tracker reads says when it came.
func TestATrackerNotesWhenMarkersCome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p polled
		w := newWorld(t, 1, func(cfg *engine.Config) {
			p.topic = cfg.MarkersTopic
			cfg.Client = append(cfg.Client, kgo.WithHooks(&p))
		})
		q := w.open()
		w.produce(0, 1)
		_ = q.Nack(w.ctx, w.receive(q, 1)[0], 0)
		w.until("its markers are read", func() bool { return p.all.Load() > 0 })
		if all, noted := p.all.Load(), p.noted.Load(); noted < all {
			t.Errorf("%d of %d markers said when they came", noted, all)
		}
	})
}
