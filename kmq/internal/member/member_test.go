package member

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kafkabench.example/kafka-bench/kmq/internal/engine"
	"kafkabench.example/kafka-bench/kmq/internal/lease"
)

func TestOffsetsAndTheirMetadataAreTheNextOwners(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlace(t)
		p.produce(10)
		first := newRecorder(100)
		first.metadata = "what is done"
		m := p.open(first, 100)
		p.take(m, 10)
		if err := m.Commit(t.Context()); err != nil {
			t.Errorf("commit: %v", err)
		}
		if err := m.Close(t.Context()); err != nil {
			t.Errorf("close: %v", err)
		}
		if _, err := engine.Receive(t.Context(), m, 1); !errors.Is(err, lease.ErrClosed) {
			t.Errorf("receive after close: %v", err)
		}
		for p, o := range first.committed {
			if (o != Offset{At: -1}) {
				t.Errorf("a new group has committed %+v of partition %d", o, p)
			}
		}

		second := newRecorder(100)
		m = p.open(second, 100)
		p.until("assignment", func() bool { return len(m.Owned()) == 4 })
		p.produce(4)
		p.take(m, 4)
		time.Sleep(50 * time.Millisecond)
		if n := second.set.Len() + int(m.delivered.Load()); n != 4 {
			t.Errorf("it reads %d records, of which 4 are not committed", n)
		}
		second.mu.Lock()
		defer second.mu.Unlock()
		want := map[int32]Offset{0: {At: 3, Metadata: "what is done"}, 1: {At: 3, Metadata: "what is done"}, 2: {At: 2, Metadata: "what is done"}, 3: {At: 2, Metadata: "what is done"}}
		if !maps.Equal(second.committed, want) {
			t.Errorf("it begins at %v, want %v", second.committed, want)
		}
	})
}

// A partition that was never committed does not wait for a fetch of those that were, which
// waits for their next records.
func TestWhatIsReadFromItsStartIsInTheFirstFetch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlace(t)
		p.produce(4)
		var committed kadm.Offsets
		committed.Add(kadm.Offset{Topic: topic, Partition: 0, At: 1, LeaderEpoch: -1})
		if err := kadm.NewClient(p.client).CommitAllOffsets(t.Context(), group, committed); err != nil {
			t.Fatal(err)
		}
		r := newRecorder(50)
		first := make(chan int, 1) // partitions in the first fetch
		p.cluster.ControlKey(int16(kmsg.Fetch), func(req kmsg.Request) (kmsg.Response, error, bool) {
			for _, topic := range req.(*kmsg.FetchRequest).Topics {
				select {
				case first <- len(topic.Partitions):
				default: // a later fetch
				}
			}
			return nil, nil, false
		})
		// Whoever asks for both at a time fetches first.
		p.cluster.ControlKey(int16(kmsg.ListOffsets), func(kmsg.Request) (kmsg.Response, error, bool) {
			p.cluster.SleepControl(func() { time.Sleep(200 * time.Millisecond) })
			return nil, nil, false
		})
		p.take(p.open(r, 50), 3)
		if n := <-first; n != 4 {
			t.Errorf("%d partitions are in the first fetch, of 4", n)
		}
	})
}

func TestRevocationIsInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlace(t)
		first, second := newRecorder(50), newRecorder(50)
		var commits sync.Mutex
		seen := make(map[int32]int64) // what is committed, in the order of the broker
		p.cluster.ControlKey(int16(kmsg.OffsetCommit), func(req kmsg.Request) (kmsg.Response, error, bool) {
			p.cluster.KeepControl()
			commits.Lock()
			defer commits.Unlock()
			for _, topic := range req.(*kmsg.OffsetCommitRequest).Topics {
				for _, part := range topic.Partitions {
					if before := seen[part.Partition]; part.Offset < before {
						t.Errorf("partition %d is committed at %d after %d", part.Partition, part.Offset, before)
					}
					seen[part.Partition] = part.Offset
					first.mu.Lock()
					first.write("commit %d", part.Partition)
					first.mu.Unlock()
				}
			}
			return nil, nil, false
		})
		stop, work := make(chan struct{}), sync.WaitGroup{}
		defer work.Wait()
		defer close(stop)
		consume := func(m *Member) {
			work.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
					}
					ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
					ls, _ := engine.Receive(ctx, m, 5)
					cancel()
					for _, l := range ls {
						_ = m.cfg.Set.Settle(l, lease.Accepted)
					}
				}
			})
		}
		work.Go(func() {
			for i := int32(0); ; i++ {
				select {
				case <-stop:
					return
				case <-time.After(2 * time.Millisecond):
					p.client.Produce(context.Background(), &kgo.Record{Topic: topic, Partition: i % 4}, nil)
				}
			}
		})
		cfg := p.config(first, 50)
		cfg.CommitEvery = time.Minute // so that the commits are those of revocations
		m1, err := Open(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = m1.Close(context.Background()); first.set.Close() })
		consume(m1)
		p.until("records", func() bool { return len(m1.Owned()) == 4 && first.set.Len() >= 0 && m1.delivered.Load() > 20 })
		m2 := p.open(second, 50)
		consume(m2)
		p.until("two partitions each", func() bool { return len(m1.Owned()) == 2 && len(m2.Owned()) == 2 })

		diary := first.read()
		flush := slices.IndexFunc(diary, func(s string) bool { return strings.HasPrefix(s, "flush") })
		forget := slices.IndexFunc(diary, func(s string) bool { return strings.HasPrefix(s, "forget") })
		if flush < 0 || forget < flush {
			t.Fatalf("it was asked: %q", diary)
		}
		revoked := strings.TrimPrefix(diary[flush], "flush ")
		if diary[forget] != "forget "+revoked {
			t.Errorf("flushed %s, then %s", revoked, diary[forget])
		}
		for _, s := range diary[flush+1 : forget] {
			if !strings.HasPrefix(s, "commit") {
				t.Errorf("between flush and forget: %q", s)
			}
		}
		if forget-flush != 3 {
			t.Errorf("of %s were committed: %q", revoked, diary[flush+1:forget])
		}
		for _, s := range diary {
			if strings.Contains(s, "in the middle") {
				t.Error(s)
			}
		}
		begun := slices.DeleteFunc(diary[forget+1:], func(s string) bool { return !strings.HasPrefix(s, "begin") })
		for _, s := range begun {
			for _, taken := range strings.Fields(strings.Trim(revoked, "[]")) {
				if strings.Contains(s, taken) {
					t.Errorf("after %s was taken away: %s", revoked, s)
				}
			}
		}
	})
}

func TestPauseAndResume(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlace(t)
		r := newRecorder(100)
		m := p.open(r, 100)
		p.until("assignment", func() bool { return len(m.Owned()) == 4 })
		m.Pause(1)
		var c engine.Counts
		if m.Counts(&c); !slices.Equal(c.Paused, []int32{1}) {
			t.Errorf("paused: %v", c.Paused)
		}
		time.Sleep(100 * time.Millisecond) // what was being fetched is
		r.mu.Lock()
		r.diary = nil
		r.mu.Unlock()
		p.produce(40)
		p.take(m, 30)
		for _, s := range r.read() {
			if strings.Contains(s, "1") {
				t.Errorf("partition 1 is paused: %s", s)
			}
		}
		m.Resume(1)
		p.take(m, 10)
		c = engine.Counts{}
		if m.Counts(&c); len(c.Paused) != 0 || c.Delivered != 40 {
			t.Errorf("%+v", c)
		}
	})
}
