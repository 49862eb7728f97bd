//go:build cgo

package backpressure_test

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"

	"kafkabench.example/kafka-bench/backpressure"
)

// Each message waits for the gate before Produce, and a reader of the producer's events reports to the
// gate. The cluster is librdkafka's mock.
func ExampleGate_confluent() {
	ctx := context.Background()
	gate, err := backpressure.Open(ctx, backpressure.Config{Controller: backpressure.Credit{MaxLag: 1000}, Source: lagOf(0)})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer gate.Close()

	cluster, err := kafka.NewMockCluster(1)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer cluster.Close()
	producer, err := kafka.NewProducer(&kafka.ConfigMap{
		"bootstrap.servers":  cluster.BootstrapServers(),
		"enable.idempotence": true,    // implies acks=all
		"message.timeout.ms": 120_000, // librdkafka's default of 5 minutes is above the gate's time of doubt
		"linger.ms":          0,
	})
	if err != nil {
		fmt.Println(err)
		return
	}

	var reports sync.WaitGroup
	reports.Go(func() {
		for event := range producer.Events() {
			m, ok := event.(*kafka.Message)
			if !ok {
				continue
			}
			tellGate(gate, m)
		}
	})

	topic := "orders"
	for i := range 3 {
		if err := gate.Acquire(ctx, 1); err != nil {
			fmt.Println(err)
			return
		}
		if err := producer.Produce(&kafka.Message{
			TopicPartition: kafka.TopicPartition{Topic: &topic, Partition: kafka.PartitionAny},
			Value:          fmt.Append(nil, i),
		}, nil); err != nil {
			gate.Done(1) // refused: it will never be in the log
			fmt.Println(err)
		}
	}
	for gate.Stats().Settled < gate.Stats().Admitted { // the client may still hold messages
		producer.Flush(100)
	}
	producer.Close()
	reports.Wait()
	s := gate.Stats()
	fmt.Println("admitted", s.Admitted, "of known fate", s.Settled)
	// Output: admitted 3 of known fate 3
}

func tellGate(gate *backpressure.Gate, m *kafka.Message) {
	var failed kafka.Error
	switch {
	case m.TopicPartition.Error == nil:
		gate.Acked(*m.TopicPartition.Topic, m.TopicPartition.Partition, int64(m.TopicPartition.Offset))
		gate.Done(1)
	case errors.As(m.TopicPartition.Error, &failed) && failed.Code() == kafka.ErrMsgSizeTooLarge:
		gate.Done(1) // refused: it will never be in the log
	default:
		gate.Unsure(1)
	}
}
