package share

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kafkabench.example/kafka-bench/kmq/internal/engine"
	"kafkabench.example/kafka-bench/kmq/internal/lease"
)

// franz-go neither accepts nor releases open records.
func TestWhatIsOpenSurvivesPolls(t *testing.T) {
	for _, brokers := range []int{1, 3} {
		t.Run(fmt.Sprint(brokers, " brokers"), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, brokers, 6)
				w.produce(106, 6)
				cfg := w.config()
				cfg.MaxInFlight = 24
				e := w.open(cfg)
				slow := w.receive(e, 6) // open for longer than two broker locks
				for range 100 {
					must(t, e.Ack(t.Context(), w.receive(e, 1)[0]))
					time.Sleep(60 * time.Millisecond)
				}
				for _, l := range slow[1:] {
					must(t, e.Ack(t.Context(), l))
				}
				must(t, e.Close(t.Context()))
				if c := e.Counts(); c.Lost != 0 || c.Expired != 0 || c.Redelivered != 0 || c.Acked != 105 {
					t.Errorf("counts: %+v", c)
				}
				other := w.open(cfg)
				if again := w.receive(other, 1)[0]; again.Origin() != slow[0].Origin() {
					t.Errorf("%v was not accepted, and %v comes", slow[0].Origin(), again.Origin())
				}
				w.nothing(other, lock+500*time.Millisecond)
			})
		})
	}
}

// A record is redelivered when its own lock expires.
func TestWhatIsNotAnsweredHoldsUpNoRedelivery(t *testing.T) {
	for _, brokers := range []int{1, 3} {
		t.Run(fmt.Sprint(brokers, " brokers"), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, brokers, 6)
				cfg := w.config()
				cfg.Visibility, cfg.MaxInFlight = time.Second, 1000
				e := w.open(cfg)
				go w.supply(t.Context(), 6)
				due := make(map[lease.ID]time.Time)
				late, redelivered := 0, 0
				for end := time.Now().Add(8 * time.Second); time.Now().Before(end); {
					l := w.receive(e, 1)[0]
					if at, again := due[l.Origin()]; again {
						by := time.Since(at)
						if by < 0 {
							t.Fatalf("%v early", -by)
						}
						if redelivered++; by >= cfg.Visibility {
							late++
						}
						must(t, e.Ack(t.Context(), l))
						continue
					}
					if len(due)%2 == 0 {
						due[l.Origin()] = l.Deadline()
					} else {
						due[l.Origin()] = time.Time{}
						must(t, e.Ack(t.Context(), l))
					}
				}
				if redelivered < 100 || late > 0 {
					t.Errorf("%d redeliveries, %d of them late by a lock", redelivered, late)
				}
			})
		})
	}
}

func (w *world) supply(ctx context.Context, partitions int64) {
	for ; ctx.Err() == nil; time.Sleep(10 * time.Millisecond) {
		r := &kgo.Record{Topic: topic, Partition: int32(time.Now().UnixMilli() / 10 % partitions), Value: []byte("v")}
		w.client.Produce(ctx, r, nil)
	}
}

func TestLocksAreRenewedOnABusyQueue(t *testing.T) {
	for _, brokers := range []int{1, 3} {
		t.Run(fmt.Sprint(brokers, " brokers"), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, brokers, 6)
				w.answersTake(30 * time.Millisecond)
				w.produce(20, 6)
				cfg := w.config()
				cfg.MaxInFlight = 500
				e := w.open(cfg)
				slow := w.receive(e, 20)
				ctx, cancel := context.WithTimeout(t.Context(), 3*lock)
				defer cancel()
				var all sync.WaitGroup
				all.Go(func() { w.supply(ctx, 6) })
				for range 8 {
					all.Go(func() {
						for {
							got, err := engine.Receive(ctx, e, 1)
							if err != nil {
								return
							}
							if err := e.Ack(ctx, got[0]); err != nil {
								t.Errorf("%v: %v", got[0].Origin(), err)
							}
						}
					})
				}
				for range 6 {
					time.Sleep(800 * time.Millisecond)
					begin := time.Now()
					must(t, e.Extend(ctx, slow[0], time.Minute))
					must(t, e.Flush(ctx))
					if took := time.Since(begin); took > time.Second {
						t.Errorf("an extension and a flush took %v", took)
					}
				}
				all.Wait()
				for _, l := range slow {
					must(t, e.Ack(t.Context(), l))
				}
				must(t, e.Flush(t.Context()))
				if c := e.Counts(); c.Lost != 0 || c.Redelivered != 0 || c.Expired != 0 || c.Acked < 500 {
					t.Errorf("counts: %+v", c)
				}
			})
		})
	}
}

func (w *world) answersTake(d time.Duration) {
	fake := w.cluster.Fake()
	for _, key := range []kmsg.Key{kmsg.ShareFetch, kmsg.ShareAcknowledge} {
		fake.ControlKey(int16(key), func(kmsg.Request) (kmsg.Response, error, bool) {
			fake.KeepControl()
			fake.SleepControl(func() { time.Sleep(d) })
			return nil, nil, false
		})
	}
}

// Locks end with the session's connections, and the group loses no record.
func TestLocksEndWithTheirSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1, 2)
		w.produce(20, 2)
		cfg := w.config()
		var mu sync.Mutex
		var conns []net.Conn
		cfg.Client = append(cfg.Client, kgo.Dialer(func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := w.cluster.Access().Dial(ctx, network, address)
			mu.Lock()
			conns = append(conns, conn)
			mu.Unlock()
			return conn, err
		}))
		e := w.open(cfg)
		for _, l := range w.receive(e, 20) {
			if l.Origin().Offset < 5 {
				must(t, e.Ack(t.Context(), l))
			}
		}
		must(t, e.Flush(t.Context()))
		mu.Lock()
		for _, conn := range conns {
			if conn != nil {
				_ = conn.Close()
			}
		}
		mu.Unlock()
		for n := 0; n < 10; n++ {
			l := w.receive(e, 1)[0]
			if l.Origin().Offset < 5 || l.Attempt < 2 {
				t.Errorf("%v comes at attempt %d", l.Origin(), l.Attempt)
			}
			must(t, e.Ack(t.Context(), l))
		}
		must(t, e.Flush(t.Context()))
		for end := time.Now().Add(20 * time.Second); e.Counts().InFlight > 0; time.Sleep(50 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("counts: %+v", e.Counts())
			}
		}
		if c := e.Counts(); c.Lost != 10 {
			t.Errorf("counts: %+v", c)
		}
	})
}

func TestInterceptorsSeeTheirContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1, 1)
		w.produce(10, 1)
		cfg := w.config()
		seen := new(interceptor)
		cfg.Client = append(cfg.Client, kgo.WithHooks(seen))
		e := w.open(cfg)
		for _, l := range w.receive(e, 10) {
			must(t, e.Ack(t.Context(), l))
		}
		must(t, e.Flush(t.Context()))
		w.nothing(e, 2500*time.Millisecond)
		if n := seen.times.Load(); n != 10 {
			t.Errorf("%d of 10 records had what was put there", n)
		}
	})
}

type interceptor struct{ times atomic.Int64 }

type spanKey struct{}

func (i *interceptor) OnFetchRecordBuffered(r *kgo.Record) {
	r.Context = context.WithValue(r.Context, spanKey{}, "a span")
}

func (i *interceptor) OnFetchRecordUnbuffered(r *kgo.Record, polled bool) {
	if polled && r.Context.Value(spanKey{}) != nil {
		i.times.Add(1)
	}
	r.Context = context.WithValue(r.Context, spanKey{}, nil)
}

// Processing takes longer than a lock, and every record is delivered.
func TestLittleRoom(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 3, 6)
		const n = 140
		w.produce(n, 6)
		cfg := w.config()
		cfg.MaxInFlight, cfg.Visibility = 96, 5*time.Minute
		e := w.open(cfg)
		open := w.receive(e, 80)
		seen := make(map[lease.ID]bool)
		for len(seen) < n {
			l := open[0]
			open = open[1:]
			must(t, e.Ack(t.Context(), l))
			seen[l.Origin()] = true
			if len(seen)+len(open) < n {
				time.Sleep(250 * time.Millisecond)
				open = append(open, w.receive(e, 1)...)
			}
		}
		if c := e.Counts(); c.DeadLettered > 0 {
			t.Errorf("counts: %+v", c)
		}
	})
}

// After Close, other members get what is open, before the locks of these records expire.
func TestCloseGivesBackWhatIsOpen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const lock, n = 20 * time.Second, 150
		w := newWorldLending(t, lock, 3, 6)
		w.produce(n, 6)
		cfg := w.config()
		cfg.MaxInFlight = 96
		e := w.open(cfg)
		must(t, e.Nack(t.Context(), w.receive(e, 60)[0], time.Hour))
		time.Sleep(lock / 4)
		must(t, e.Close(t.Context()))
		closed := time.Now()
		if _, err := engine.Receive(t.Context(), e, 1); !errors.Is(err, lease.ErrClosed) {
			t.Errorf("receive after close: %v", err)
		}
		other := w.open(cfg)
		came := make(map[lease.ID]bool)
		for len(came) < n {
			l := w.receive(other, 1)[0]
			must(t, other.Ack(t.Context(), l))
			came[l.Origin()] = true
		}
		if took := time.Since(closed); took >= lock/2 {
			t.Errorf("all came after %v, and a lock is %v", took, lock)
		}
	})
}

func TestStaleRecordsAreLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1, 1)
		w.produce(3, 1)
		e := w.open(w.config())
		must(t, e.Close(t.Context()))
		m, err := newMember(&Engine{cfg: w.config(), ctx: t.Context()})
		must(t, err)
		defer m.client.Close()
		poll := func() []*kgo.Record {
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			records := m.client.PollRecords(ctx, 3).Records()
			showLocks(records)
			return records
		}
		records := poll()
		if fresh := m.fresh(time.Now(), records); len(records) != 3 || len(fresh) != 3 {
			t.Fatalf("%d of %d records are fresh", len(fresh), len(records))
		}
		if fresh := m.fresh(records[0].AcquisitionDeadline().Add(-400*time.Millisecond), records); len(fresh) != 0 {
			t.Fatalf("%d records are handed out with 0.4 s of 2 s left", len(fresh))
		}
		for _, r := range poll() {
			if r.DeliveryCount() < 2 {
				t.Errorf("offset %d: count %d", r.Offset, r.DeliveryCount())
			}
			records = records[1:]
		}
		if len(records) != 0 {
			t.Errorf("%d records were accepted", len(records))
		}
	})
}
