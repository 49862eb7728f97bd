package crash

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kafkabench.example/kafka-bench/kmq"
	"kafkabench.example/kafka-bench/kmq/internal/marker"
)

// Each test protects against a defect of an earlier queue on Kafka.

var markersWay = way{name: "markers", engine: markersEngine}

func TestDefectTrackerCommitsToAnotherGroup(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		v, f := single(t, markersWay, nil)
		if err := v.produce(soon(t), 200); err != nil {
			t.Fatal(err)
		}
		q := v.open(nil)
		for range 10 {
			ackAll(t, take(t, q, 20))
		}
		var committed int64
		eventually(t, "the tracker commits the end of what it reads", func() bool {
			log := v.markersOf(0)
			committed = v.committedAt(v.spec.Group+"-tracker", v.spec.Topic+"-markers", 0)
			return committed == log[len(log)-1].at+1
		})
		v.close(q)
		groups, err := v.admin.ListGroups(soon(t))
		if err != nil {
			t.Fatal(err)
		}
		if got, want := groups.Groups(), []string{v.spec.Group, v.spec.Group + "-tracker"}; !slices.Equal(got, want) {
			t.Errorf("groups %v, want %v", got, want)
		}
		id := f.TopicInfo(v.spec.Topic + "-markers").TopicID
		var below []int64
		observe := f.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Fetch}, Observe: true, Count: -1, When: func(r kmsg.Request) bool {
			for _, topic := range r.(*kmsg.FetchRequest).Topics {
				for _, p := range topic.Partitions {
					if (topic.TopicID == id || topic.Topic == v.spec.Topic+"-markers") && p.FetchOffset < committed {
						below = append(below, p.FetchOffset)
					}
				}
			}
			return false
		}})
		second := v.open(nil)
		none(t, second, 2*time.Second)
		v.close(second)
		observe.Remove()
		if len(below) > 0 {
			t.Errorf("the next tracker read from %v; %d was committed", below, committed)
		}
	})
}

func TestDefectFailedStartLosesTheBatch(t *testing.T) {
	t.Parallel()
	for _, refusal := range []*kerr.Error{kerr.UnknownServerError, kerr.RequestTimedOut, kerr.InvalidRecord, kerr.NotEnoughReplicas} {
		t.Run(refusal.Message, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				v, f := single(t, markersWay, func(s *queueSpec) { s.Visibility = time.Minute })
				if err := v.produce(soon(t), 30); err != nil {
					t.Fatal(err)
				}
				v.createMarkers(f)
				refused := f.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Topic: v.spec.Topic + "-markers", Err: refusal, Count: -1})
				q := v.open(nil)
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				ds, err := q.Receive(ctx, 10)
				if len(ds) > 0 {
					t.Errorf("received record %d without a start marker", number(ds[0]))
				}
				// An error may end the queue, but not silently.
				ended := err != nil && ctx.Err() == nil
				if refused.Hits() == 0 {
					t.Fatal("no marker was refused")
				}
				if at := v.committedAt(v.spec.Group, v.spec.Topic, 0); at > 0 {
					t.Errorf("committed %d without a start marker", at)
				}
				refused.Remove()
				if ended {
					v.close(q)
					q = v.open(nil)
				}
				got := take(t, q, 30)
				for i, d := range byOffset(got) {
					if number(d) != i || d.Attempt() != 1 {
						t.Errorf("delivery %d is of record %d, attempt %d", i, number(d), d.Attempt())
					}
				}
				ackAll(t, got)
				none(t, q, 500*time.Millisecond)
			})
		})
	}
}

func (v *world) createMarkers(f *faulty) {
	v.t.Helper()
	err := f.CreateTopic(v.spec.Topic+"-markers", v.spec.Partitions, map[string]string{"message.timestamp.type": "LogAppendTime"})
	if err != nil {
		v.t.Fatal(err)
	}
}

func plainRecord(n int, key string) *kgo.Record {
	return &kgo.Record{Key: []byte(key), Value: fmt.Appendf(nil, "%d of %s", n, key), Timestamp: time.UnixMilli(int64(1_750_000_000_000 + n))}
}

// If the record to redeliver is no longer in the log, the next record is not delivered instead.
func TestDefectRereadRecordIsAnother(t *testing.T) {
	t.Parallel()
	for _, gone := range []struct {
		how     string
		policy  string
		remove  func(v *world, f *faulty) error
		missing []int
		again   []int
	}{
		{"deleted", "delete", func(v *world, f *faulty) error { return f.DeleteRecords(v.spec.Topic, 0, 7) }, []int{5, 6}, []int{8}},
		{"compacted", "compact", func(_ *world, f *faulty) error { f.Compact(); return nil }, []int{5}, []int{6, 8}},
	} {
		t.Run(gone.how, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				v, f := single(t, markersWay, func(s *queueSpec) {
					s.MaxDeliveries = 0
					s.TopicConfigs = map[string]string{"cleanup.policy": gone.policy}
				})
				for n := range 10 {
					v.put(plainRecord(n, fmt.Sprint("key-", n)))
				}
				q := v.open(nil)
				for _, d := range take(t, q, 10) {
					if n := number(d); n == 5 || n == 6 || n == 8 {
						continue
					}
					ackAll(t, []kmq.Delivery{d})
				}
				v.put(plainRecord(10, "key-5"))
				v.put(plainRecord(11, "key-11"))
				ackAll(t, take(t, q, 2))
				if err := gone.remove(v, f); err != nil {
					t.Fatal(err)
				}
				var again []int
				for _, d := range take(t, q, len(gone.again)) {
					n := number(d)
					again = append(again, n)
					if d.Attempt() != 2 || d.ID().Offset != int64(n) || string(d.Record.Key) != fmt.Sprint("key-", n) {
						t.Errorf("record %d came as %v, key %q, attempt %d", n, d.ID(), d.Record.Key, d.Attempt())
					}
					ackAll(t, []kmq.Delivery{d})
				}
				if slices.Sort(again); !slices.Equal(again, gone.again) {
					t.Errorf("delivered again: %v, want %v", again, gone.again)
				}
				eventually(t, "the missing records are counted", func() bool { return q.Stats().Missing == int64(len(gone.missing)) })
				none(t, q, v.spec.Visibility)
				for _, n := range gone.missing {
					if why := ends(v.markersOf(0), int64(n)); !slices.Equal(why, []marker.Reason{marker.Missing}) {
						t.Errorf("record %d has ends for %v, want that it is missing", n, why)
					}
				}
			})
		})
	}
}

// A redelivery keeps headers, timestamp, and the difference between no key and an empty key.
func TestDefectRedeliveryLosesHeadersAndTime(t *testing.T) {
	t.Parallel()
	for _, w := range []way{markersWay, {name: "offsetmap", engine: offsetMapEngine}, {name: "share", engine: shareEngine}} {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				v, _ := single(t, w, nil)
				records := []*kgo.Record{
					{Key: nil, Value: []byte("0 no key")},
					{Key: []byte{}, Value: []byte("1 empty key")},
					{Key: []byte("k"), Value: nil},
					{Key: []byte("k"), Value: []byte{}},
					{Key: []byte{0, 255}, Value: bytes.Repeat([]byte{7, 0}, 5000), Headers: []kgo.RecordHeader{
						{Key: "a", Value: []byte("1")}, {Key: "", Value: nil}, {Key: "a", Value: []byte("2")}, {Key: "kmq-", Value: []byte{}},
					}},
					{Value: []byte("5"), Headers: []kgo.RecordHeader{{Key: "kmq-origin", Value: []byte("the user's own")}, {Key: "kmq-deliveries", Value: []byte("many")}}},
				}
				for i, r := range records {
					r.Timestamp = time.UnixMilli(int64(1_700_000_000_000 + i*1001))
				}
				var want []string
				v.put(records...)
				q := v.open(func(c *kmq.Config) {
					c.MaxDeliveries, c.MaxInFlight = 6, 20
					if w.engine == offsetMapEngine {
						c.Engine = kmq.OffsetMap{InPlace: 1}
					}
				})
				for attempt := 1; attempt <= 4; attempt++ {
					var got []string
					ds := take(t, q, len(records))
					slices.SortFunc(ds, func(a, b kmq.Delivery) int { return int(a.ID().Offset - b.ID().Offset) })
					for _, d := range ds {
						if d.Attempt() != attempt {
							t.Errorf("attempt %d is called %d", attempt, d.Attempt())
						}
						got = append(got, full(d.Record))
						if err := d.Nack(soon(t), 0); err != nil {
							t.Fatal(err)
						}
					}
					if attempt == 1 {
						for _, r := range records {
							want = append(want, full(r))
						}
					}
					if !slices.Equal(got, want) {
						t.Fatalf("attempt %d:\n%s\nwant\n%s", attempt, strings.Join(got, "\n"), strings.Join(want, "\n"))
					}
				}
			})
		})
	}
}

func full(r *kgo.Record) string {
	s := fmt.Sprintf("%d key %q (%v) value %q (%v) at %d", r.Partition, r.Key, r.Key == nil, r.Value, r.Value == nil, r.Timestamp.UnixMilli())
	for _, h := range r.Headers {
		s += fmt.Sprintf(" %q=%q", h.Key, h.Value)
	}
	return s
}

func TestDefectUnboundedMemory(t *testing.T) {
	t.Parallel()
	for _, w := range []way{{name: "plain", engine: plainEngine}, markersWay, {name: "offsetmap", engine: offsetMapEngine}, {name: "share", engine: shareEngine}} {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				const bound = 80
				v, _ := single(t, w, func(s *queueSpec) {
					s.MaxInFlight = bound
					if s.Engine == markersEngine || s.Engine == offsetMapEngine {
						s.Visibility = time.Minute
					}
				})
				if err := v.produce(soon(t), 2000); err != nil {
					t.Fatal(err)
				}
				q := v.open(nil)
				var held []kmq.Delivery
				for over := time.Now().Add(2 * time.Second); time.Now().Before(over); {
					if n := q.Stats().InFlight; n > bound {
						t.Fatalf("%d records are in flight; the bound is %d", n, bound)
					}
					if len(held) < bound && len(held) < 40 {
						held = append(held, take(t, q, 10)...)
					}
					time.Sleep(10 * time.Millisecond)
				}
				if w.engine == shareEngine {
					return
				}
				held = append(held, take(t, q, bound-len(held))...)
				none(t, q, 500*time.Millisecond)
				ackAll(t, held[:10])
				held = append(held[10:], take(t, q, 10)...)
				none(t, q, 300*time.Millisecond)
				ackAll(t, held)
			})
		})
	}
}

// Neither an unreadable marker nor a refused copy ends the tracker.
func TestDefectExceptionEndsTheTracker(t *testing.T) {
	t.Parallel()
	t.Run("a marker that nobody can read", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			v, f := single(t, markersWay, nil)
			v.createMarkers(f)
			if err := v.produce(soon(t), 10); err != nil {
				t.Fatal(err)
			}
			q := v.open(nil)
			ds := take(t, q, 10)
			var bad []*kgo.Record
			for _, kv := range [][2][]byte{
				{nil, nil}, {[]byte("key"), []byte("value")}, {make([]byte, 12), nil}, {make([]byte, 12), []byte{0xff, 1, 2}},
				{make([]byte, 12), []byte{0x10, 99}}, {bytes.Repeat([]byte{0xff}, 12), []byte{0x10, 2, 1, 0}},
			} {
				bad = append(bad, &kgo.Record{Topic: v.spec.Topic + "-markers", Key: kv[0], Value: kv[1], Timestamp: time.Now()})
			}
			if err := v.client.ProduceSync(soon(t), bad...).FirstErr(); err != nil {
				t.Fatal(err)
			}
			ackAll(t, ds[1:])
			again := take(t, q, 1)
			if number(again[0]) != number(ds[0]) || again[0].Attempt() != 2 {
				t.Errorf("record %d attempt %d came again, not %d", number(again[0]), again[0].Attempt(), number(ds[0]))
			}
			ackAll(t, again)
		})
	})
	t.Run("a copy that nobody takes", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			// The copy of a record of the largest allowed size is too large: it has more headers.
			const limit = 20_000
			v, _ := single(t, markersWay, func(s *queueSpec) {
				s.TopicConfigs = map[string]string{"max.message.bytes": fmt.Sprint(limit)}
				s.MaxDeliveries = 0
			})
			v.putLargest(limit)
			if err := v.produce(soon(t), 20); err != nil {
				t.Fatal(err)
			}
			q := v.open(nil)
			seen := make(map[int]int)
			for _, d := range take(t, q, 21) {
				seen[number(d)]++
			}
			for len(seen) < 21 || slices.ContainsFunc(rangeOf(20), func(n int) bool { return seen[n] < 2 }) {
				for _, d := range take(t, q, 1) {
					seen[number(d)]++
					ackAll(t, []kmq.Delivery{d})
				}
			}
			// The large record ends only with an acknowledgement or a copy.
			if why := ends(v.markersOf(0), 0); len(why) > 0 && seen[-1] < 2 {
				t.Errorf("the record that can't be copied has ends for %v", why)
			}
		})
	})
}

func (v *world) putLargest(limit int) {
	v.t.Helper()
	cl := v.newClient(kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerBatchCompression(kgo.NoCompression()))
	defer cl.Close()
	noise := make([]byte, limit)
	rand.NewChaCha8([32]byte{1}).Read(noise)
	for size := limit; ; size -= 8 {
		err := cl.ProduceSync(soon(v.t), &kgo.Record{Topic: v.spec.Topic, Value: noise[:size]}).FirstErr()
		if err == nil {
			return
		}
		if size < limit/2 {
			v.t.Fatal(err)
		}
	}
}

func rangeOf(n int) []int {
	var all []int
	for i := range n {
		all = append(all, i)
	}
	return all
}

// A record whose lock expired before its delivery does not count as delivered.
func TestDefectGivenUpUnseen(t *testing.T) {
	t.Parallel()
	for _, w := range []way{markersWay, {name: "offsetmap", engine: offsetMapEngine}, {name: "share", engine: shareEngine}} {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				const records, deliveries = 60, 2
				v, _ := single(t, w, func(s *queueSpec) { s.MaxDeliveries, s.MaxInFlight = deliveries, records })
				if err := v.produce(soon(t), records); err != nil {
					t.Fatal(err)
				}
				q := v.open(nil)
				seen := make(map[int]int)
				for over := time.Now().Add(2 * time.Minute); len(seen) < records && time.Now().Before(over); {
					ctx, cancel := context.WithTimeout(t.Context(), time.Second)
					ds, err := q.Receive(ctx, 1)
					cancel()
					if err != nil && ctx.Err() == nil {
						t.Fatal(err)
					}
					for _, d := range ds {
						seen[number(d)]++
						time.Sleep(v.spec.Visibility / 6)
						if err := d.Ack(soon(t)); err != nil && !errors.Is(err, kmq.ErrExpired) {
							t.Error(err)
						}
					}
					if len(ds) == 0 {
						if err := v.dead.sync(soon(t)); err != nil {
							t.Fatal(err)
						}
						if len(seen)+len(v.deadLetters()) >= records {
							break
						}
					}
				}
				if err := v.dead.sync(soon(t)); err != nil {
					t.Fatal(err)
				}
				unseen := 0
				for n := range v.deadLetters() {
					if seen[n] == 0 {
						unseen++
					}
				}
				if unseen > 0 || len(seen) < records {
					t.Errorf("%d of %d records were delivered; %d dead letters, %d of them never delivered", len(seen), records, len(v.deadLetters()), unseen)
				}
			})
		})
	}
}
