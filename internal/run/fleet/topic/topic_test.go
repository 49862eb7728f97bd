package topic

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kafkabench.example/kafka-bench/internal/kafka/access/accesstest"
	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/project/virtual"
	"kafkabench.example/kafka-bench/internal/run/fleet/control"
)

// No compression: zstd uses finalizers, which a synctest bubble cannot have.
func config(c *virtual.Cluster, session string) Config {
	return Config{
		Brokers: c.Bootstrap(), Access: c.Access(), Session: session,
		Client: []kgo.Opt{kgo.ProducerBatchCompression(kgo.NoCompression())},
	}
}

func create(t *testing.T, cfg Config) *Topic {
	t.Helper()
	log, err := Create(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(log.Close)
	return log
}

func read(t *testing.T, log *Topic, from int64, n int) (texts []string) {
	t.Helper()
	for len(texts) < n {
		entries, err := log.Read(t.Context(), from)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if e.Offset != from {
				t.Errorf("offset %d, want %d", e.Offset, from)
			}
			from = e.Offset + 1
			texts = append(texts, string(e.Record))
		}
	}
	return texts
}

func TestLog(t *testing.T) { virtual.Test(t, virtual.Options{Brokers: 3}, testLog) }

func testLog(t *testing.T, c *virtual.Cluster) {
	opened := make(chan *Topic)
	for range 2 {
		go func() {
			log, err := Open(t.Context(), config(c, "s"))
			if err != nil {
				t.Error(err)
			}
			opened <- log
		}()
	}
	time.Sleep(time.Hour)
	logs := []*Topic{create(t, config(c, "s")), <-opened, <-opened}
	for i, log := range logs[1:] {
		t.Cleanup(log.Close)
		if log.ID() != logs[0].ID() || log.ID() == [16]byte{} || log.Name() != "kafka-bench-control-s" {
			t.Errorf("agent %d has topic %s %x, and the coordinator %x", i, log.Name(), log.ID(), logs[0].ID())
		}
	}
	for i := range 6 {
		if err := logs[i%3].Append(t.Context(), fmt.Append(nil, i)); err != nil {
			t.Fatal(err)
		}
	}
	for i, log := range logs {
		if got := read(t, log, 0, 6); !slices.Equal(got, []string{"0", "1", "2", "3", "4", "5"}) {
			t.Errorf("reader %d has %q", i, got)
		}
	}
	if got := read(t, logs[1], 2, 4); got[0] != "2" {
		t.Errorf("read again from offset 2: %q", got)
	}
	began := time.Now()
	time.AfterFunc(time.Minute, func() { _ = logs[0].Append(t.Context(), []byte("6")) })
	if got := read(t, logs[2], 6, 1); got[0] != "6" || time.Since(began) != time.Minute {
		t.Errorf("the read that waits returned %q after %v", got, time.Since(began))
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := logs[2].Read(ctx, 7); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != 2*time.Minute {
		t.Errorf("a read without a record ended after %v: %v", time.Since(began), err)
	}
}

func TestCreate(t *testing.T) {
	for brokers, replicas := range map[int]int{1: 1, 2: 2, 5: 3} {
		t.Run(fmt.Sprint(brokers), func(t *testing.T) {
			virtual.Test(t, virtual.Options{Brokers: brokers}, func(t *testing.T, c *virtual.Cluster) {
				testCreate(t, c, replicas)
			})
		})
	}
}

func testCreate(t *testing.T, c *virtual.Cluster, replicas int) {
	log := create(t, config(c, "s"))
	admin := kadm.NewClient(c.NewClient(t))
	topics, err := admin.ListTopics(t.Context(), log.Name())
	if err != nil {
		t.Fatal(err)
	}
	if p := topics[log.Name()].Partitions; len(p) != 1 || len(p[0].Replicas) != replicas {
		t.Errorf("the partitions are %+v, want one with %d replicas", p, replicas)
	}
	configs, err := admin.DescribeTopicConfigs(t.Context(), log.Name())
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range configs[0].Configs {
		if want, set := settings[e.Key]; set && e.MaybeValue() != want {
			t.Errorf("%s is %s, want %s", e.Key, e.MaybeValue(), want)
		}
	}

	_, err = Create(t.Context(), config(c, "s"))
	wantError(t, err, cluster.ErrInput, `a session "s"`, "collect --delete")
	_, err = Create(t.Context(), config(c, "no/name"))
	wantError(t, err, cluster.ErrInput, `"no/name"`, "letters")

	if err := log.Delete(t.Context()); err != nil {
		t.Error(err)
	}
	other := create(t, config(c, "s"))
	if err := log.Delete(t.Context()); err != nil || other.ID() == log.ID() {
		t.Errorf("deleting a topic that is gone: %v", err)
	}
	found, err := Open(t.Context(), config(c, "s"))
	if err != nil {
		t.Fatalf("the next session of that name is gone: %v", err)
	}
	defer found.Close()
	if err := found.Delete(t.Context()); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	began := time.Now()
	_, err = Open(ctx, config(c, "s"))
	if wantError(t, err, context.DeadlineExceeded, "no topic kafka-bench-control-s"); time.Since(began) != 5*time.Second {
		t.Errorf("the wait for the topic ended after %v", time.Since(began))
	}
	if topics, err := admin.ListTopics(t.Context()); err != nil || len(topics) != 0 {
		t.Errorf("opening created a topic: %v, %v", topics.Names(), err)
	}
	c.Topic(t, prefix+"two", 2)
	_, err = Open(t.Context(), config(c, "two"))
	wantError(t, err, cluster.ErrInput, "2 partitions", "--session")
	c.Fake().Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.CreateTopics}, Err: kerr.TopicAuthorizationFailed})
	_, err = Create(t.Context(), config(c, "t"))
	wantError(t, err, cluster.ErrRefused, "kafka-bench-control-t", "CREATE, DESCRIBE")
}

func wantError(t *testing.T, err, kind error, words ...string) {
	t.Helper()
	if !errors.Is(err, kind) {
		t.Errorf("the error is %v, want %v", err, kind)
		return
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("the error %q lacks %q", err, word)
		}
	}
}

func TestAppendWaits(t *testing.T) {
	virtual.Test(t, virtual.Options{ProduceDelay: 10 * time.Second}, testAppendWaits)
}

// If a cancelled append is repeated, the log has at most one duplicate.
func testAppendWaits(t *testing.T, c *virtual.Cluster) {
	log := create(t, config(c, "s"))
	w := control.NewWriter(log, nil, log.ID(), 0, 1)
	if err := w.Write(t.Context(), 0, control.Hello{Of: 1, Instance: 1}); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if err := w.Write(t.Context(), 0, control.Pulse{}); err != nil || time.Since(began) != 10*time.Second {
		t.Errorf("the pulse was acknowledged after %v: %v", time.Since(began), err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	err := w.Write(ctx, 0, control.Ready{})
	if !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != 11*time.Second {
		t.Errorf("the ready was given up after %v: %v", time.Since(began), err)
	}
	if err := w.Write(t.Context(), 0, control.Ready{}); err != nil {
		t.Fatal(err)
	}
	s := control.NewState(nil, log.ID())
	for i, text := range read(t, log, 0, 5) {
		if _, err := s.Apply(control.Entry{Offset: int64(i), Record: []byte(text)}); err != nil {
			t.Fatal(err)
		}
	}
	if a, valid := s.Agent(0); !valid || a.Gaps != 0 || s.Count(control.Copied) != 1 {
		t.Errorf("the agent is %+v, with %d copies", a, s.Count(control.Copied))
	}
}

func TestLostLog(t *testing.T) { virtual.Test(t, virtual.Options{}, testLostLog) }

func testLostLog(t *testing.T, c *virtual.Cluster) {
	log := create(t, config(c, "s"))
	for range 3 {
		if err := log.Append(t.Context(), []byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	c.Delete(t, log.Name(), 0, 2)
	late, err := Open(t.Context(), config(c, "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer late.Close()
	if entries, err := late.Read(t.Context(), 0); !errors.Is(err, kerr.OffsetOutOfRange) {
		t.Errorf("read %v, %v", entries, err)
	}
	c.Fake().Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Err: kerr.TopicAuthorizationFailed})
	if err := log.Append(t.Context(), []byte("x")); !errors.Is(err, kerr.TopicAuthorizationFailed) {
		t.Errorf("appended: %v", err)
	}
}

func TestOnTheWire(t *testing.T) {
	const password = "s3cret-of-alice"
	key := control.Key("a key that nobody may read")
	user := kfake.Superuser("SCRAM-SHA-512", "alice", password)
	fake, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.EnableSASL(), user)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(fake.Close)
	var batches [][]byte
	fake.ControlKey(int16(kmsg.Produce), func(req kmsg.Request) (kmsg.Response, error, bool) {
		fake.KeepControl()
		r := req.(*kmsg.ProduceRequest)
		if r.Acks != -1 {
			t.Errorf("the producer asks for %d acks", r.Acks)
		}
		for _, topic := range r.Topics {
			for _, p := range topic.Partitions {
				batches = append(batches, p.Records)
			}
		}
		return nil, nil, false
	})
	a := accesstest.Access(t, append([]string{"security.protocol=SASL_PLAINTEXT"},
		accesstest.Login("SCRAM-SHA-512", "alice", password)...)...)
	log := create(t, Config{Brokers: fake.ListenAddrs(), Access: a, Session: "s"})
	records := writeAll(t, log, key)
	for i, text := range read(t, log, 0, records) {
		for _, secret := range []string{password, string(key)} {
			if strings.Contains(text, secret) {
				t.Errorf("record %d has a secret", i)
			}
		}
	}
	for _, raw := range batches {
		var batch kmsg.RecordBatch
		if err := batch.ReadFrom(raw); err != nil {
			t.Fatal(err)
		}
		if batch.ProducerID < 0 {
			t.Error("the producer is not idempotent")
		}
		if compressed := batch.Attributes & 7; compressed != 4 && len(raw) > 4096 {
			t.Errorf("%d bytes have the compression %d, want zstd", len(raw), compressed)
		}
		if bytes.Contains(raw, []byte(password)) {
			t.Error("a batch has the password")
		}
	}
	if len(batches) == 0 {
		t.Error("no batch was seen")
	}
}

func writeAll(t *testing.T, log *Topic, key control.Key) int {
	t.Helper()
	agent := control.NewWriter(log, key, log.ID(), 0, 1)
	chief := control.NewWriter(log, key, log.ID(), control.Coordinator, 2)
	by := func(w *control.Writer, body control.Body) {
		if err := w.Write(t.Context(), 1, body); err != nil {
			t.Fatal(err)
		}
	}
	by(agent, control.Hello{Of: 1, Instance: 1, ClusterID: "c", ClockAddr: "127.0.0.1:9"})
	by(chief, control.Plan{RunID: "r", Assignment: []byte(`{"topic": "t"}`)})
	by(agent, control.Ready{Partitions: []int32{0}})
	by(chief, control.Start{Instances: []uint64{1}, ClocksNs: []int64{5}, Owners: []int{0}})
	by(agent, control.Pulse{Acked: 1, Phase: "warm-up"})
	by(chief, control.Stop{AtNs: 1})
	by(agent, control.Sent{AckedIn: []int64{1}})
	if err := agent.HandIn(t.Context(), 1, 0, make([]byte, control.MaxBody+1), true); err != nil {
		t.Fatal(err)
	}
	by(chief, control.End{Reason: "done"})
	return 10
}
