package offsetmap

import (
	"errors"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kafkabench.example/kafka-bench/kmq/internal/lease"
)

func startFake(t *testing.T) *kfake.Cluster {
	t.Helper()
	c, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.BrokerConfigs(map[string]string{"group.initial.rebalance.delay.ms": "0"}))
	must(t, err)
	t.Cleanup(c.Close)
	return c
}

// committed has the group begin at an offset with what a map says.
func committed(t *testing.T, adm *kadm.Client, group, topic string, at int64, metadata string) {
	t.Helper()
	var offsets kadm.Offsets
	offsets.Add(kadm.Offset{Topic: topic, At: at, LeaderEpoch: -1, Metadata: metadata})
	answers, err := adm.CommitOffsets(ctx, group, offsets)
	must(t, err)
	must(t, answers.Error())
}

// TestLogIsNotWhereTheCommitIs begins with commits below and above what a cluster has.
func TestLogIsNotWhereTheCommitIs(t *testing.T) {
	for name, c := range map[string]struct {
		commit, start, want, missing int64
	}{
		"below": {commit: 20, start: 70, want: 30, missing: 50},
		"above": {commit: 500, start: 0, want: 100, missing: 0},
	} {
		t.Run(name, func(t *testing.T) {
			fake := startFake(t)
			adm := kadm.NewClient(prepare(t, fake.ListenAddrs(), "queue", 1, 100))
			cfg := kafkaConfig(fake.ListenAddrs(), "queue")
			committed(t, adm, cfg.Group, "queue", c.commit, "")
			var to kadm.Offsets
			to.Add(kadm.Offset{Topic: "queue", At: c.start})
			deleted, err := adm.DeleteRecords(ctx, to)
			must(t, err)
			must(t, deleted.Error())
			e, _ := open(t, cfg)
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
	}
}

// TestBrokerRefusesMaps has a coordinator take less metadata than it says: all is delivered
// once, and its map is never lost.
func TestBrokerRefusesMaps(t *testing.T) {
	const limit, records = 24, 3000
	fake := startFake(t)
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
	prepare(t, fake.ListenAddrs(), "queue", 1, records)
	cfg := kafkaConfig(fake.ListenAddrs(), "queue")
	cfg.CommitEvery, cfg.MaxInFlight = 20*time.Millisecond, 1000
	e, _ := open(t, cfg)
	times := map[int64]int{}
	var first []*lease.Lease
	for len(first) < 400 { // of which the map is as long as this test needs it
		more, err := e.Receive(ctx, 400-len(first))
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
			break
		}
		if time.Now().After(until) {
			t.Fatalf("the limit is still %d", learned)
		}
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
}
