package markers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kafkabench.example/kafka-bench/kmq/internal/engine"
	"kafkabench.example/kafka-bench/kmq/internal/lease"
	"kafkabench.example/kafka-bench/kmq/internal/marker"
)

// A poll whose starts are refused for good is never committed past, nor is what was read
// after it handed out: the next member reads both.
func TestNothingGoesPastARefusedStart(t *testing.T) {
	for _, txns := range []bool{false, true} {
		t.Run(fmt.Sprintf("transactions %v", txns), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, 1, func(c *engine.Config) { c.Transactions = txns })
				q := w.open()
				var refuse atomic.Bool
				refusing, free := make(chan struct{}), make(chan struct{})
				w.onProduce(w.cfg.MarkersTopic, func(p *kmsg.ProduceRequest) *kmsg.ProduceResponse {
					if !refuse.CompareAndSwap(true, false) {
						return nil
					}
					close(refusing)
					w.fake.SleepControl(func() { <-free })
					return refusal(p, kerr.TopicAuthorizationFailed)
				})
				w.until("the partition is assigned", func() bool { return len(q.member.Owned()) == 1 })
				begin := func(offset int64) error {
					_, err := handler{q}.Begin(w.ctx, []*kgo.Record{{Topic: w.cfg.Topic, Offset: offset, Value: []byte("x")}})
					return err
				}
				if err := begin(0); err != nil {
					t.Fatal(err)
				}
				w.receive(q, 1)
				refuse.Store(true)
				if err := begin(1); err != nil {
					t.Fatal(err)
				}
				<-refusing
				if err := begin(2); err != nil {
					t.Fatal(err)
				}
				close(free)
				ctx, cancel := context.WithTimeout(w.ctx, patience)
				defer cancel()
				if ls, err := q.Receive(ctx, 1); !errors.Is(err, kerr.TopicAuthorizationFailed) {
					t.Errorf("%d records, %v", len(ls), err)
				}
				time.Sleep(200 * time.Millisecond) // what would go past it
				if ls, err := q.Receive(ctx, 1); !errors.Is(err, kerr.TopicAuthorizationFailed) {
					t.Errorf("%d records after the failure, %v", len(ls), err)
				}
				if err := q.Close(ctx); errors.Is(err, context.DeadlineExceeded) { // what was not started need not be given back
					t.Errorf("close: %v", err)
				}
				if at := w.committed(w.cfg.Group, w.cfg.Topic, 0); at > 1 {
					t.Errorf("committed %d: the record at 1 has no start", at)
				}
			})
		})
	}
}

// One record whose copy is refused holds up no other one, and its own turn comes once it
// can be copied.
func TestARefusedCopyHoldsUpNothing(t *testing.T) {
	for _, txns := range []bool{false, true} {
		t.Run(fmt.Sprintf("transactions %v", txns), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, 1, visible(2*time.Second), func(c *engine.Config) { c.Transactions = txns })
				w.produce(0, 10)
				q := w.open()
				queue := w.topicID(w.cfg.Topic)
				var allow atomic.Bool
				w.receive(q, 10)
				w.fake.ControlKey(int16(kmsg.Produce), func(req kmsg.Request) (kmsg.Response, error, bool) {
					w.fake.KeepControl()
					p := req.(*kmsg.ProduceRequest)
					for _, rt := range p.Topics {
						if rt.TopicID != queue && rt.Topic != w.cfg.Topic || allow.Load() {
							continue
						}
						if bytes.Contains(rt.Partitions[0].Records, []byte("v4")) {
							return refusal(p, kerr.InvalidRecord), nil, true
						}
					}
					return nil, nil, false
				})
				for _, l := range w.receive(q, 9) {
					if l.Origin.Offset == 4 || l.Attempt != 2 {
						t.Errorf("%v, attempt %d", l.Origin, l.Attempt)
					}
					w.ack(q, l)
				}
				w.until("the nine have ended", func() bool { return q.Counts().Tailed == 9 })
				w.produce(0, 3)
				w.receive(q, 3)
				for _, l := range w.receive(q, 3) { // dropped, after the refusal
					w.ack(q, l)
				}
				allow.Store(true)
				if l := w.receive(q, 1)[0]; l.Origin.Offset != 4 || l.Attempt != 2 {
					t.Errorf("%v, attempt %d", l.Origin, l.Attempt)
				}
				if c := q.Counts(); c.Retried == 0 || c.Tailed > 13 {
					t.Errorf("%+v", c)
				}
			})
		})
	}
}

// An offset that is behind the end of the log holds up no others, and is lost once the
// leader has said so for long enough.
func TestWhatIsBehindTheEndHoldsUpNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1, visible(2*time.Second))
		q := w.open()
		beyond := newScribe(&w.cfg).record(marker.Marker{Offset: 1000, Count: 2, Type: marker.Start, Duration: time.Second, Holder: 9})
		if err := w.client.ProduceSync(w.ctx, beyond).FirstErr(); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		w.until("it was tried", func() bool { return q.Counts().Retried > 0 })
		w.produce(0, 3)
		w.receive(q, 3)
		for _, l := range w.receive(q, 3) {
			w.ack(q, l)
		}
		if c := q.Counts(); c.Missing != 0 {
			t.Errorf("missing after %v: %+v", time.Since(began), c)
		}
		w.until("it is lost", func() bool { return q.Counts().Missing == 2 })
		if d := time.Since(began); d < truncatedFor {
			t.Errorf("lost after %v", d)
		}
	})
}

// What is given back with a delay is bounded: past the bound it stays lent.
func TestDelaysAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDelays(2, logTo(t.Output()))
		for i, c := range []struct {
			partition  int32
			now, delay time.Duration
			ok         bool
		}{
			{0, 0, time.Minute, true}, {0, 0, time.Second, true}, {0, 0, time.Second, false}, {0, 0, 0, true}, {1, 0, time.Second, true},
			{0, time.Second, time.Minute, true}, {0, time.Second, time.Minute, false},
		} {
			if _, err := d.take(c.partition, c.now, c.delay); c.ok != (err == nil) || err != nil && !errors.Is(err, lease.ErrDelayed) {
				t.Errorf("%d: %v", i, err)
			}
		}
		if waiting, refused := d.counts(2 * time.Second); waiting != 2 || refused != 2 {
			t.Errorf("%d wait, %d refused", waiting, refused)
		}

		w := newWorld(t, 1)
		q := w.open()
		q.delays = newDelays(1, logTo(t.Output()))
		w.produce(0, 2)
		ls := w.receive(q, 2)
		if err := q.Nack(w.ctx, ls[0], time.Hour); err != nil {
			t.Fatal(err)
		}
		if err := q.Nack(w.ctx, ls[1], time.Hour); !errors.Is(err, lease.ErrDelayed) || ls[1].State() != lease.Open {
			t.Errorf("%v, %v", err, ls[1].State())
		}
		w.ack(q, ls[1])
	})
}

// What can't be given back takes no room among the delays.
func TestAFailedNackTakesNoDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1)
		q := w.open()
		q.delays = newDelays(2, logTo(t.Output()))
		w.produce(0, 2)
		ls := w.receive(q, 2)
		if err := q.Nack(w.ctx, ls[0], time.Hour); err != nil {
			t.Fatal(err)
		}
		q.out.held.Add(unwrittenBound)
		ended, cancel := context.WithCancel(w.ctx)
		cancel()
		if err := q.Nack(ended, ls[1], time.Hour); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		q.out.held.Add(-unwrittenBound)
		if n, _ := q.delays.counts(time.Since(q.began)); n != 1 {
			t.Errorf("%d delays go on, not that of the one record that was given back", n)
		}
		if err := q.Nack(w.ctx, ls[1], time.Hour); err != nil {
			t.Error(err)
		}
	})
}

// Markers that are deleted while there is no tracker are said to be, by the next one.
func TestMarkersDeletedWithoutATracker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1)
		w.produce(0, 100)
		q := w.open()
		ls := w.receive(q, 100)
		w.ack(q, ls[:99]...)
		w.flush(q)
		w.until("the tracker commits", func() bool { return w.committed(Group(w.cfg.Group), w.cfg.MarkersTopic, 0) >= 0 })
		if err := q.Close(w.ctx); err != nil {
			t.Fatal(err)
		}
		at := w.committed(Group(w.cfg.Group), w.cfg.MarkersTopic, 0)
		if err := w.client.ProduceSync(w.ctx, newScribe(&w.cfg).record(marker.Marker{Offset: -1, Type: marker.Tick})).FirstErr(); err != nil {
			t.Fatal(err)
		}
		w.deleteBefore(w.cfg.MarkersTopic, at+1)
		q = w.open()
		w.until("the alarm", func() bool { return strings.Contains(q.Counts().RetentionAlarm, "were deleted before a tracker") })
	})
}

// What is given back while the locks of those that wait are being extended comes later in
// the log than that: it would else be lent for a whole Visibility more.
func TestGivenBackAfterItsLockWasExtended(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1, visible(20*time.Second), func(c *engine.Config) { c.ExternalTracker = true })
		q := w.open()
		w.produce(0, 2)
		w.until("two are ready", func() bool {
			q.marking.Lock()
			defer q.marking.Unlock()
			n := 0
			q.set.LoseAll(func(l *lease.Lease) bool {
				if l.Mark == begun {
					n++
				}
				return false
			})
			return n == 2
		})
		held, free := make(chan struct{}), make(chan struct{})
		var once atomic.Bool
		w.onProduce(w.cfg.MarkersTopic, func(*kmsg.ProduceRequest) *kmsg.ProduceResponse {
			if !once.Swap(true) {
				close(held)
				w.fake.SleepControl(func() { <-free })
			}
			return nil
		})
		// As if half of their time had gone by.
		q.set.LoseAll(func(l *lease.Lease) bool { l.SetDeadline(time.Now().Add(10 * time.Second)); return false })
		kept := make(chan error, 1)
		go func() { kept <- q.keeper.keep(w.ctx) }()
		<-held
		ls := w.receive(q, 2)
		given := make(chan error, 1)
		go func() { given <- q.Nack(w.ctx, ls[0], 0) }()
		select {
		case err := <-given:
			close(free)
			t.Fatalf("given back before the extension was durable: %v", err)
		case <-time.After(200 * time.Millisecond):
		}
		if left := time.Until(ls[1].Deadline()); left > 10*time.Second {
			t.Errorf("extended here before it was in the log: %v", left)
		}
		close(free)
		if err := errors.Join(<-kept, <-given); err != nil {
			t.Fatal(err)
		}
		if left := time.Until(ls[1].Deadline()); left < 12*time.Second {
			t.Errorf("not extended: %v left", left)
		}
		w.flush(q)
		var order []marker.Type
		for _, r := range w.read(w.cfg.MarkersTopic, 0) {
			m, err := marker.Parse(r.Key, r.Value)
			if err != nil {
				t.Fatal(err)
			}
			order = append(order, m.Type)
		}
		want := []marker.Type{marker.Start, marker.Extend, marker.Release} // one extends both
		if !slices.Equal(order, want) {
			t.Errorf("markers %v, want %v", order, want)
		}
	})
}

// What is acknowledged shortly before its deadline does not wait for others: the tracker would
// deliver it again.
func TestEndsNearTheirDeadlineAreHastened(t *testing.T) {
	for left, hastened := range map[time.Duration]bool{250 * time.Millisecond: true, time.Hour: false} {
		q := &queue{set: lease.NewSet(1, nil), out: &outbox{
			pending: map[fact]*offsets{},
			wake:    make(chan struct{}, 1), hurry: make(chan struct{}, 1), kick: make(chan struct{}, 1),
		}}
		defer q.set.Close()
		l := new(lease.Lease)
		q.set.Add(l, time.Now().Add(left))
		if err := q.Ack(t.Context(), l); err != nil {
			t.Fatal(err)
		}
		if is := len(q.out.hurry) == 1; is != hastened {
			t.Errorf("with %v left the end is hastened: %v", left, is)
		}
	}
}
