package offsetmap

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/project/virtual"
	"kafkabench.example/kafka-bench/kmq/internal/engine"
	"kafkabench.example/kafka-bench/kmq/internal/lease"
)

func startFake(t *testing.T) *virtual.Cluster {
	t.Helper()
	return virtual.Start(t, virtual.Options{Config: map[string]string{"group.initial.rebalance.delay.ms": "0"}})
}

func committed(t *testing.T, adm *kadm.Client, group, topic string, at int64, metadata string) {
	t.Helper()
	var offsets kadm.Offsets
	offsets.Add(kadm.Offset{Topic: topic, At: at, LeaderEpoch: -1, Metadata: metadata})
	answers, err := adm.CommitOffsets(ctx, group, offsets)
	must(t, err)
	must(t, answers.Error())
}

// A commit may be below or above the log.
func TestLogIsNotWhereTheCommitIs(t *testing.T) {
	for name, c := range map[string]struct {
		commit, start, want, missing int64
	}{
		"below": {commit: 20, start: 70, want: 30, missing: 50},
		"above": {commit: 500, start: 0, want: 100, missing: 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				fake := startFake(t)
				adm := kadm.NewClient(prepare(t, fake, "queue", 1, 100))
				cfg := kafkaConfig(fake, "queue")
				committed(t, adm, cfg.Group, "queue", c.commit, "")
				var to kadm.Offsets
				to.Add(kadm.Offset{Topic: "queue", At: c.start})
				deleted, err := adm.DeleteRecords(ctx, to)
				must(t, err)
				must(t, deleted.Error())
				e, _ := open(t, fake, cfg)
				times := map[int64]int{}
				drain(t, e, int(c.want), times)
				must(t, e.Flush(ctx))
				offsets, err := adm.FetchOffsets(ctx, cfg.Group)
				must(t, err)
				now, _ := offsets.Lookup("queue", 0)
				if counts := e.Counts(); counts.Missing != c.missing || now.At != 100 || times[99] != 1 {
					t.Errorf("%d missing, want %d; committed %d", counts.Missing, c.missing, now.At)
				}
			})
		})
	}
}

func refuseLonger(fake *kfake.Cluster, limit int) {
	fake.ControlKey(int16(kmsg.OffsetCommit), func(r kmsg.Request) (kmsg.Response, error, bool) {
		fake.KeepControl()
		req := r.(*kmsg.OffsetCommitRequest)
		resp := req.ResponseKind().(*kmsg.OffsetCommitResponse)
		long := false
		for _, topic := range req.Topics {
			of := kmsg.NewOffsetCommitResponseTopic()
			of.Topic, of.TopicID = topic.Topic, topic.TopicID
			for _, p := range topic.Partitions {
				one := kmsg.NewOffsetCommitResponseTopicPartition()
				one.Partition = p.Partition
				if p.Metadata != nil && len(*p.Metadata) > limit {
					one.ErrorCode, long = kerr.OffsetMetadataTooLarge.Code, true
				}
				of.Partitions = append(of.Partitions, one)
			}
			resp.Topics = append(resp.Topics, of)
		}
		return resp, nil, long
	})
}

// The limit is lowered until the coordinator accepts the map, and Flush fails until then; no map is
// lost. Invariants 4 and 7.
func TestBrokerRefusesMaps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const limit, records = shortMetadata, 3000
		fake := startFake(t)
		refuseLonger(fake.Fake(), limit)
		prepare(t, fake, "queue", 1, records)
		cfg := kafkaConfig(fake, "queue")
		cfg.CommitEvery, cfg.MaxInFlight = 20*time.Millisecond, 1000
		e, _ := open(t, fake, cfg)
		times := map[int64]int{}
		var first []*lease.Lease
		for len(first) < 400 {
			more, err := engine.Receive(ctx, e, 400-len(first))
			must(t, err)
			first = append(first, more...)
		}
		for _, l := range first {
			if l.At.Offset%3 == 1 {
				must(t, e.Ack(ctx, l))
				times[l.At.Offset]++
			}
		}
		if err := e.commitOnce(ctx); !errors.Is(err, kerr.OffsetMetadataTooLarge) {
			t.Fatalf("commit: %v", err)
		}
		for until := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
			e.mu.Lock()
			learned := e.limit
			e.mu.Unlock()
			if learned <= limit {
				if learned < limit/2 {
					t.Errorf("the limit is %d, that of the broker %d", learned, limit)
				}
				break
			}
			if time.Now().After(until) {
				t.Fatalf("the limit is still %d", learned)
			}
		}
		soon, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		if err := e.Flush(soon); err == nil {
			t.Error("a flush takes what is not committed for durable")
		}
		for _, l := range first {
			if l.At.Offset%3 != 1 {
				must(t, e.Ack(ctx, l))
				times[l.At.Offset]++
			}
		}
		drain(t, e, records, times)
		must(t, e.Flush(ctx))
		if c := e.Counts(); c.CommitBehind != 0 || c.Acked != records || len(c.Paused) != 0 {
			t.Fatalf("counted %+v", c)
		}
	})
}

const shortMetadata = 24

func TestLimitOfABroker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := virtual.Start(t, virtual.Options{Config: map[string]string{limitKey: fmt.Sprint(shortMetadata)}})
		refuseLonger(fake.Fake(), shortMetadata)
		stopsAtTheLimit(t, fake)
	})
}

// The engine pauses before it reaches a very low limit: after a crash, nothing flushed is
// redelivered. Invariants 1, 4 and 7.
func stopsAtTheLimit(t *testing.T, c cluster.Cluster) {
	const limit, records = shortMetadata, 2000
	cl := prepare(t, c, "short", 1, records)
	cfg := kafkaConfig(c, "short")
	cfg.SessionTimeout = 6 * time.Second
	e, net := open(t, c, cfg)
	if e.limit != limit {
		t.Fatalf("the limit is %d, read was %d", limit, e.limit)
	}

	times := map[int64]int{}
	received := 0
	for range 120 {
		ctx, cancel := context.WithTimeout(ctx, 500*time.Millisecond)
		leases, err := engine.Receive(ctx, e, 10)
		cancel()
		if errors.Is(err, context.DeadlineExceeded) {
			if len(e.Counts().Paused) > 0 {
				break
			}
			continue
		}
		must(t, err)
		received += len(leases)
		for _, l := range leases {
			if l.At.Offset%2 == 1 {
				must(t, e.Ack(ctx, l))
				times[l.At.Offset]++
			}
		}
	}
	if c := e.Counts(); len(c.Paused) != 1 || c.InFlight > cfg.MaxInFlight || received >= cfg.MaxInFlight {
		t.Fatalf("received %d, counted %+v", received, c)
	}
	must(t, e.Flush(ctx))
	offsets, err := kadm.NewClient(cl).FetchOffsets(ctx, cfg.Group)
	must(t, err)
	committed, _ := offsets.Lookup("short", 0)
	if n := len(committed.Metadata); committed.At != 0 || n == 0 || n > limit {
		t.Fatalf("committed %d with %q of %d characters", committed.At, committed.Metadata, n)
	}
	if len(times) < 20 {
		t.Fatalf("%d records are done in a map of %d characters", len(times), len(committed.Metadata))
	}
	var over kadm.Offsets
	over.Add(kadm.Offset{Topic: "short", At: 0, LeaderEpoch: -1, Metadata: strings.Repeat("x", limit+1)})
	refused, err := kadm.NewClient(cl).CommitOffsets(ctx, "another", over)
	must(t, err)
	if err := refused.Error(); !errors.Is(err, kerr.OffsetMetadataTooLarge) {
		t.Fatalf("metadata above the limit: %v", err)
	}

	net.die()
	e2, _ := open(t, c, cfg)
	drain(t, e2, records, times)
	for offset := range int64(records) {
		if n := times[offset]; n != 1 {
			t.Fatalf("the record at %d was acknowledged %d times", offset, n)
		}
	}
	must(t, e2.Flush(ctx))
	if c := e2.Counts(); len(c.Paused) != 0 || c.CommitBehind != 0 || c.InFlight != 0 {
		t.Fatalf("counted %+v", c)
	}
}
