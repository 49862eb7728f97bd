package crash

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kafkabench.example/kafka-bench/kmq"
	"kafkabench.example/kafka-bench/kmq/internal/marker"
)

// The tracker's commit never passes the lowest start without an end.
func TestInvariant2CommitStopsAtTheOldestOpenStart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		v, _ := single(t, markersWay, func(s *queueSpec) { s.Visibility = 4 * time.Second })
		if err := v.produce(soon(t), 40); err != nil {
			t.Fatal(err)
		}
		first := v.open(nil)
		ds := byOffset(take(t, first, 40))
		kept := ds[7]
		ackAll(t, slices.Concat(ds[:7], ds[8:]))
		group, topic := v.spec.Group+"-tracker", v.spec.Topic+"-markers"
		var start int64
		for _, m := range v.markersOf(0) {
			if m.Type == marker.Start && m.Offset <= kept.Record.Offset && kept.Record.Offset < m.Offset+int64(m.Count) {
				start = m.at
			}
		}
		for over := time.Now().Add(time.Second); time.Now().Before(over); time.Sleep(50 * time.Millisecond) {
			if at := v.committedAt(group, topic, 0); at > start {
				t.Fatalf("the tracker committed %d; the start at %d has no end", at, start)
			}
		}
		again := take(t, first, 1)
		if number(again[0]) != number(kept) || again[0].Attempt() != 2 {
			t.Fatalf("record %d attempt %d", number(again[0]), again[0].Attempt())
		}
		ackAll(t, again)
		eventually(t, "everything has an end, and the tracker commits all markers", func() bool {
			v.markersOf(0)
			all := v.markers.records[0] // of both topics' records
			return v.committedAt(group, topic, 0) == all[len(all)-1].Offset+1
		})
	})
}

func TestInvariant3NoEndBeforeTheCopy(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		v, f := single(t, markersWay, nil)
		if err := v.produce(soon(t), 20); err != nil {
			t.Fatal(err)
		}
		q := v.open(nil)
		ds := byOffset(take(t, q, 20))
		refused := f.Fault(
			kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Topic: v.spec.retryTopic(), Err: kerr.NotEnoughReplicas, Count: -1},
			kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Topic: v.spec.DeadLetters, Err: kerr.NotEnoughReplicas, Count: -1},
		)
		ackAll(t, ds[:5])
		if err := ds[5].Nack(soon(t), 0); err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		wg.Go(func() {
			if err := ds[6].Reject(soon(t), "bad"); err != nil {
				t.Errorf("reject: %v", err)
			}
		})
		time.Sleep(v.spec.Visibility + time.Second) // nothing can be copied
		if refused.Hits() == 0 {
			t.Error("nothing was to be copied")
		}
		for offset := int64(5); offset < 20; offset++ {
			if why := ends(v.markersOf(0), offset); len(why) > 0 {
				t.Errorf("record %d has an end for %v, and no copy", offset, why)
			}
		}
		refused.Remove()
		wg.Wait()
		again := take(t, q, 14)
		ackAll(t, again)
		eventually(t, "every record has an end with its reason", func() bool {
			log := v.markersOf(0)
			for offset := range int64(20) {
				want := marker.Copied
				switch {
				case offset < 5:
					want = marker.Acked
				case offset == 6:
					want = marker.DeadLettered
				}
				if why := ends(log, offset); !slices.Contains(why, want) {
					return false
				}
			}
			return true
		})
	})
}

func TestInvariant4CommitsAreContiguous(t *testing.T) {
	t.Parallel()
	for _, w := range []way{{name: "plain", engine: plainEngine}, {name: "offsetmap", engine: offsetMapEngine}} {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				v, _ := single(t, w, func(s *queueSpec) {
					if s.Engine == offsetMapEngine {
						s.Visibility = time.Minute
					}
				})
				if err := v.produce(soon(t), 30); err != nil {
					t.Fatal(err)
				}
				q := v.open(nil)
				ds := byOffset(take(t, q, 30))
				order := []int{9, 8, 2, 0, 1, 29, 15, 4}
				for _, i := range order {
					ackAll(t, ds[i:i+1])
					time.Sleep(60 * time.Millisecond) // above CommitEvery
				}
				if err := q.Flush(soon(t)); err != nil {
					t.Fatal(err)
				}
				at, err := v.committed(soon(t), v.spec.Group, v.spec.Topic)
				if err != nil {
					t.Fatal(err)
				}
				if at[0].At != 3 {
					t.Errorf("committed %d; 0, 1 and 2 are acknowledged, 3 is not", at[0].At)
				}
				if w.engine == offsetMapEngine {
					done, err := readMap(at[0].At, at[0].Metadata)
					if want := []int64{4, 8, 9, 15, 29}; err != nil || !slices.Equal(done, want) {
						t.Errorf("the map has %v, want %v (%v)", done, want, err)
					}
				}
			})
		})
	}
}

// A revoked partition is stopped, flushed, committed and forgotten before the next poll.
func TestInvariant5RevocationCommitsWhatIsAcknowledged(t *testing.T) {
	t.Parallel()
	for _, w := range ways {
		if w.engine == shareEngine || w.external {
			continue // Share has no ownership; external is the same queue
		}
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				v := newWorld(t, fake(t, 1), 1, w.way)
				if err := v.produce(soon(t), 50); err != nil {
					t.Fatal(err)
				}
				seldom := func(c *kmq.Config) { c.CommitEvery = time.Minute }
				first := v.open(seldom)
				ackAll(t, take(t, first, 50))
				var seen sync.Map
				var processed atomic.Int64
				var wg sync.WaitGroup
				ctx, cancel := context.WithCancel(context.Background())
				defer func() { cancel(); wg.Wait() }()
				consume := func(q *kmq.Queue) {
					wg.Go(func() {
						for {
							ds, err := q.Receive(ctx, 10)
							if err != nil {
								return
							}
							for _, d := range ds {
								if _, twice := seen.LoadOrStore(number(d), true); twice || number(d) < 50 {
									t.Errorf("record %d was acknowledged and came again, attempt %d", number(d), d.Attempt())
								}
								if err := d.Ack(ctx); err != nil && ctx.Err() == nil {
									t.Errorf("ack of record %d: %v", number(d), err)
								}
								processed.Add(1)
							}
						}
					})
				}
				second := v.open(seldom)
				consume(second)
				eventually(t, "the second has partitions", func() bool {
					info, err := v.admin.DescribeGroups(soon(t), v.spec.Group)
					return err == nil && len(info[v.spec.Group].Members) == 2 && info[v.spec.Group].State == "Stable"
				})
				consume(first)
				if err := v.produce(soon(t), 200); err != nil {
					t.Fatal(err)
				}
				eventually(t, "all are processed", func() bool { return processed.Load() >= 200 })
				v.close(second)
				time.Sleep(300 * time.Millisecond)
			})
		})
	}
}

func TestInvariant8NeverEarlyThoughTheLogsClockIsSet(t *testing.T) {
	t.Parallel()
	for _, step := range []time.Duration{time.Hour, -time.Hour, 2 * time.Second, -2 * time.Second} {
		t.Run(step.String(), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				v, f := single(t, markersWay, func(s *queueSpec) { s.Visibility = 3 * time.Second; s.MaxDeliveries = 0 })
				v.createMarkers(f)
				q := v.open(nil)
				// Wait until the tracker reads live: of older markers it knows only the log's time.
				if err := v.produce(soon(t), 5); err != nil {
					t.Fatal(err)
				}
				ackAll(t, take(t, q, 5))
				eventually(t, "the tracker has read the first markers", func() bool {
					return v.committedAt(v.spec.Group+"-tracker", v.spec.Topic+"-markers", 0) > 0
				})
				if err := v.produce(soon(t), 20); err != nil {
					t.Fatal(err)
				}
				lent := take(t, q, 20)
				deadline := lent[0].Deadline()
				for _, d := range lent {
					if d.Deadline().Before(deadline) {
						deadline = d.Deadline()
					}
				}
				time.Sleep(500 * time.Millisecond)
				f.brokers.SetClock(step)
				if err := v.produce(soon(t), 20); err != nil {
					t.Fatal(err)
				}
				var again, fresh []kmq.Delivery
				for len(again) < 20 {
					for _, d := range take(t, q, 1) {
						if d.Attempt() == 1 {
							fresh = append(fresh, d)
							ackAll(t, []kmq.Delivery{d})
							continue
						}
						if early := time.Until(deadline); early > clockGrain {
							t.Fatalf("record %d came %v before its deadline", number(d), early)
						}
						again = append(again, d)
					}
				}
				late := time.Since(deadline)
				ackAll(t, again)
				if len(fresh) != 20 {
					t.Errorf("%d of 20 others", len(fresh))
				}
				t.Logf("the last came %v after the deadline", late.Round(time.Millisecond))
				if late > 15*time.Second {
					t.Errorf("the last came %v after the deadline: the clock of the log held it up", late)
				}
				l := q.Stats().Lateness
				t.Logf("lateness %v", l.Counts)
			})
		})
	}
}

// Retention covers the oldest unsettled record, or there is an alarm.
func TestInvariant9RetentionAlarm(t *testing.T) {
	t.Parallel()
	for _, w := range []way{{name: "plain", engine: plainEngine}, markersWay, {name: "offsetmap", engine: offsetMapEngine}} {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				v, _ := single(t, w, func(s *queueSpec) {
					if s.Engine != plainEngine {
						s.Visibility = time.Minute
					}
					s.TopicConfigs = map[string]string{"retention.ms": "3660000"}
				})
				if err := v.produce(soon(t), 5); err != nil {
					t.Fatal(err)
				}
				q := v.open(nil)
				ds := take(t, q, 5)
				deadline := time.Now().Add(75 * time.Second) // checked every 30 s
				for q.Stats().RetentionAlarm == "" {
					if time.Now().After(deadline) {
						t.Fatal("a record that is not settled has one minute to live, and there is no alarm")
					}
					time.Sleep(100 * time.Millisecond)
				}
				t.Log(q.Stats().RetentionAlarm)
				ackAll(t, ds)
			})
		})
	}
}
