package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kafka-bench/kmq/internal/lease"
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
	c, err := kfake.NewCluster(kfake.NumBrokers(3), kfake.SeedTopics(7, "queue"), kfake.SeedTopics(2, "small"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	cfg := Config{Brokers: c.ListenAddrs(), Topic: "queue"}
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
	if _, err := LookUp(t.Context(), cfg); !errors.Is(err, lease.ErrConfig) || !strings.Contains(err.Error(), "none is not there") {
		t.Errorf("none: %v", err)
	}

	// One that another queue creates in the meantime, with what it is to have.
	cl, err := kgo.NewClient(cfg.ClientOptions()...)
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
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
}

// A topic that was just created is not known everywhere at once.
func TestTopicsBecomeKnown(t *testing.T) {
	c, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(3, "t"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, key := range []kmsg.Key{kmsg.Metadata, kmsg.DescribeConfigs} {
		fault := kfake.Fault{Keys: []kmsg.Key{key}, Topic: "t", Err: kerr.UnknownTopicOrPartition, Count: 3}
		if key == kmsg.DescribeConfigs {
			fault.Topic, fault.Resource = "", "t"
		}
		unknown := c.Fault(fault)
		cfg := Config{Brokers: c.ListenAddrs(), Topic: "t", DeadLetterTopic: "dead"}
		if got, err := LookUp(t.Context(), cfg); err != nil || got.Partitions != 3 || got.DeadLetterPartitions != 3 {
			t.Errorf("%s: %+v, %v", key.Name(), got, err)
		}
		if unknown.Hits() != 3 {
			t.Errorf("%s: it was unknown %d times", key.Name(), unknown.Hits())
		}
		if err := deleteTopic(t, c, "dead"); err != nil {
			t.Fatal(err)
		}
	}
}

func deleteTopic(t *testing.T, c *kfake.Cluster, topic string) error {
	cl, err := kgo.NewClient(kgo.SeedBrokers(c.ListenAddrs()...))
	if err != nil {
		return err
	}
	defer cl.Close()
	_, err = kadm.NewClient(cl).DeleteTopic(t.Context(), topic)
	return err
}

// What the queue sets, an application's options can't undo.
func TestOptionsOfTheQueueHold(t *testing.T) {
	c, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(3, "t"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	cfg := Config{
		Brokers: c.ListenAddrs(), Topic: "t", Group: "g", SessionTimeout: 9 * time.Second,
		Client: []kgo.Opt{kgo.SeedBrokers("nowhere.invalid:1"), kgo.RequiredAcks(kgo.NoAck()), kgo.DisableIdempotentWrite(), kgo.ConsumerGroup("other"), kgo.ClientID("mine")},
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
}
