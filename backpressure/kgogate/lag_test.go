package kgogate

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kafkabench.example/kafka-bench/backpressure"
)

type plant struct {
	t       *testing.T
	cluster *kfake.Cluster
	client  *kgo.Client
	admin   *kadm.Client
	dial    kgo.Opt
}

func inVirtualTime(t *testing.T, topics []string, test func(p *plant)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		network := &kfake.VirtualNetwork{}
		cluster, err := kfake.NewCluster(kfake.NumBrokers(2), kfake.ListenFn(network.Listen),
			kfake.SeedTopics(2, topics...), kfake.Ports(9092, 9093))
		if err != nil {
			t.Fatal(err)
		}
		defer cluster.Close()
		p := &plant{t: t, cluster: cluster, dial: kgo.Dialer(network.DialContext)}
		p.client = p.newClient(kgo.RecordPartitioner(kgo.ManualPartitioner()))
		defer p.client.Close()
		p.admin = kadm.NewClient(p.client)
		test(p)
	})
}

func (p *plant) newClient(opts ...kgo.Opt) *kgo.Client {
	p.t.Helper()
	client, err := kgo.NewClient(append([]kgo.Opt{
		kgo.SeedBrokers(p.cluster.ListenAddrs()...), kgo.DisableClientMetrics(), p.dial,
	}, opts...)...)
	if err != nil {
		p.t.Fatal(err)
	}
	return client
}

func (p *plant) produce(topic string, id int32, n int) {
	p.t.Helper()
	for range n {
		record := &kgo.Record{Topic: topic, Partition: id, Value: []byte("v")}
		if err := p.client.ProduceSync(context.Background(), record).FirstErr(); err != nil {
			p.t.Fatal(err)
		}
	}
}

func (p *plant) commit(topic string, id int32, at int64) {
	p.t.Helper()
	var offsets kadm.Offsets
	offsets.AddOffset(topic, id, at, -1)
	if err := p.admin.CommitAllOffsets(context.Background(), "billing", offsets); err != nil {
		p.t.Fatal(err)
	}
}

func (p *plant) source(cfg Config) *lagSource {
	p.t.Helper()
	cfg.Group = "billing"
	s, err := Lag(p.client, cfg)
	if err != nil {
		p.t.Fatal(err)
	}
	lag := s.(*lagSource)
	lag.refresh = time.Second
	return lag
}

func (p *plant) read(s backpressure.Source) backpressure.Reading {
	p.t.Helper()
	r, err := s.Read(context.Background())
	if err != nil {
		p.t.Fatal(err)
	}
	return r
}

func (p *plant) wantLag(s backpressure.Source, want int64) {
	p.t.Helper()
	if r := p.read(s); r.Lag != want {
		p.t.Errorf("the lag is %d, want %d: %+v", r.Lag, want, r.Partitions)
	}
}

func TestLagByPartition(t *testing.T) {
	inVirtualTime(t, []string{"orders", "other"}, func(p *plant) {
		s := p.source(Config{Topics: []string{"orders"}})
		p.wantLag(s, 0)
		p.produce("orders", 0, 10)
		p.produce("orders", 1, 7)
		p.produce("other", 0, 100)
		p.commit("orders", 0, 4)
		p.commit("other", 0, 1)
		want := backpressure.Reading{Lag: 13, Committed: 4, Partitions: []backpressure.Partition{
			{Topic: "orders", ID: 0, Committed: 4, End: 10},
			{Topic: "orders", ID: 1, Committed: 0, End: 7},
		}}
		if got := p.read(s); !reflect.DeepEqual(got, want) {
			t.Errorf("read %+v, want %+v", got, want)
		}
	})
}

func TestStartWithoutCommit(t *testing.T) {
	inVirtualTime(t, []string{"orders"}, func(p *plant) {
		p.produce("orders", 0, 10)
		if err := p.cluster.DeleteRecords("orders", 0, 3); err != nil {
			t.Fatal(err)
		}
		fromStart := p.source(Config{Topics: []string{"orders"}})
		fromEnd := p.source(Config{Topics: []string{"orders"}, FromEnd: true})
		p.wantLag(fromStart, 7)
		p.wantLag(fromEnd, 0)
		p.produce("orders", 0, 5)
		p.wantLag(fromStart, 12)
		p.wantLag(fromEnd, 5)
		p.commit("orders", 0, 14)
		p.wantLag(fromStart, 1)
		p.wantLag(fromEnd, 1)
		p.commit("orders", 0, 99)
		p.wantLag(fromStart, 12)
		p.wantLag(fromEnd, 0)
	})
}

type between struct {
	key int16
	run func()
}

func (b *between) OnBrokerE2E(_ kgo.BrokerMetadata, key int16, _ kgo.BrokerE2E) {
	if key == b.key && b.run != nil {
		b.run()
	}
}

// Records and commits between the two requests make the lag look larger, never smaller.
func TestCommittedIsReadFirst(t *testing.T) {
	inVirtualTime(t, []string{"orders"}, func(p *plant) {
		p.produce("orders", 0, 10)
		p.commit("orders", 0, 2)
		hook := &between{key: int16(kmsg.OffsetFetch)}
		client := p.newClient(kgo.WithHooks(hook))
		defer client.Close()
		s, err := Lag(client, Config{Group: "billing", Topics: []string{"orders"}})
		if err != nil {
			t.Fatal(err)
		}
		p.wantLag(s, 8)
		hook.run = func() {
			p.produce("orders", 0, 5)
			p.commit("orders", 0, 15)
		}
		p.wantLag(s, 13) // not 0, and not 8
		hook.run = nil
		p.wantLag(s, 0)
	})
}

func TestRequestsAreBatched(t *testing.T) {
	var topics []string
	for i := range 20 {
		topics = append(topics, fmt.Sprintf("orders-%d", i))
	}
	inVirtualTime(t, topics, func(p *plant) {
		for _, topic := range topics {
			p.commit(topic, 0, 0)
		}
		s := p.source(Config{TopicRegex: "^orders-"})
		p.read(s)
		var mu sync.Mutex
		requests := make(map[string]int)
		p.cluster.Control(func(r kmsg.Request) (kmsg.Response, error, bool) {
			p.cluster.KeepControl()
			mu.Lock()
			defer mu.Unlock()
			requests[kmsg.NameForKey(r.Key())]++
			return nil, nil, false
		})
		if r := p.read(s); len(r.Partitions) != 40 {
			t.Errorf("read %d partitions, want 40", len(r.Partitions))
		}
		if want := map[string]int{"OffsetFetch": 1, "ListOffsets": 2}; !reflect.DeepEqual(requests, want) {
			t.Errorf("a reading took the requests %v, want %v", requests, want)
		}
	})
}

func TestTopicsThatComeAndGo(t *testing.T) {
	inVirtualTime(t, []string{"orders-a", "other"}, func(p *plant) {
		s := p.source(Config{TopicRegex: "^orders-"})
		p.produce("orders-a", 0, 1)
		p.produce("other", 0, 1)
		p.wantLag(s, 1)
		if err := p.cluster.CreateTopic("orders-b", 2, nil); err != nil {
			t.Fatal(err)
		}
		p.produce("orders-b", 0, 10)
		p.wantLag(s, 1)
		time.Sleep(10 * time.Second)
		p.wantLag(s, 11)
		if err := p.cluster.DeleteTopic("orders-a"); err != nil {
			t.Fatal(err)
		}
		// The client's cache still has the topic: one reading fails, and the next succeeds.
		var failed int
		for range 80 {
			time.Sleep(100 * time.Millisecond)
			if _, err := s.Read(context.Background()); err != nil {
				failed++
				if !errors.Is(err, kerr.UnknownTopicOrPartition) {
					t.Errorf("a reading failed for another reason: %v", err)
				}
			}
		}
		if failed != 1 {
			t.Errorf("%d readings failed when a topic was deleted, want 1", failed)
		}
		p.wantLag(s, 10)
	})
}

func TestNoTopicMatches(t *testing.T) {
	inVirtualTime(t, []string{"other"}, func(p *plant) {
		p.produce("other", 0, 5)
		var log strings.Builder
		s := p.source(Config{TopicRegex: "^orders-", Gate: logging(&log)})
		for range 3 {
			if r := p.read(s); r.Lag != 0 || r.Partitions == nil || len(r.Partitions) != 0 {
				t.Errorf("read %#v, want no lag of no partitions", r)
			}
			time.Sleep(2 * time.Second)
		}
		if got := log.String(); strings.Count(got, "level=WARN") != 1 || !strings.Contains(got, "no topic matches ^orders-") {
			t.Errorf("logged %s, want one warning of the pattern", got)
		}
		r := p.read(p.source(Config{Topics: []string{"orders"}, MayAppear: true}))
		if r.Partitions == nil || r.Lag != 0 {
			t.Errorf("read %#v of a topic that may appear, want no lag of no partitions", r)
		}
	})
}

func TestNothingCommitted(t *testing.T) {
	inVirtualTime(t, []string{"empty", "orders", "refunds", "taken"}, func(p *plant) {
		var log strings.Builder
		s := p.source(Config{Topics: []string{"empty", "orders", "refunds", "taken"}, Gate: logging(&log)})
		p.read(s)
		if log.Len() > 0 {
			t.Errorf("warned of empty topics: %s", log.String())
		}
		for _, topic := range []string{"orders", "refunds", "taken"} {
			p.produce(topic, 1, 2)
		}
		p.commit("taken", 1, 1)
		for range 3 {
			p.wantLag(s, 5)
		}
		orders := strings.Index(log.String(), "group billing has committed nothing on topic orders")
		refunds := strings.Index(log.String(), "group billing has committed nothing on topic refunds")
		if strings.Count(log.String(), "level=WARN") != 2 || orders < 0 || refunds < orders {
			t.Errorf("want a warning each of orders and refunds:\n%s", log.String())
		}
	})
}

func TestNamedTopicMustExist(t *testing.T) {
	inVirtualTime(t, []string{"other"}, func(p *plant) {
		s := p.source(Config{Topics: []string{"orders"}})
		if _, err := s.Read(context.Background()); !errors.Is(err, kerr.UnknownTopicOrPartition) || !strings.Contains(err.Error(), "orders") || !strings.Contains(err.Error(), "set Config.MayAppear") {
			t.Errorf("read a topic that does not exist: %v", err)
		}
		if err := p.cluster.CreateTopic("orders", 1, nil); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second) // the client asks for metadata again
		p.wantLag(s, 0)
	})
}

func TestNamedTopicMayAppear(t *testing.T) {
	inVirtualTime(t, []string{"other"}, func(p *plant) {
		s := p.source(Config{Topics: []string{"orders", "other"}, MayAppear: true})
		p.produce("other", 0, 1)
		p.wantLag(s, 1)
		if err := p.cluster.CreateTopic("orders", 2, nil); err != nil {
			t.Fatal(err)
		}
		p.produce("orders", 1, 4)
		// From here on a lag without the new topic is wrong; an error is allowed.
		for range 10 {
			if r, err := s.Read(context.Background()); err == nil && r.Lag != 5 {
				t.Errorf("the lag is %d, want 5", r.Lag)
			}
			time.Sleep(time.Second)
		}
		p.wantLag(s, 5)
	})
}

func TestMayAppearOpensAShare(t *testing.T) {
	inVirtualTime(t, []string{"other"}, func(p *plant) {
		gate, err := backpressure.Open(context.Background(), backpressure.Config{
			Controller: backpressure.Credit{MaxLag: 10}, Share: backpressure.Fixed(0.5),
			Source: p.source(Config{Topics: []string{"orders"}, MayAppear: true}),
		})
		if err != nil {
			t.Fatal(err)
		}
		defer gate.Close()
		time.Sleep(time.Second)
		if s := gate.Stats(); !gate.TryAcquire(5) || gate.TryAcquire(1) || s.Missed > 0 {
			t.Errorf("a gate with half of 10 has not room for 5: %+v", s)
		}
	})
}

func TestPartitionErrors(t *testing.T) {
	for _, c := range []struct {
		name  string
		fault kfake.Fault
		says  string
	}{
		{"end", kfake.Fault{Keys: []kmsg.Key{kmsg.ListOffsets}, Topic: "orders", Partitions: []int32{1}, Err: kerr.UnknownServerError, Count: -1}, "the high watermark of orders/1 is not known"},
		{"commit", kfake.Fault{Keys: []kmsg.Key{kmsg.OffsetFetch}, Group: "billing", Err: kerr.UnknownServerError, Count: -1}, "committed offsets of group billing"},
	} {
		t.Run(c.name, func(t *testing.T) {
			inVirtualTime(t, []string{"orders"}, func(p *plant) {
				p.produce("orders", 0, 3)
				s := p.source(Config{Topics: []string{"orders"}})
				p.wantLag(s, 3)
				fault := p.cluster.Fault(c.fault)
				_, err := s.Read(context.Background())
				if !errors.Is(err, kerr.UnknownServerError) || !strings.Contains(err.Error(), c.says) {
					t.Errorf("read %v, want an error that says %q", err, c.says)
				}
				fault.Remove()
				p.wantLag(s, 3)
			})
		})
	}
}

func TestConnectionsLost(t *testing.T) {
	inVirtualTime(t, []string{"orders"}, func(p *plant) {
		p.produce("orders", 0, 3)
		s := p.source(Config{Topics: []string{"orders"}})
		var answers atomic.Bool
		p.cluster.ControlKey(int16(kmsg.ListOffsets), func(kmsg.Request) (kmsg.Response, error, bool) {
			p.cluster.KeepControl()
			return nil, errors.New("the connection is lost"), !answers.Load()
		})
		if _, err := s.Read(context.Background()); err == nil || !strings.Contains(err.Error(), "reading the high watermarks") {
			p.t.Errorf("read %v, want an error that says what was read", err)
		}
		answers.Store(true)
		p.wantLag(s, 3)
	})
}

func TestGroupProtocols(t *testing.T) {
	for name, opts := range map[string][]kgo.Opt{
		"classic": nil,
		"KIP-848": {kgo.ServerSideBalancer(), kgo.Balancers(kgo.StickyBalancer())},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, []string{"orders"}, func(p *plant) {
				p.produce("orders", 0, 6)
				consumer := p.newClient(append(opts, kgo.ConsumerGroup("billing"), kgo.ConsumeTopics("orders"), kgo.DisableAutoCommit())...)
				defer consumer.Close()
				ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
				defer cancel()
				fetched := consumer.PollFetches(ctx)
				if fetched.NumRecords() != 6 {
					t.Fatalf("polled %d records: %v", fetched.NumRecords(), fetched.Err())
				}
				s := p.source(Config{Topics: []string{"orders"}})
				p.wantLag(s, 6)
				if err := consumer.CommitRecords(ctx, fetched.Records()[:5]...); err != nil {
					t.Fatal(err)
				}
				p.wantLag(s, 1)
			})
		})
	}
}

func TestLagFaults(t *testing.T) {
	_, err := Lag(nil, Config{})
	for _, says := range []string{"no client", "no group", "no topic"} {
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("Lag: %v; want it to say %q", err, says)
		}
	}
	if _, err := Lag(nil, Config{Group: "g", TopicRegex: "("}); err == nil || !strings.Contains(err.Error(), "TopicRegex") {
		t.Error("Lag took a pattern that is none")
	}
}

func logging(to *strings.Builder) backpressure.Config {
	return backpressure.Config{Logger: slog.New(slog.NewTextHandler(to, nil))}
}
