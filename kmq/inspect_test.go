package kmq_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kafkabench.example/kafka-bench/internal/project/virtual"
	"kafkabench.example/kafka-bench/kmq"
	"kafkabench.example/kafka-bench/kmq/internal/lease"
	"kafkabench.example/kafka-bench/kmq/internal/marker"
)

type inspected struct {
	*testing.T
	on      *virtual.Cluster
	cluster *kfake.Cluster
	since   time.Time
}

func newInspected(t *testing.T) *inspected {
	t.Helper()
	c := virtual.Start(t, virtual.Options{Config: map[string]string{"group.share.heartbeat.interval.ms": "100"}})
	c.Topic(t, "orders", 1)
	i := &inspected{T: t, on: c, cluster: c.Fake(), since: time.Now().Add(-time.Hour).Truncate(time.Millisecond)}
	client := i.on.NewClient(i)
	for n := range 10 {
		r := &kgo.Record{Topic: "orders", Value: fmt.Append(nil, n), Timestamp: i.since.Add(time.Duration(n) * time.Second)}
		if err := client.ProduceSync(t.Context(), r).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	return i
}

var allEngines = []kmq.Engine{kmq.OffsetMap{}, kmq.Markers{}, kmq.Plain{}, kmq.Share{}}

func (i *inspected) config(e kmq.Engine) kmq.Config {
	return kmq.Config{
		Brokers: i.on.Bootstrap(), Client: i.on.Client(), Topic: "orders", Group: "billing", Engine: e,
		MaxInFlight: 4, CommitEvery: 20 * time.Millisecond, DeadLetterTopic: "orders-dead",
	}
}

func (i *inspected) open(cfg kmq.Config) *kmq.Queue {
	i.Helper()
	q, err := kmq.Open(i.Context(), cfg)
	if err != nil {
		i.Fatal(err)
	}
	i.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		_ = q.Close(ctx)
	})
	return q
}

func (i *inspected) receive(q *kmq.Queue, n int) map[int64]kmq.Delivery {
	i.Helper()
	ctx, cancel := context.WithTimeout(i.Context(), 30*time.Second)
	defer cancel()
	all := make(map[int64]kmq.Delivery)
	for len(all) < n {
		ds, err := q.Receive(ctx, n-len(all))
		if err != nil {
			i.Fatalf("after %d of %d: %v", len(all), n, err)
		}
		for _, d := range ds {
			all[d.ID().Offset] = d
		}
	}
	return all
}

func (i *inspected) do(err error) {
	i.Helper()
	if err != nil {
		i.Fatal(err)
	}
}

func (i *inspected) eventually(cfg kmq.Config, want kmq.PartitionInspection, dead int64) {
	i.Helper()
	end := time.Now().Add(20 * time.Second)
	for {
		got, err := kmq.Inspect(i.Context(), cfg)
		var p kmq.PartitionInspection
		if err == nil {
			p = got.Partitions[0]
		}
		if want.Committed < -1 {
			p.Committed, p.InFlight, p.Waiting = want.Committed, 0, p.Waiting+p.InFlight
		}
		same := p.OldestUnacked.Equal(want.OldestUnacked) && got.DeadLetters == dead
		p.OldestUnacked = want.OldestUnacked
		if same && p == want {
			return
		}
		if time.Now().After(end) {
			i.Fatalf("got %+v, %v\nwant %+v and %d dead letters", got, err, want, dead)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func (i *inspected) until(cfg kmq.Config, good func(kmq.Inspection) bool) {
	i.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		got, err := kmq.Inspect(i.Context(), cfg)
		if err == nil && good(got) {
			return
		}
		if time.Now().After(end) {
			i.Fatalf("got %+v, %v", got, err)
		}
	}
}

func TestInspect(t *testing.T) {
	type counts struct{ committed, end, inFlight, waiting, oldest, redelivered, dead int64 }
	const any = -2
	for _, test := range []struct {
		engine      kmq.Engine
		ack         []int64
		then        counts
		nack        int64 // -1: none
		afterNack   counts
		afterReject counts
	}{
		{
			engine: kmq.Plain{}, ack: []int64{0, 1}, then: counts{2, 10, -1, 8, 2, 0, 0},
			nack: -1, afterReject: counts{3, 10, -1, 7, 3, 0, 1},
		},
		{
			// Settled records make room for others.
			engine: kmq.Markers{}, ack: []int64{1, 3}, then: counts{any, 10, 0, 8, 0, 0, 0},
			nack: 0, afterNack: counts{any, 10, 0, 8, 0, 1, 0}, afterReject: counts{any, 10, 0, 7, 0, 1, 1},
		},
		{
			engine: kmq.OffsetMap{}, ack: []int64{1, 3}, then: counts{0, 10, 2, 6, 0, 0, 0},
			nack: -1, afterReject: counts{0, 10, 1, 6, 0, 0, 1},
		},
	} {
		t.Run(test.engine.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				i := newInspected(t)
				cfg := i.config(test.engine)
				q := i.open(cfg)
				ds := i.receive(q, 4)
				for _, n := range test.ack {
					i.do(ds[n].Ack(t.Context()))
				}
				i.do(q.Flush(t.Context()))
				check := func(c counts) {
					t.Helper()
					look := cfg
					look.Engine, look.Topic = nil, ""
					i.eventually(look, kmq.PartitionInspection{
						Committed: c.committed, End: c.end, InFlight: c.inFlight, Waiting: c.waiting,
						OldestUnacked: i.since.Add(time.Duration(c.oldest) * time.Second), Redelivered: c.redelivered,
					}, c.dead)
				}
				check(test.then)
				if test.nack >= 0 {
					i.do(ds[test.nack].Nack(t.Context(), 0))
					check(test.afterNack)
				}
				i.do(ds[2].Reject(t.Context(), "no"))
				i.do(q.Flush(t.Context()))
				check(test.afterReject)
			})
		})
	}
}

// Without the markers' topic, the number in flight is unknown, not zero.
func TestInspectBeforeATracker(t *testing.T) {
	for _, test := range []struct {
		topic    string
		named    kmq.Engine
		engine   kmq.Engine
		inFlight int64
	}{
		{"", nil, kmq.Markers{}, 10},
		{"loans", kmq.Markers{Topic: "loans"}, kmq.Markers{Topic: "loans"}, 10},
		{"loans", nil, nil, -1},
	} {
		t.Run(fmt.Sprintf("%s as %v", test.topic, test.named), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				i := newInspected(t)
				cfg := i.config(kmq.Markers{Topic: test.topic, ExternalTracker: true})
				cfg.MaxInFlight = 20
				i.receive(i.open(cfg), 10)
				cfg.Engine, cfg.Topic = test.named, ""
				i.until(cfg, func(got kmq.Inspection) bool {
					p := got.Partitions[0]
					if p.Committed != 10 {
						return false
					}
					if got.Engine != test.engine || p.InFlight != test.inFlight || p.Waiting != 0 {
						t.Fatalf("%+v, want engine %v and %d in flight", got, test.engine, test.inFlight)
					}
					return true
				})
			})
		})
	}
}

func TestInspectBesideTheMarkersOfAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newInspected(t)
		other := i.config(kmq.Markers{})
		other.Group = "shipping"
		i.receive(i.open(other), 1)
		cfg := i.config(kmq.Plain{})
		i.do(i.receive(i.open(cfg), 1)[0].Ack(t.Context()))
		cfg.Engine = nil
		i.until(cfg, func(got kmq.Inspection) bool {
			if got.Engine != nil {
				t.Fatalf("%+v", got)
			}
			return got.Partitions[0].Committed == 1
		})
	})
}

func TestInspectAnUnusedPartition(t *testing.T) {
	for _, engine := range allEngines {
		t.Run(engine.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				i := newInspected(t)
				client := i.on.NewClient(i, kgo.RecordPartitioner(kgo.ManualPartitioner()))
				i.on.Topic(t, "parcels", 2)
				i.do(client.ProduceSync(t.Context(), &kgo.Record{Topic: "parcels", Partition: 0}).FirstErr())
				cfg := i.config(engine)
				cfg.Topic = "parcels"
				q := i.open(cfg)
				i.do(i.receive(q, 1)[0].Ack(t.Context()))
				i.do(q.Flush(t.Context()))
				i.until(cfg, func(got kmq.Inspection) bool {
					if p := got.Partitions[1]; p.InFlight != 0 || p.Waiting != 0 {
						t.Fatalf("%+v of nothing", p)
					}
					return got.Partitions[0].InFlight == 0
				})
			})
		})
	}
}

func TestInspectTakesTheTopicOfTheMembers(t *testing.T) {
	for _, engine := range []kmq.Engine{kmq.Plain{}, kmq.Markers{}} {
		t.Run(engine.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				i := newInspected(t)
				cfg := i.config(engine)
				refused := i.cluster.Fault(kfake.Fault{
					Keys: []kmsg.Key{kmsg.OffsetCommit}, Topic: cfg.Topic, Err: kerr.CoordinatorLoadInProgress, Count: -1,
				})
				defer refused.Remove()
				i.receive(i.open(cfg), 1)
				cfg.Topic, cfg.Engine = "", nil
				i.until(cfg, func(got kmq.Inspection) bool {
					if p := got.Partitions[0]; got.Topic != "orders" || p.Committed != -1 {
						t.Fatalf("%+v", got)
					}
					return true
				})
			})
		})
	}
}

// Started and ended records do not count as waiting.
func TestInspectBeforeTheCommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newInspected(t)
		cfg := i.config(kmq.Markers{})
		refused := i.cluster.Fault(kfake.Fault{
			Keys: []kmsg.Key{kmsg.OffsetCommit}, Topic: cfg.Topic, Err: kerr.CoordinatorLoadInProgress, Count: -1,
		})
		defer refused.Remove()
		q := i.open(cfg)
		ds := i.receive(q, 4)
		for offset := range int64(3) { // the markers are read again from the first open one on
			i.do(ds[offset+1].Ack(t.Context()))
		}
		var got kmq.PartitionInspection
		for until := time.Now().Add(10 * time.Second); got.InFlight+got.Waiting != 7 && time.Now().Before(until); time.Sleep(5 * time.Millisecond) {
			group, err := kmq.Inspect(t.Context(), cfg)
			i.do(err)
			got = group.Partitions[0]
		}
		if got.Committed != -1 || got.InFlight+got.Waiting != 7 {
			t.Errorf("%+v: 7 of 10 records are not settled", got)
		}
	})
}

// Open transactions' records count only after their commit.
func TestInspectReadsWhatIsCommitted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newInspected(t)
		cfg := i.config(kmq.Markers{})
		cfg.DeadLetterTopic = ""
		client := i.on.NewClient(i, kgo.TransactionalID("somebody"))
		i.on.Topic(t, "orders-markers", 1)
		begin := func() {
			t.Helper()
			i.do(client.BeginTransaction())
			start := marker.Marker{Type: marker.Start, Offset: 0, Count: 4, Duration: time.Hour, Holder: 1, Group: marker.Of(cfg.Group)}
			_, key, value := marker.Append(nil, start)
			i.do(client.ProduceSync(t.Context(), &kgo.Record{Topic: "orders-markers", Key: key, Value: value}).FirstErr())
		}
		expect := func(when string, want kmq.PartitionInspection) {
			t.Helper()
			got, err := kmq.Inspect(t.Context(), cfg)
			i.do(err)
			p := got.Partitions[0]
			if !p.OldestUnacked.Equal(i.since) {
				t.Errorf("%s: the oldest is of %v, want %v", when, p.OldestUnacked, i.since)
			}
			p.OldestUnacked, want.Committed = time.Time{}, -1
			if p != want {
				t.Errorf("%s: %+v\nwant %+v", when, p, want)
			}
		}
		begin()
		older := &kgo.Record{Topic: cfg.Topic, Timestamp: i.since.Add(-time.Hour)}
		aborted := lease.Copy(older, lease.ID{Offset: 5}, cfg.Topic, 1)
		i.do(client.ProduceSync(t.Context(), aborted).FirstErr())
		expect("open", kmq.PartitionInspection{End: 11, Waiting: 11})
		i.do(client.EndTransaction(t.Context(), kgo.TryAbort))
		expect("aborted", kmq.PartitionInspection{End: 12, Waiting: 12})
		begin()
		expect("open again", kmq.PartitionInspection{End: 12, Waiting: 12})
		i.do(client.EndTransaction(t.Context(), kgo.TryCommit))
		expect("committed", kmq.PartitionInspection{End: 12, InFlight: 4, Waiting: 8})
	})
}

// Inspect refuses a marker of a later format only if the inspected group may have written it.
func TestInspectBesideALaterFormat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, test := range []struct {
			group  []byte
			refuse bool
		}{{[]byte{1, 2, 3, 4}, false}, {[]byte{0, 0, 0, 0}, true}} {
			i := newInspected(t)
			cfg := i.config(kmq.Markers{})
			q := i.open(cfg)
			i.receive(q, 1)
			client := i.on.NewClient(i)
			const nextMajor, start = 2 << 4, 1
			i.do(client.ProduceSync(t.Context(), &kgo.Record{
				Topic: "orders-markers", Key: make([]byte, 12), Value: append([]byte{nextMajor, start}, test.group...),
			}).FirstErr())
			if _, err := kmq.Inspect(t.Context(), cfg); (err != nil) != test.refuse {
				t.Errorf("group %x: %v", test.group, err)
			}
		}
	})
}

// Drained, Plain leaves no state of its own, so Inspect cannot find out the engine.
func TestInspectWhatIsDrained(t *testing.T) {
	for engine, told := range map[kmq.Engine]kmq.Engine{kmq.Plain{}: nil, kmq.OffsetMap{}: kmq.OffsetMap{}, kmq.Markers{}: kmq.Markers{}, kmq.Share{}: kmq.Share{}} {
		t.Run(engine.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				i := newInspected(t)
				cfg := i.config(engine)
				q := i.open(cfg)
				for range 10 {
					for _, d := range i.receive(q, 1) {
						i.do(d.Ack(t.Context()))
					}
				}
				i.do(q.Flush(t.Context()))
				i.do(q.Close(t.Context()))
				cfg.Topic = ""
				want := kmq.PartitionInspection{Committed: 10, End: 10}
				i.eventually(cfg, want, 0)
				cfg.Engine = nil
				if told == nil {
					want.InFlight = -1
				}
				i.eventually(cfg, want, 0)
				if got, err := kmq.Inspect(t.Context(), cfg); err != nil || got.Engine != told {
					t.Errorf("engine %v, %v; want %v", got.Engine, err, told)
				}
			})
		})
	}
}

func TestInspectAShareGroup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newInspected(t)
		cfg := i.config(kmq.Share{})
		cfg.MaxInFlight = 1
		q := i.open(cfg)
		i.do(i.receive(q, 1)[0].Ack(t.Context()))
		i.receive(q, 1)
		i.do(q.Flush(t.Context()))
		cfg.Engine, cfg.Topic = nil, ""
		got, err := kmq.Inspect(t.Context(), cfg)
		i.do(err)
		if got.Engine != (kmq.Share{}) || got.Topic != "orders" || len(got.Partitions) != 1 || got.Partitions[0].Committed != 1 ||
			got.Partitions[0].Waiting < 8 || got.Partitions[0].InFlight != -1 || !got.Partitions[0].OldestUnacked.Equal(i.since.Add(time.Second)) {
			t.Errorf("%+v", got)
		}
	})
}

func TestInspectRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*kmq.Config)
		want   string
	}{
		"nothing":          {func(c *kmq.Config) { *c = kmq.Config{} }, "Brokers is empty; Group is empty"},
		"a group":          {func(c *kmq.Config) { c.Topic, c.Group = "", "biling" }, "group biling has committed nothing"},
		"a topic":          {func(c *kmq.Config) { c.Topic, c.Engine = "order", kmq.Plain{} }, "topic order does not exist"},
		"a group's typo":   {func(c *kmq.Config) { c.Group = "biling" }, "group biling has committed nothing and has no members"},
		"dead letters":     {func(c *kmq.Config) { c.Engine, c.DeadLetterTopic = kmq.Plain{}, "nope" }, "topic nope does not exist"},
		"a share group":    {func(c *kmq.Config) { c.Engine, c.Group = kmq.Share{}, "biling" }, "there is no share group biling"},
		"a markers' topic": {func(c *kmq.Config) { c.Engine = kmq.Markers{Topic: "nowhere"} }, "topic nowhere has 0 partitions"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				i := newInspected(t)
				cfg := i.config(nil)
				test.change(&cfg)
				_, err := kmq.Inspect(t.Context(), cfg)
				if !errors.Is(err, kmq.ErrConfig) || !strings.Contains(err.Error(), test.want) {
					t.Errorf("%v\nwant: %s", err, test.want)
				}
			})
		})
	}
}
