//go:build full

package kgogate_test

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/IBM/sarama"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/backpressure/kgogate"
	"kafkabench.example/kafka-bench/internal/kafka/cluster/clustertest"
)

// F1: before a healthy group of another client, which has read everything, neither deleted records nor the ends of
// transactions keep a gate closed. Before, 64 partitions that each end with a transaction's end closed a gate of 50 for ever.
func TestKafkaGateBeforeAHealthyGroupOpens(t *testing.T) {
	const partitions, bound = 64, 50
	k := clustertest.Shared(t)
	topic := fmt.Sprintf("gate-%d", time.Now().UnixNano())
	clustertest.Topic(t, k, topic, partitions, 1, nil)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	client, err := kgo.NewClient(kgo.SeedBrokers(k.Bootstrap()...), kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.DefaultProduceTopic(topic))
	must(err)
	t.Cleanup(client.Close)
	adm := kadm.NewClient(client)

	transact(t, k.Bootstrap(), topic, partitions)
	group := startGroup(t, k.Bootstrap(), topic)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	group.await(ctx, partitions)
	lags, err := adm.Lag(ctx, topic)
	must(err)
	if lag := lags[topic].Lag.Total(); lag != partitions {
		t.Fatalf("the group's lag is %d in the tools' eyes, want the %d ends of transactions", lag, partitions)
	}
	producer, err := kgogate.Open(ctx, client, kgogate.Config{Group: topic, Topics: []string{topic}, MaxLag: bound})
	must(err)
	t.Cleanup(producer.Close)
	must(producer.ProduceSync(ctx, &kgo.Record{Value: []byte("through")}).FirstErr())
	group.await(ctx, 1)

	group.stop()
	for i := range 40 { // below the bound, and then deleted before anybody reads them
		must(producer.ProduceSync(ctx, &kgo.Record{Partition: 1, Value: []byte(strconv.Itoa(i))}).FirstErr())
	}
	ends, err := adm.ListEndOffsets(ctx, topic)
	must(err)
	_, err = adm.DeleteRecords(ctx, ends.Offsets())
	must(err)
	for range 40 { // more than the bound in all
		must(producer.ProduceSync(ctx, &kgo.Record{Partition: 2, Value: []byte("after")}).FirstErr())
	}
}

// transact writes one record to each partition, in one transaction.
func transact(t *testing.T, brokers []string, topic string, partitions int32) {
	t.Helper()
	cfg := sarama.NewConfig()
	cfg.Producer.Idempotent, cfg.Producer.Transaction.ID, cfg.Net.MaxOpenRequests = true, topic, 1
	cfg.Producer.RequiredAcks, cfg.Producer.Return.Successes = sarama.WaitForAll, true
	cfg.Producer.Partitioner = sarama.NewManualPartitioner
	producer, err := sarama.NewSyncProducer(brokers, cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer producer.Close()
	if err := producer.BeginTxn(); err != nil {
		t.Fatal(err)
	}
	for p := range partitions {
		if _, _, err := producer.SendMessage(&sarama.ProducerMessage{Topic: topic, Partition: p, Value: sarama.StringEncoder("v")}); err != nil {
			t.Fatal(err)
		}
	}
	if err := producer.CommitTxn(); err != nil {
		t.Fatal(err)
	}
}

// readers is a healthy group of sarama: it commits each record that it has read.
type readers struct {
	t    *testing.T
	stop func()
	read chan struct{}
}

func startGroup(t *testing.T, brokers []string, topic string) *readers {
	t.Helper()
	cfg := sarama.NewConfig()
	cfg.Consumer.Offsets.Initial, cfg.Consumer.IsolationLevel = sarama.OffsetOldest, sarama.ReadCommitted
	group, err := sarama.NewConsumerGroup(brokers, topic, cfg)
	if err != nil {
		t.Fatal(err)
	}
	g := &readers{t: t, read: make(chan struct{}, 1000)}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for ctx.Err() == nil {
			if err := group.Consume(ctx, []string{topic}, g); err != nil && ctx.Err() == nil {
				t.Error(err)
				return
			}
		}
	}()
	g.stop = sync.OnceFunc(func() { cancel(); <-ended; group.Close() })
	t.Cleanup(g.stop)
	return g
}

// await waits until the group has read and committed n further records.
func (g *readers) await(ctx context.Context, n int) {
	g.t.Helper()
	for range n {
		select {
		case <-g.read:
		case <-ctx.Done():
			g.t.Fatal("the group has not read the records")
		}
	}
}

func (g *readers) Setup(sarama.ConsumerGroupSession) error   { return nil }
func (g *readers) Cleanup(sarama.ConsumerGroupSession) error { return nil }

func (g *readers) ConsumeClaim(s sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	for m := range claim.Messages() {
		s.MarkMessage(m, "")
		s.Commit()
		g.read <- struct{}{}
	}
	return nil
}
