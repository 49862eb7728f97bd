package bench_test

import (
	"context"
	"errors"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kafkabench.example/kafka-bench/internal/kafka/access"
	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/kafka/driver/franz"
	"kafkabench.example/kafka-bench/internal/kafka/probe"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/bench"
)

// 100 kB/s for 30 s, after a warm-up of 2 s.
const filling = `
topic: {partitions: 2}
load: {rate: 100/s, producers: 1, compression: snappy, record: {size: 1kB, payload: random}}
consume: {consumers: 1}
phases: {warmup: 2s, measure: 30s, drain: 10s}
`

// watched is a cluster that a run may harm.
type watched struct {
	fake     *kfake.Cluster
	network  *kfake.VirtualNetwork
	cfg      bench.Config
	began    time.Time
	produced atomic.Int64 // bytes of batches
	last     atomic.Int64 // when the last batch came, after began
	bad      atomic.Int64 // when the reason to end came up, after began; 0: not yet
}

func watch(t *testing.T, yaml string, brokers int, perSecond int64) *watched {
	t.Helper()
	w := &watched{network: &kfake.VirtualNetwork{}, began: time.Now()}
	e, err := cluster.StartEmbedded(cluster.EmbeddedOptions{Brokers: brokers, Network: w.network, ProducePerSecond: perSecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Stop(context.Background()) })
	w.fake = e.Fake()
	s, err := scenario.Parse("watched.yaml", []byte(yaml))
	if err != nil {
		t.Fatal(err)
	}
	c, err := cluster.Connect(t.Context(), e.Bootstrap(), "", access.Access{Dial: w.network.DialContext})
	if err != nil {
		t.Fatal(err)
	}
	w.cfg = bench.Config{
		Scenario: s, Cluster: c, Driver: franz.New(), Out: t.TempDir(), Tool: result.Tool{Version: "test"}, Probes: probe.Unknown(),
	}
	w.control(kmsg.Produce, func(req kmsg.Request) kmsg.Response {
		for _, topic := range req.(*kmsg.ProduceRequest).Topics {
			for _, p := range topic.Partitions {
				w.produced.Add(int64(len(p.Records)))
			}
		}
		w.last.Store(int64(time.Since(w.began)))
		return nil
	})
	return w
}

// control answers requests; a nil answer leaves the request to the fake.
func (w *watched) control(key kmsg.Key, answer func(kmsg.Request) kmsg.Response) {
	w.fake.ControlKey(int16(key), func(req kmsg.Request) (kmsg.Response, error, bool) {
		w.fake.KeepControl()
		resp := answer(req)
		return resp, nil, resp != nil
	})
}

func (w *watched) turnsBad() { w.bad.CompareAndSwap(0, int64(time.Since(w.began))) }

// badAfter reports whether so much time has passed since the cluster began.
func (w *watched) badAfter(d time.Duration) bool {
	if time.Since(w.began) < d {
		return false
	}
	w.turnsBad()
	return true
}

// disk makes all brokers report one disk of so many bytes, which the run fills to a floor.
func (w *watched) disk(total, floor int64) {
	w.cfg.Guards.MinFreeBytes = &floor
	w.control(kmsg.Produce, func(kmsg.Request) kmsg.Response {
		if total-w.produced.Load() < floor {
			w.turnsBad()
		}
		return nil
	})
	w.control(kmsg.DescribeLogDirs, func(req kmsg.Request) kmsg.Response {
		resp := req.ResponseKind().(*kmsg.DescribeLogDirsResponse)
		dir := kmsg.NewDescribeLogDirsResponseDir()
		dir.Dir, dir.TotalBytes, dir.UsableBytes = "/data", total, total-w.produced.Load()
		resp.Dirs = append(resp.Dirs, dir)
		return resp
	})
}

// partition makes the brokers report one partition of others, with three replicas, and changes their answer.
func (w *watched) partition(change func(*kmsg.MetadataResponse)) {
	w.control(kmsg.Metadata, func(req kmsg.Request) kmsg.Response {
		if req.(*kmsg.MetadataRequest).Topics != nil {
			return nil
		}
		resp := req.ResponseKind().(*kmsg.MetadataResponse)
		for i, address := range w.fake.ListenAddrs() {
			host, port, _ := net.SplitHostPort(address)
			n, _ := strconv.Atoi(port)
			resp.Brokers = append(resp.Brokers, kmsg.MetadataResponseBroker{NodeID: int32(i), Host: host, Port: int32(n)})
		}
		p := kmsg.NewMetadataResponseTopicPartition()
		p.Replicas = []int32{0, 1, 2}
		p.ISR = p.Replicas
		topic := kmsg.NewMetadataResponseTopic()
		topic.Topic, topic.Partitions = kmsg.StringPtr("orders"), append(topic.Partitions, p)
		resp.Topics = append(resp.Topics, topic)
		change(resp)
		return resp
	})
}

func loseReplica(resp *kmsg.MetadataResponse) {
	p := &resp.Topics[0].Partitions[0]
	p.ISR = p.ISR[:2]
}

func wantGuarded(t *testing.T, w *watched, o *bench.Outcome, err error, reason string) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	run := o.Run
	if !strings.Contains(run.Run.EndedByGuard, reason) || run.EndedByUser() || !run.Run.Interrupted ||
		run.Verdict.Status != result.Valid {
		t.Errorf("ended by %q, by the user %t, %s because of %v", run.Run.EndedByGuard, run.EndedByUser(),
			run.Verdict.Status, run.Verdict.Reasons)
	}
	if run.Load.Acked != run.Load.Admitted || w.cfg.Scenario.Consume.Consumers > 0 && run.Delivery.Unique != run.Load.Acked {
		t.Errorf("not ended gently: %+v, %+v", run.Load, run.Delivery)
	}
	if !slices.ContainsFunc(run.Verdict.Warnings, func(s string) bool { return strings.HasPrefix(s, "a guard ended the run: ") }) {
		t.Errorf("no warning names the guard: %v", run.Verdict.Warnings)
	}
	bad := w.began.Add(time.Duration(w.bad.Load()))
	ended := run.Run.StartedAt.Add(time.Duration(run.Run.Phases[1].EndNs)).Sub(bad)
	last := w.began.Add(time.Duration(w.last.Load())).Sub(bad)
	if w.bad.Load() == 0 || ended < 0 || ended > 3*time.Second || last > 3*time.Second {
		t.Errorf("the window ended %v after the reason, and the last batch came %v after it", ended, last)
	}
}

// Each way to harm a cluster ends a run within 3 s, gently: what was sent is acknowledged and delivered.
func TestGuardsEndARun(t *testing.T) {
	tests := map[string]struct {
		reason string
		harm   func(t *testing.T, w *watched)
	}{
		// The records compress by plan, and not in fact.
		"a disk fills": {"the disk of brokers 0, 1, 2 has 1.", func(_ *testing.T, w *watched) { w.disk(3_000_000, 1_500_000) }},
		"replicas lag": {"1 partition without all replicas for 5s: orders-0", func(_ *testing.T, w *watched) {
			w.partition(func(resp *kmsg.MetadataResponse) {
				w.badAfter(15 * time.Second)
				if time.Since(w.began) >= 10*time.Second {
					loseReplica(resp)
				}
			})
		}},
		"a broker is gone": {"broker 2 has left the cluster", func(_ *testing.T, w *watched) {
			w.partition(func(resp *kmsg.MetadataResponse) {
				if w.badAfter(12 * time.Second) {
					resp.Brokers = resp.Brokers[:2]
				}
			})
		}},
		"a group lags": {"group billing has a lag of ", func(t *testing.T, w *watched) {
			if err := w.fake.CreateTopic("bills", 1, nil); err != nil {
				t.Fatal(err)
			}
			client, err := kgo.NewClient(kgo.SeedBrokers(w.fake.ListenAddrs()...), kgo.Dialer(w.network.DialContext),
				kgo.DefaultProduceTopic("bills"), kgo.DisableClientMetrics())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(client.Close)
			produce := func(n int) {
				for range n {
					if err := client.ProduceSync(context.Background(), &kgo.Record{Value: []byte("bill")}).FirstErr(); err != nil {
						t.Error(err)
					}
				}
			}
			produce(10)
			var offsets kadm.Offsets
			offsets.AddOffset("bills", 0, 5, -1)
			if err := kadm.NewClient(client).CommitAllOffsets(t.Context(), "billing", offsets); err != nil {
				t.Fatal(err)
			}
			w.cfg.Guards.Groups = map[string]int64{"billing": 20}
			time.AfterFunc(12*time.Second, func() {
				produce(100)
				w.turnsBad()
			})
		}},
		"quotas throttle": {"quotas of the cluster throttled the run for ", func(_ *testing.T, w *watched) {
			w.cfg.Scenario.Consume = scenario.Consume{}
			offset := int64(0)
			w.control(kmsg.Produce, func(req kmsg.Request) kmsg.Response {
				resp := req.ResponseKind().(*kmsg.ProduceResponse)
				for _, t := range req.(*kmsg.ProduceRequest).Topics {
					of := kmsg.NewProduceResponseTopic()
					of.Topic, of.TopicID = t.Topic, t.TopicID
					for _, p := range t.Partitions {
						answer := kmsg.NewProduceResponseTopicPartition()
						answer.Partition, answer.BaseOffset = p.Partition, offset
						of.Partitions = append(of.Partitions, answer)
						offset++
					}
					resp.Topics = append(resp.Topics, of)
				}
				if w.badAfter(12 * time.Second) {
					resp.ThrottleMillis = 50
				}
				return resp
			})
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				w := watch(t, filling, 3, 0)
				test.harm(t, w)
				o, err := bench.Run(t.Context(), w.cfg)
				wantGuarded(t, w, o, err, test.reason)
			})
		})
	}
}

// A fill ends too, and leaves nothing behind.
func TestAFullDiskEndsAFill(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		w := watch(t, strings.Replace(filling, "partitions: 2", "partitions: 2, fill: 10MB", 1), 1, 1000)
		w.disk(3_000_000, 1_500_000)
		_, err := bench.Run(t.Context(), w.cfg)
		if !errors.Is(err, bench.ErrGuarded) || errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "the disk of broker 0 has") {
			t.Errorf("%v", err)
		}
		if left := topics(t, w.cfg.Cluster); len(left) > 0 {
			t.Errorf("topics are left behind: %v", left)
		}
		wantNoFiles(t, w.cfg.Out)
	})
}

func wantNoFiles(t *testing.T, dir string) {
	t.Helper()
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("files are left behind: %v, %v", entries, err)
	}
}

// Before the load, nothing is made on a cluster that the run would harm.
func TestRefusedForHarm(t *testing.T) {
	uncompressed := strings.Replace(filling, "snappy", "none", 1)
	tests := map[string]struct {
		yaml   string
		before func(*watched)
		want   []string // none: the run is made
	}{
		"rate × time": {uncompressed, func(w *watched) { w.disk(3_000_000, 0) },
			[]string{"the run stores up to 3.26 MB with 1 replica", "on the disk of broker 0, which has 3.00 MB free"}},
		"a volume": {strings.Replace(uncompressed, "rate: 100/s,", "rate: max, volume: 3100kB,", 1), func(w *watched) { w.disk(3_000_000, 0) },
			[]string{"the run stores up to 3.16 MB"}},
		"records": {strings.Replace(uncompressed, "rate: 100/s,", "rate: max, records: 3100,", 1), func(w *watched) { w.disk(3_000_000, 0) },
			[]string{"the run stores up to 3.16 MB"}},
		"a fill": {strings.Replace(uncompressed, "partitions: 2", "partitions: 2, fill: 3100kB", 1), func(w *watched) { w.disk(4_000_000, 0) },
			[]string{"the run stores up to 6.43 MB"}},
		"the floor": {uncompressed, func(w *watched) { w.disk(5_000_000, 2_000_000) }, []string{"2.00 MB must stay free (--min-free)"}},
		"5 GB by default": {uncompressed, func(w *watched) {
			w.disk(5_001_000_000, 0)
			w.cfg.Guards = bench.Guards{Remote: true}
		}, []string{"5.00 GB must stay free (--min-free)"}},
		"free disk is unknown": {filling, func(w *watched) {
			w.disk(-1, 0)
			w.cfg.Guards = bench.Guards{Remote: true}
		}, []string{"the brokers do not report what disk they have free", "--max-bytes"}},
		"free disk is unknown, with --max-bytes": {filling, func(w *watched) {
			w.disk(-1, 0)
			w.cfg.Guards = bench.Guards{Remote: true, MaxBytesStated: true}
		}, nil},
		"an unknown group": {filling, func(w *watched) {
			w.cfg.Guards.Groups = map[string]int64{"biling": -1}
			w.control(kmsg.OffsetFetch, func(req kmsg.Request) kmsg.Response { // as Kafka answers
				resp, group := req.ResponseKind().(*kmsg.OffsetFetchResponse), kmsg.NewOffsetFetchResponseGroup()
				group.Group = "biling"
				resp.Groups = append(resp.Groups, group)
				return resp
			})
		}, []string{"group biling (--watch-group) has no committed offset", "correct its name"}},
		"unhealthy": {filling, func(w *watched) { w.partition(loseReplica) },
			[]string{"1 partition of the cluster without all replicas or without a leader: orders-0", "--anyway"}},
		"unhealthy, with --anyway": {filling, func(w *watched) {
			w.partition(loseReplica)
			w.cfg.Guards.Anyway = true
		}, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				w := watch(t, test.yaml, 1, 0)
				w.cfg.Scenario.Phases.Measure = min(w.cfg.Scenario.Phases.Measure, unit.Duration(30*time.Second))
				test.before(w)
				if test.want == nil {
					w.cfg.Scenario.Phases.Measure = unit.Duration(time.Second)
					if o, err := bench.Run(t.Context(), w.cfg); err != nil || o.Run.Run.EndedByGuard != "" {
						t.Errorf("%v, %+v", err, o)
					}
					return
				}
				_, err := bench.Run(t.Context(), w.cfg)
				if !errors.Is(err, cluster.ErrInput) {
					t.Fatal(err)
				}
				for _, part := range test.want {
					if !strings.Contains(err.Error(), part) {
						t.Errorf("%v, want %s", err, part)
					}
				}
				if n := w.produced.Load(); n > 0 {
					t.Errorf("%d bytes were produced", n)
				}
				wantNoFiles(t, w.cfg.Out)
			})
		})
	}
}

// All replicas of an existing topic may be on one broker, whose disk must then take all bytes.
func TestAnUnevenTopicIsRefused(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		yaml := strings.NewReplacer("snappy", "none", "partitions: 2", "existing: orders").Replace(filling)
		w := watch(t, yaml, 3, 0)
		floor := int64(0)
		w.cfg.Guards.MinFreeBytes = &floor
		w.control(kmsg.DescribeLogDirs, func(req kmsg.Request) kmsg.Response {
			resp, dir := req.ResponseKind().(*kmsg.DescribeLogDirsResponse), kmsg.NewDescribeLogDirsResponseDir()
			dir.TotalBytes, dir.UsableBytes = 20_000_000+int64(w.fake.CurrentNode()), 3_000_000 // different disks
			resp.Dirs = append(resp.Dirs, dir)
			return resp
		})
		w.partition(func(resp *kmsg.MetadataResponse) {
			all := &resp.Topics[0].Partitions
			p := (*all)[0]
			p.Replicas, p.ISR = []int32{1}, []int32{1}
			*all = nil
			for p.Partition = range 3 {
				*all = append(*all, p)
			}
		})
		_, err := bench.Run(t.Context(), w.cfg)
		if !errors.Is(err, cluster.ErrInput) || !strings.Contains(err.Error(), "of it 3.26 MB on the disk of broker 1") {
			t.Errorf("%v", err)
		}
	})
}

// A broker that leaves before the measured window ends the run with the guard's reason: during the preparation nothing is
// left behind, and from the warm-up on the run is saved.
func TestABrokerLeavesBeforeTheWindow(t *testing.T) {
	const reason = "broker 2 has left the cluster"
	leaves := func(w *watched) {
		w.partition(func(resp *kmsg.MetadataResponse) {
			if w.badAfter(4 * time.Second) {
				resp.Brokers = resp.Brokers[:2]
			}
		})
	}
	t.Run("fill", func(t *testing.T) {
		inBubble(t, func(t *testing.T) {
			w := watch(t, strings.Replace(filling, "partitions: 2", "partitions: 2, fill: 10MB", 1), 3, 1000)
			leaves(w)
			_, err := bench.Run(t.Context(), w.cfg)
			if !errors.Is(err, bench.ErrGuarded) || !strings.Contains(err.Error(), reason) {
				t.Errorf("%v", err)
			}
			if left := topics(t, w.cfg.Cluster); !slices.Equal(left, []string{"orders"}) {
				t.Errorf("besides orders, topics are left behind: %v", left)
			}
			wantNoFiles(t, w.cfg.Out)
		})
	})
	t.Run("warm-up", func(t *testing.T) {
		inBubble(t, func(t *testing.T) {
			w := watch(t, strings.Replace(filling, "warmup: 2s", "warmup: 20s", 1), 3, 0)
			leaves(w)
			o, err := bench.Run(t.Context(), w.cfg)
			if err != nil {
				t.Fatal(err)
			}
			if o.Run.Run.EndedByGuard != reason || !o.Run.Run.Interrupted || o.Run.EndedByUser() {
				t.Errorf("ended by %q: %+v", o.Run.Run.EndedByGuard, o.Run.Verdict)
			}
		})
	})
}
