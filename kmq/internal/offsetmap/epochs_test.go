package offsetmap

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kafkabench.example/kafka-bench/internal/project/virtual"
	"kafkabench.example/kafka-bench/kmq/internal/engine"
	"kafkabench.example/kafka-bench/kmq/internal/lease"
	"kafkabench.example/kafka-bench/kmq/internal/member"
)

// written is how many records a leader epoch has in a log.
type written struct {
	epoch   int32
	records int
}

// writeLog creates the topic anew, with records of these epochs. kfake cannot truncate a log.
func writeLog(t *testing.T, fake *virtual.Cluster, topic string, log ...written) {
	t.Helper()
	if fake.Fake().TopicInfo(topic) != nil {
		must(t, fake.Fake().DeleteTopic(topic))
	}
	must(t, fake.Fake().CreateTopic(topic, 1, nil))
	cl := fake.NewClient(t)
	for _, w := range log {
		turnTo(t, fake, topic, w.epoch)
		for range w.records {
			must(t, cl.ProduceSync(ctx, &kgo.Record{Topic: topic}).FirstErr())
		}
	}
}

// turnTo elects the leader again until the epoch is this one.
func turnTo(t *testing.T, fake *virtual.Cluster, topic string, epoch int32) {
	t.Helper()
	for fake.Fake().PartitionInfo(topic, 0).Epoch < epoch {
		must(t, fake.Fake().MoveTopicPartition(topic, 0, fake.Fake().LeaderFor(topic, 0)))
	}
}

func truncationConfig(fake *virtual.Cluster) engine.Config {
	cfg := kafkaConfig(fake, "queue")
	cfg.MaxInFlight = 1000
	return cfg
}

func receiveAll(t *testing.T, e *Engine, n int) []*lease.Lease {
	t.Helper()
	var all []*lease.Lease
	for len(all) < n {
		more, err := engine.Receive(ctx, e, n-len(all))
		must(t, err)
		all = append(all, more...)
	}
	return all
}

// A log was truncated, and written again by another leader, while no member had it: all of its new records are
// delivered, and nothing below the divergence again. Invariant 1.
func TestTruncatedBeforeTheAssignment(t *testing.T) {
	old := []written{{5, 100}, {6, 30}}
	for name, c := range map[string]struct {
		open int64 // the record that is not acknowledged; -1: none
		log  []written
		want []int64
	}{
		"a map":                 {50, []written{{5, 120}, {8, 20}}, append([]int64{50}, offsets(100, 140)...)},
		"a map, beyond its end": {50, []written{{5, 140}, {8, 5}}, append([]int64{50}, offsets(100, 145)...)},
		"a map, a lost tail":    {50, []written{{5, 100}, {6, 10}, {8, 20}}, append([]int64{50}, offsets(110, 130)...)},
		"a map, a later leader": {50, []written{{5, 100}, {6, 30}, {8, 20}}, append([]int64{50}, offsets(130, 150)...)},
		"a map, unknown epochs": {50, []written{{4, 140}}, offsets(50, 140)},
		"a commit":              {-1, []written{{5, 120}, {8, 20}}, offsets(100, 140)},
		"a commit, beyond":      {-1, []written{{5, 140}, {8, 5}}, offsets(100, 145)},
		"a commit, a lost tail": {-1, []written{{5, 100}, {6, 10}, {8, 20}}, offsets(110, 130)},
		"a commit at the end":   {-1, []written{{5, 60}, {8, 5}}, offsets(60, 65)},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				fake := startFake(t)
				writeLog(t, fake, "queue", old...)
				e, _ := open(t, fake, truncationConfig(fake))
				for _, l := range receiveAll(t, e, 130) {
					if l.At.Offset != c.open {
						must(t, e.Ack(ctx, l))
					}
				}
				must(t, e.Close(ctx))
				adm := kadm.NewClient(fake.NewClient(t))
				commit, err := adm.FetchOffsets(ctx, e.cfg.Group)
				must(t, err)
				writeLog(t, fake, "queue", c.log...)
				adm = kadm.NewClient(fake.NewClient(t)) // the former knows the id of the former topic
				must(t, adm.CommitAllOffsets(ctx, e.cfg.Group, commit.Offsets()))

				e, _ = open(t, fake, truncationConfig(fake))
				times := map[int64]int{}
				for _, l := range receiveAll(t, e, len(c.want)) {
					times[l.At.Offset]++
					must(t, e.Ack(ctx, l))
				}
				for _, offset := range c.want {
					if times[offset] != 1 {
						t.Errorf("offset %d was delivered %d times", offset, times[offset])
					}
				}
				time.Sleep(time.Second)
				end := c.want[len(c.want)-1] + 1
				now, err := adm.FetchOffsets(ctx, e.cfg.Group)
				must(t, err)
				if at, _ := now.Lookup("queue", 0); at.At != end || e.Counts().InFlight != 0 {
					t.Errorf("committed %d, want %d; %d in flight", at.At, end, e.Counts().InFlight)
				}
			})
		})
	}
}

func offsets(from, to int64) (all []int64) {
	for ; from < to; from++ {
		all = append(all, from)
	}
	return all
}

// answerEpochs answers the next questions for the end of an epoch, as if the log were another one.
func answerEpochs(fake *virtual.Cluster, times int, epoch int32, end int64) {
	fake.Fake().ControlKey(int16(kmsg.OffsetForLeaderEpoch), func(r kmsg.Request) (kmsg.Response, error, bool) {
		if times--; times > 0 {
			fake.Fake().KeepControl()
		}
		req := r.(*kmsg.OffsetForLeaderEpochRequest)
		resp := req.ResponseKind().(*kmsg.OffsetForLeaderEpochResponse)
		for _, topic := range req.Topics {
			of := kmsg.NewOffsetForLeaderEpochResponseTopic()
			of.Topic = topic.Topic
			for _, p := range topic.Partitions {
				one := kmsg.NewOffsetForLeaderEpochResponseTopicPartition()
				one.Partition, one.LeaderEpoch, one.EndOffset = p.Partition, min(p.LeaderEpoch, epoch), end
				of.Partitions = append(of.Partitions, one)
			}
			resp.Topics = append(resp.Topics, of)
		}
		return resp, nil, true
	})
}

// A log is truncated while a member reads it: the records from the divergence on are delivered as new ones, and the
// leases of the earlier ones are lost. The client compares only offsets, so it does not see that an epoch is gone
// whose successor is longer.
func TestTruncatedWhileRead(t *testing.T) {
	for name, c := range map[string]struct {
		times    int   // questions: the client's, and the member's
		epoch    int32 // what the new leader answers
		end, cut int64
	}{
		"a lost tail":              {1, 6, 110, 110},
		"an epoch that is gone":    {2, 5, 130, 100},
		"a part of the one before": {1, 5, 90, 90},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				fake := startFake(t)
				writeLog(t, fake, "queue", written{5, 100}, written{6, 30})
				e, _ := open(t, fake, truncationConfig(fake))
				first := receiveAll(t, e, 130)
				for _, l := range first {
					if l.At.Offset%2 == 1 {
						must(t, e.Ack(ctx, l))
					}
				}
				answerEpochs(fake, c.times, c.epoch, c.end)
				turnTo(t, fake, "queue", 8)
				must(t, fake.NewClient(t).ProduceSync(ctx, &kgo.Record{Topic: "queue"}).FirstErr())
				again := receiveAll(t, e, int(131-c.cut))
				for i, l := range again {
					if l.At.Offset != c.cut+int64(i) {
						t.Fatalf("the %d. of the new records is %v, want %d", i, l.At, c.cut+int64(i))
					}
					must(t, e.Ack(ctx, l))
				}
				for _, l := range first {
					if l.At.Offset%2 == 1 {
						continue
					}
					err := e.Ack(ctx, l)
					if gone := l.At.Offset >= c.cut; gone && !errors.Is(err, lease.ErrLost) || !gone && err != nil {
						t.Errorf("ack of %v: %v", l.At, err)
					}
				}
				must(t, e.Flush(ctx))
				if counts := e.Counts(); counts.CommitBehind != 0 || counts.InFlight != 0 {
					t.Errorf("counted %+v", counts)
				}
			})
		})
	}
}

// A count in a commit is of one record. If the log was cut below it, the next record at its offset begins anew, so it is
// not given up early.
func TestACountIsCutWithItsRecord(t *testing.T) {
	cfg := testConfig()
	cfg.RetryTopic, cfg.MaxDeliveries = "", 3
	w := newWorld(cfg, 4096)
	w.produce(0, 4)
	w.assign(0)
	w.h.Read(0, member.Epochs{{Number: 3, From: 0}, {Number: 4, From: 2}}, 4)
	w.poll()
	for range 2 {
		for _, l := range w.receive(4) {
			must(t, w.Nack(ctx, l, 0))
		}
	}
	w.receive(4)
	w.commitAll()
	w.halt()
	w.open(cfg, 4096)
	defer w.halt()
	w.assign(0)
	end, epochs := w.h.Mapped(0)
	if want := (member.Epochs{{Number: 3, From: 0}, {Number: 4, From: 2}}); end != 4 || !slices.Equal(epochs, want) {
		t.Errorf("the commit is about the epochs %v below %d", epochs, end)
	}
	w.h.Cut(0, 2)
	w.poll()
	for _, l := range w.receive(4) {
		if l.At.Offset < 2 || l.Attempt != 1 {
			t.Errorf("%v is delivered for the %d. time", l.At, l.Attempt)
		}
	}
}

// Nobody waits for a record that a log has no longer, or not again yet.
func TestACutRecordIsNotOpen(t *testing.T) {
	w := filled(testConfig(), 4096, 3)
	defer w.halt()
	last := w.receive(3)[2].At
	if !w.IsOpen(last) {
		t.Fatalf("%v is not open", last)
	}
	if w.h.Cut(0, 1); w.IsOpen(last) {
		t.Errorf("%v is open", last)
	}
}
