package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/project/virtual"
	"kafkabench.example/kafka-bench/kmq/internal/lease"
)

func TestPersist(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		log := slog.New(slog.NewTextHandler(&out, nil))
		tries := 0
		start := time.Now()
		err := Persist(t.Context(), log, "writing", func(context.Context) error {
			if tries++; time.Since(start) < 150*time.Second {
				return kerr.NotCoordinator
			}
			return nil
		})
		if err != nil || tries < 75 || tries > 200 {
			t.Errorf("%v after %d tries in 150 s, at most 2 s apart", err, tries)
		}
		if n := strings.Count(out.String(), "NOT_COORDINATOR"); n != 3 {
			t.Errorf("it complained %d times in 150 s: %s", n, out.String())
		}

		tries = 0
		err = Persist(t.Context(), log, "writing", func(context.Context) error {
			tries++
			return fmt.Errorf("write: %w", kerr.TopicAuthorizationFailed)
		})
		if !errors.Is(err, kerr.TopicAuthorizationFailed) || tries != 1 {
			t.Errorf("%v after %d tries", err, tries)
		}

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err = Persist(ctx, log, "writing", func(ctx context.Context) error {
			<-ctx.Done()
			return kerr.NotCoordinator
		})
		if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, kerr.NotCoordinator) {
			t.Errorf("it ends with %v", err)
		}
	})
}

func TestHistogram(t *testing.T) {
	var h Histogram
	for _, d := range []time.Duration{-time.Second, 0, time.Millisecond, time.Millisecond + 1, 30 * time.Second, time.Hour} {
		h.Add(d)
	}
	if h.Counts[0] != 3 || h.Counts[1] != 1 || h.Counts[len(Bounds)-1] != 1 || h.Counts[len(Bounds)] != 1 {
		t.Errorf("%v", h.Counts)
	}
}

func TestTopics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := virtual.Start(t, virtual.Options{Brokers: 3})
		c.Topic(t, "queue", 7)
		c.Topic(t, "small", 2)
		cfg := Config{Brokers: c.Bootstrap(), Client: c.Client(), Topic: "queue", Log: slog.New(slog.DiscardHandler)}
		if got, err := LookUp(t.Context(), cfg); err != nil || got.Partitions != 7 || got.Replication < 1 || got.DeadLetterPartitions != 0 {
			t.Errorf("%+v, %v", got, err)
		}
		cfg.DeadLetterTopic = "small"
		if got, err := LookUp(t.Context(), cfg); err != nil || got.DeadLetterPartitions != 2 {
			t.Errorf("one that is there: %+v, %v", got, err)
		}
		cfg.DeadLetterTopic = "dead"
		for range 2 {
			if got, err := LookUp(t.Context(), cfg); err != nil || got.DeadLetterPartitions != 7 {
				t.Errorf("one that is created: %+v, %v", got, err)
			}
		}
		cfg.Topic = "none"
		if _, err := LookUp(t.Context(), cfg); !errors.Is(err, lease.ErrConfig) || !strings.Contains(err.Error(), "none does not exist") {
			t.Errorf("none: %v", err)
		}

		cl := c.NewClient(t, cfg.ClientOptions()...)
		stamp := "LogAppendTime"
		is, err := EnsureTopic(t.Context(), cl, "markers", "queue", Topics{Partitions: 7, Replication: 3}, map[string]*string{"message.timestamp.type": &stamp})
		if err != nil || is.Partitions != 7 || is.Replication != 3 {
			t.Errorf("%+v, %v", is, err)
		}
		if v, err := TopicConfig(t.Context(), cl, "markers", "message.timestamp.type"); err != nil || v == nil || *v != stamp {
			t.Errorf("its timestamps: %v, %v", v, err)
		}
		if v, err := TopicConfig(t.Context(), cl, "markers", "no.such.key"); err != nil || v != nil {
			t.Errorf("no such key: %v, %v", v, err)
		}
	})
}

// A new topic may be unknown to some brokers for a time.
func TestTopicsBecomeKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := virtual.Start(t, virtual.Options{})
		c.Topic(t, "t", 3)
		for _, key := range []kmsg.Key{kmsg.Metadata, kmsg.DescribeConfigs} {
			fault := kfake.Fault{Keys: []kmsg.Key{key}, Topic: "t", Err: kerr.UnknownTopicOrPartition, Count: 3}
			if key == kmsg.DescribeConfigs {
				fault.Topic, fault.Resource = "", "t"
			}
			unknown := c.Fake().Fault(fault)
			cfg := Config{Brokers: c.Bootstrap(), Client: c.Client(), Topic: "t", DeadLetterTopic: "dead", Log: slog.New(slog.DiscardHandler)}
			if got, err := LookUp(t.Context(), cfg); err != nil || got.Partitions != 3 || got.DeadLetterPartitions != 3 {
				t.Errorf("%s: %+v, %v", key.Name(), got, err)
			}
			if unknown.Hits() != 3 {
				t.Errorf("%s: it was unknown %d times", key.Name(), unknown.Hits())
			}
			if err := c.Fake().DeleteTopic("dead"); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestOptionsOfTheQueueHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := virtual.Start(t, virtual.Options{})
		c.Topic(t, "t", 3)
		cfg := Config{
			Brokers: c.Bootstrap(), Topic: "t", Group: "g", SessionTimeout: 9 * time.Second,
			Client: append(c.Client(), kgo.SeedBrokers("nowhere.invalid:1"), kgo.RequiredAcks(kgo.NoAck()),
				kgo.DisableIdempotentWrite(), kgo.ConsumerGroup("other"), kgo.ClientID("mine")),
		}
		cl, err := kgo.NewClient(cfg.ClientOptions(append(cfg.ProducerOptions(), cfg.GroupOptions("g", "t")...)...)...)
		if err != nil {
			t.Fatal(err)
		}
		defer cl.Close()
		if got := cl.OptValue(kgo.RequiredAcks); got != kgo.AllISRAcks() {
			t.Errorf("acks %v", got)
		}
		if got := cl.OptValue(kgo.ConsumerGroup); got != "g" {
			t.Errorf("group %v", got)
		}
		if got := cl.OptValue(kgo.ClientID); got != "mine" {
			t.Errorf("client %v", got)
		}
		if got := cl.OptValue(kgo.HeartbeatInterval); got != 3*time.Second {
			t.Errorf("heartbeats every %v", got)
		}
		if _, err := kadm.NewClient(cl).ListTopics(t.Context()); err != nil {
			t.Errorf("it does not talk to the queue's brokers: %v", err)
		}
		r := &kgo.Record{Topic: "t", Partition: 2}
		if err := cl.ProduceSync(t.Context(), r).FirstErr(); err != nil || r.Partition != 2 {
			t.Errorf("a record for partition 2 went to %d: %v", r.Partition, err)
		}
	})
}

// An existing weaker topic is logged.
func TestADeadLetterTopicKeepsWhatTheQueueKeeps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := virtual.Start(t, virtual.Options{Brokers: 3})
		var out bytes.Buffer
		cfg := Config{Brokers: c.Bootstrap(), Client: c.Client(), Topic: "queue", DeadLetterTopic: "dead", Log: slog.New(slog.NewTextHandler(&out, nil))}
		cl := c.NewClient(t)
		create := func(name string, replication int16, configs map[string]string) {
			t.Helper()
			all := make(map[string]*string)
			for k, v := range configs {
				all[k] = &v
			}
			if _, err := kadm.NewClient(cl).CreateTopic(t.Context(), 2, replication, all, name); err != nil {
				t.Fatal(err)
			}
		}
		create("queue", 3, map[string]string{
			"min.insync.replicas": "2", "retention.ms": "-1", "retention.bytes": "1000000000", "max.message.bytes": "5000000",
		})
		if _, err := LookUp(t.Context(), cfg); err != nil || out.Len() > 0 {
			t.Errorf("%v: %s", err, out.String())
		}
		for key, want := range map[string]string{
			"min.insync.replicas": "2", "retention.ms": "-1", "retention.bytes": "-1", "max.message.bytes": "5008192",
		} {
			if v, err := TopicConfig(t.Context(), cl, "dead", key); err != nil || v == nil || *v != want {
				t.Errorf("%s is %v, want %s: %v", key, v, want, err)
			}
		}

		create("weak", 1, map[string]string{
			"min.insync.replicas": "1", "retention.ms": "1000", "retention.bytes": "999", "max.message.bytes": "4999999", "cleanup.policy": "compact",
		})
		cfg.DeadLetterTopic = "weak"
		if _, err := LookUp(t.Context(), cfg); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{
			"dead_letter_topic=weak", "1 replicas, not 3", "min.insync.replicas=1, not 2", "retention.ms=1000, not -1",
			"retention.bytes=999, not 1000000000", "max.message.bytes=4999999, not 5000000", "cleanup.policy=compact, not delete",
		} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("nothing of %q in %s", want, out.String())
			}
		}
	})
}

func TestCompactedQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := virtual.Start(t, virtual.Options{})
		for policy, warned := range map[string]bool{"compact,delete": true, "delete": false} {
			var out bytes.Buffer
			cfg := Config{Brokers: c.Bootstrap(), Client: c.Client(), Topic: "of-" + policy[:6], Log: slog.New(slog.NewTextHandler(&out, nil))}
			cl := c.NewClient(t)
			if _, err := kadm.NewClient(cl).CreateTopic(t.Context(), 1, 1, map[string]*string{cleanupPolicy: &policy}, cfg.Topic); err != nil {
				t.Fatal(err)
			}
			if _, err := CheckTopics(t.Context(), cl, cfg); err != nil || strings.Contains(out.String(), "cleanup.policy=compact,delete") != warned {
				t.Errorf("%s: %v, %s", policy, err, out.String())
			}
		}
	})
}

func TestRefused(t *testing.T) {
	for err, refused := range map[error]bool{
		fmt.Errorf("write: %w", kerr.MessageTooLarge): true, kerr.InvalidTimestamp: true,
		kerr.TopicAuthorizationFailed: false, lease.ErrConfig: false,
	} {
		if Refused(err) != refused || !Fatal(err) {
			t.Errorf("%v: refused %v, fatal %v", err, Refused(err), Fatal(err))
		}
	}
	if Fatal(kerr.NotLeaderForPartition) {
		t.Error("a leader that moved is for ever")
	}
}

// A refused record delays no other. zstd does not run in virtual time.
func TestCopier(t *testing.T) {
	e, err := cluster.StartEmbedded(cluster.EmbeddedOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Stop(context.Background())
	c := virtual.Cluster{Embedded: e}
	c.Topic(t, "t", 1)
	cfg := Config{Brokers: c.Bootstrap(), Client: c.Client(), Topic: "t", Log: slog.New(slog.DiscardHandler)}
	cl, err := kgo.NewClient(cfg.ClientOptions(append(cfg.ProducerOptions(), kgo.ConsumeTopics("t"))...)...)
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	copies := NewCopier(&cfg, cl)
	defer copies.Close()

	large := bytes.Repeat([]byte("much the same, "), 200_000)
	noise := make([]byte, 3<<20)
	for i := range noise {
		noise[i] = byte(rand.Uint32())
	}
	gzip := kgo.NewRecordAttrs(kgo.RecordAttrsOpts{Codec: kgo.CodecGzip})
	errs := copies.Write(t.Context(),
		&kgo.Record{Topic: "t", Value: []byte("small")},
		&kgo.Record{Topic: "t", Value: large, Attrs: gzip},
		&kgo.Record{Topic: "t", Value: noise},
		&kgo.Record{Topic: "t", Value: []byte("small too")})
	if errs[0] != nil || errs[1] != nil || errs[3] != nil {
		t.Errorf("%v", errs)
	}
	if !Refused(errs[2]) {
		t.Errorf("3 MB that do not compress: %v", errs[2])
	}
	got := make(map[int]uint8)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for len(got) < 3 && ctx.Err() == nil {
		for _, r := range cl.PollFetches(ctx).Records() {
			got[len(r.Value)] = r.Attrs.CompressionType()
		}
	}
	if _, ok := got[len(large)]; !ok {
		t.Errorf("the large one is not there: %v", got)
	}
	copies.Close()
	if errs := copies.Write(t.Context(), &kgo.Record{Topic: "t", Value: large}); !errors.Is(errs[0], lease.ErrClosed) {
		t.Errorf("after Close: %v", errs[0])
	}
}

func TestCopierBesideASilentBroker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := virtual.Start(t, virtual.Options{})
		c.Topic(t, "t", 1)
		cfg := Config{Brokers: c.Bootstrap(), Client: c.Client(), Topic: "t", Log: slog.New(slog.DiscardHandler)}
		cl, err := kgo.NewClient(cfg.ClientOptions(cfg.ProducerOptions()...)...)
		if err != nil {
			t.Fatal(err)
		}
		defer cl.Close()
		copies := NewCopier(&cfg, cl)
		c.Fake().ControlKey(int16(kmsg.Produce), func(kmsg.Request) (kmsg.Response, error, bool) {
			c.Fake().KeepControl()
			return nil, nil, true
		})
		large := &kgo.Record{Topic: "t", Value: bytes.Repeat([]byte("much the same, "), 200_000)}
		write := func(ctx context.Context, r *kgo.Record) chan error {
			done := make(chan error, 1)
			go func() { done <- copies.Write(ctx, r)[0] }()
			return done
		}
		is := func(what string, got chan error, want ...error) {
			t.Helper()
			select {
			case err := <-got:
				if !slices.ContainsFunc(want, func(w error) bool { return errors.Is(err, w) }) {
					t.Errorf("%s: %v, want one of %v", what, err, want)
				}
			case <-time.After(30 * time.Second):
				t.Fatalf("%s hangs", what)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		first, second := write(ctx, &kgo.Record{Topic: "t", Value: []byte("small")}), write(ctx, large)
		is("a small one", first, context.DeadlineExceeded)
		is("a large one", second, context.DeadlineExceeded)
		third := write(context.Background(), large) // waits for the second
		closed := make(chan error, 1)
		go func() {
			copies.Close()
			closed <- nil
		}()
		is("Close", closed, nil)
		is("a large one of a copier that is closed", third, lease.ErrClosed, kgo.ErrClientClosed)
		last := write(context.Background(), &kgo.Record{Topic: "t"})
		cl.Close()
		is("a small one of a client that is closed", last, kgo.ErrClientClosed)
	})
}

func TestLeastOf(t *testing.T) {
	src := bytes.Repeat([]byte("much the same, "), 1000)
	l := newLeastOf()
	zstd, kind := l.Compress(new(bytes.Buffer), src)
	if kind != kgo.CodecZstd || len(zstd) >= len(src) {
		t.Errorf("%d bytes by %v", len(zstd), kind)
	}
	tiny := []byte("abc")
	for _, codec := range []kgo.CompressionCodecType{kgo.CodecGzip, kgo.CodecSnappy, kgo.CodecLz4} {
		l.like.Store(int32(codec))
		for _, src := range [][]byte{src, tiny} {
			alone, _ := l.codecs[codec].Compress(new(bytes.Buffer), src)
			zstd, _ := l.codecs[kgo.CodecZstd].Compress(new(bytes.Buffer), src)
			out, kind := l.Compress(new(bytes.Buffer), src)
			if len(out) != min(len(alone), len(zstd)) || (kind == codec) != (len(alone) < len(zstd)) {
				t.Errorf("%d bytes by %v, of %d by %v and %d by zstd", len(out), kind, len(alone), codec, len(zstd))
			}
		}
	}
}
