package kgogate_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kafkabench.example/kafka-bench/backpressure"
	"kafkabench.example/kafka-bench/backpressure/kgogate"
	"kafkabench.example/kafka-bench/internal/lagcontrol"
)

// A refused record makes room at once; a record of unknown fate makes room only after the doubt.
func TestFate(t *testing.T) {
	unordered := []kgo.Opt{kgo.DisableIdempotentWrite(), kgo.MaxProduceRequestsInflightPerBroker(5)}
	for _, c := range []struct {
		name  string
		err   *kerr.Error
		opts  []kgo.Opt
		stats string
	}{
		{"refused", kerr.MessageTooLarge, nil, "produced 1 acked 0 failed 1"},
		{"refused in a crowd", kerr.MessageTooLarge, unordered, "produced 1 acked 0 unknown 1"},
		{"refused, one at a time", kerr.InvalidRecord, []kgo.Opt{kgo.DisableIdempotentWrite(), kgo.MaxProduceRequestsInflightPerBroker(1)}, "produced 1 acked 0 failed 1"},
		{"refused for who asks", kerr.TopicAuthorizationFailed, nil, "produced 1 acked 0 unknown 1"},
		{"answer leaves it open", kerr.UnknownServerError, nil, "produced 1 acked 0 unknown 1"},
		{"timed out", kerr.NotLeaderForPartition, append(unordered, kgo.RecordDeliveryTimeout(3*time.Second)), "produced 1 acked 0 unknown 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			inVirtualTime(t, func(p *plant) {
				gate := p.gate(1)
				producer := p.producer(gate, kgogate.Config{})
				defer producer.Close()
				p.cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Err: c.err, Count: -1})
				producer.Produce(context.Background(), record(0), p.promise)
				time.Sleep(10 * time.Second)
				p.wantStats(producer, c.stats)
				report(gate, 0)
				if known := strings.HasSuffix(c.stats, "failed 1"); gate.Open() != known {
					t.Errorf("the gate is open: %v, the record's fate is known: %v", gate.Open(), known)
				}
				time.Sleep(lagcontrol.DefaultDoubt)
				report(gate, 0)
				if !gate.Open() {
					t.Error("the doubt is over and the gate is closed")
				}
			}, c.opts...)
		})
	}
}

// A record whose first attempt was appended, and whose later attempts were refused, counts as
// unknown.
func TestAppendedThenRefused(t *testing.T) {
	for _, refusal := range []*kerr.Error{
		kerr.UnknownTopicOrPartition, kerr.UnknownTopicID, kerr.TopicAuthorizationFailed, kerr.ClusterAuthorizationFailed,
		kerr.InvalidTimestamp, kerr.PolicyViolation, kerr.UnsupportedCompressionType, kerr.UnsupportedForMessageFormat,
		kerr.UnsupportedVersion,
	} {
		t.Run(refusal.Message, func(t *testing.T) {
			inVirtualTime(t, func(p *plant) {
				p.refuseSecondAttempts(refusal)
				gate := p.gate(1)
				producer := p.producer(gate, kgogate.Config{})
				defer producer.Close()
				p.produce(producer, 0, 1)
				time.Sleep(time.Minute)
				if end := p.cluster.PartitionInfo("orders", 0).HighWatermark; end != 1 {
					t.Fatalf("%d records are in the log; this test needs one", end)
				}
				p.wantStats(producer, "produced 1 acked 0 unknown 1")
				report(gate, 0)
				if gate.Open() {
					t.Error("the gate has room for another: the record in the log was told of as gone")
				}
			}, kgo.UnknownTopicRetries(3))
		})
	}
}

func (p *plant) refuseSecondAttempts(refusal *kerr.Error) {
	first := true
	p.cluster.ControlKey(int16(kmsg.Produce), func(r kmsg.Request) (kmsg.Response, error, bool) {
		p.cluster.KeepControl()
		if first {
			first = false
			p.loseAnswer.Store(true)
			return nil, nil, false
		}
		request := r.(*kmsg.ProduceRequest)
		response := request.ResponseKind().(*kmsg.ProduceResponse)
		for _, topic := range request.Topics {
			of := kmsg.NewProduceResponseTopic()
			of.Topic, of.TopicID = topic.Topic, topic.TopicID
			for _, partition := range topic.Partitions {
				answer := kmsg.NewProduceResponseTopicPartition()
				answer.Partition, answer.ErrorCode = partition.Partition, refusal.Code
				of.Partitions = append(of.Partitions, answer)
			}
			response.Topics = append(response.Topics, of)
		}
		return response, nil, true
	})
}

// franz-go keeps a record without an answer beyond RecordDeliveryTimeout, and the gate counts the
// record.
func TestDeliveryTimeoutNeedsCancellation(t *testing.T) {
	for _, c := range []struct {
		name        string
		opts        []kgo.Opt
		away, after string
		inLog       int64
	}{
		{"kept", []kgo.Opt{kgo.AllowIdempotentProduceCancellation()}, "produced 1 acked 0 unknown 1", "produced 1 acked 0 unknown 1", 0},
		{"not kept", nil, "produced 1 acked 0", "produced 1 acked 1", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			inVirtualTime(t, func(p *plant) {
				p.away.Store(true)
				producer := p.producer(p.gate(2), kgogate.Config{})
				defer producer.Close()
				p.produce(producer, 0, 1)
				time.Sleep(10 * time.Minute)
				p.wantStats(producer, c.away)
				p.away.Store(false)
				time.Sleep(10 * time.Minute)
				p.wantStats(producer, c.after)
				if end := p.cluster.PartitionInfo("orders", 0).HighWatermark; end != c.inLog {
					t.Errorf("%d records are in the log, want %d", end, c.inLog)
				}
			}, append(c.opts, kgo.RecordDeliveryTimeout(3*time.Second))...)
		})
	}
}

func TestContextEndsInTheClient(t *testing.T) {
	inVirtualTime(t, func(p *plant) {
		p.away.Store(true)
		gate := p.gate(1)
		producer := p.producer(gate, kgogate.Config{})
		defer producer.Close()
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		producer.Produce(ctx, record(0), p.promise)
		time.Sleep(30 * time.Second)
		p.wantPromised("0: context deadline exceeded")
		p.wantStats(producer, "produced 1 acked 0 unknown 1")
		report(gate, 0)
		if gate.Open() {
			t.Error("the gate has room for another before the doubt is over")
		}
	}, kgo.AllowIdempotentProduceCancellation())
}

func TestAckedReachesTheGate(t *testing.T) {
	inVirtualTime(t, func(p *plant) {
		gate := p.gate(10)
		gate.cfg.Share, gate.cfg.Inherit = backpressure.Fixed(0.5), backpressure.NoInherit
		producer := p.producer(gate, kgogate.Config{Excess: kgogate.Shed})
		defer producer.Close()
		p.produce(producer, 0, 6)
		p.rest()
		p.wantStats(producer, "produced 5 acked 5 gate 1")
		gate.read(backpressure.Reading{Partitions: []backpressure.Partition{{Topic: "orders", Committed: 2, End: 100}}}) // the other 95 are not ours
		if s := gate.Stats(); s.Lag != 3 {
			t.Errorf("%d own records are behind, want 3", s.Lag)
		}
	})
}
