package member

import (
	"errors"
	"maps"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/kmq/internal/engine"
	"kafkabench.example/kafka-bench/kmq/internal/lease"
)

const retryTopic = "t.g.retry"

// openBoth opens a member that reads the retry topic, too, which has two partitions.
func (p *place) openBoth(r *recorder) *Member {
	p.Helper()
	cfg := p.config(r, 100)
	cfg.RetryTopic, cfg.Retries = retryTopic, true
	m, err := Open(p.Context(), cfg)
	if err != nil {
		p.Fatal(err)
	}
	p.Cleanup(func() { _ = m.Close(p.Context()); r.set.Close() })
	p.until("partitions of both topics", func() bool { return slices.Equal(m.Owned(), []int32{-2, -1, 0, 1, 2, 3}) })
	return m
}

// produceCopy writes the copy of a record of partition 3 that was delivered once.
func (p *place) produceCopy(group string) {
	p.Helper()
	l := lease.FromRecord(&kgo.Record{Topic: topic, Partition: 3, Offset: 17, Value: []byte("v")})
	if err := p.client.ProduceSync(p.Context(), l.RetryCopy(1, time.Time{}, group, retryTopic, 2)).FirstErr(); err != nil {
		p.Fatal(err)
	}
}

// A member that reads two topics commits both, and the next one continues in both.
func TestAMemberOfTwoTopics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlace(t)
		p.on.Topic(t, retryTopic, 2)
		first := newRecorder(100)
		first.metadata = "what is done"
		m := p.openBoth(first)
		p.produce(8)
		p.produceCopy(group)
		p.produceCopy(group)
		var again []*lease.Lease
		for n := 0; n < 10; {
			ls, err := engine.Receive(t.Context(), m, 10)
			if err != nil {
				t.Fatal(err)
			}
			n += len(ls)
			again = append(again, slices.DeleteFunc(ls, func(l *lease.Lease) bool { return l.Attempt == 1 })...)
		}
		if len(again) != 2 {
			t.Fatalf("%d records come again, want 2", len(again))
		}
		for i, l := range again {
			if (l.At != lease.ID{Partition: -2, Offset: int64(i)}) || (l.Origin() != lease.ID{Partition: 3, Offset: 17}) ||
				l.Record.Topic != topic || l.Record.Partition != 3 || l.Record.Offset != 17 {
				t.Errorf("%v of %v, attempt %d: %+v", l.At, l.Origin(), l.Attempt, l.Record)
			}
		}
		m.Pause(-2)
		if paused := m.Client().PauseFetchPartitions(nil); !maps.EqualFunc(paused, map[string][]int32{retryTopic: {1}}, slices.Equal) {
			t.Errorf("paused: %v", paused)
		}
		if err := m.Close(t.Context()); err != nil {
			t.Fatal(err)
		}

		second := newRecorder(100)
		m = p.openBoth(second)
		p.produceCopy(group)
		p.take(m, 1)
		time.Sleep(50 * time.Millisecond)
		if n := m.delivered.Load(); n != 1 {
			t.Errorf("%d records, want the one that is not committed", n)
		}
		second.mu.Lock()
		defer second.mu.Unlock()
		done := Offset{At: 2, Metadata: "what is done"}
		want := map[int32]Offset{0: done, 1: done, 2: done, 3: done, -1: {At: 0, Metadata: "what is done"}, -2: done}
		if !maps.Equal(second.committed, want) {
			t.Errorf("it begins at %v, want %v", second.committed, want)
		}
	})
}

// Another group's copy ends the member.
func TestAnotherGroupsRetryTopic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlace(t)
		p.on.Topic(t, retryTopic, 2)
		m := p.openBoth(newRecorder(100))
		p.produceCopy("h")
		if _, err := engine.Receive(t.Context(), m, 1); !errors.Is(err, lease.ErrForeign) {
			t.Errorf("received %v", err)
		}
	})
}

// After a cut, the records that the log got anew are not settled, so they must not be deleted, although a commit that
// the cluster has is beyond them.
func TestACutIsNotSettled(t *testing.T) {
	o := newOffsets()
	o.assign(-1, Offset{At: 130}, 130)
	o.cut(-1, 120)
	if got := o.committed(); got[-1] != 120 {
		t.Errorf("records below %d are settled, want 120", got[-1])
	}
	if again := o.changed(map[int32]Offset{-1: {At: 120}}); len(again) != 1 {
		t.Errorf("to be committed: %v", again)
	}
}
