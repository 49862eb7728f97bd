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

// A pipe passes messages to the producer's channel as the gate admits them, and a reader of the
// producer's events reports to the gate. The cluster is librdkafka's mock.
func ExamplePipe_confluent() {
	credit, err := backpressure.NewCredit(1000)
	if err != nil {
		fmt.Println(err)
		return
	}
	gate, err := backpressure.New(backpressure.Config{Controller: credit})
	if err != nil {
		fmt.Println(err)
		return
	}
	gate.Report(gate.Mark(), backpressure.Reading{}) // with Config.Source: go gate.Watch(ctx)

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
	messages := make(chan *kafka.Message)
	go func() {
		defer close(messages)
		for i := range 3 {
			messages <- &kafka.Message{
				TopicPartition: kafka.TopicPartition{Topic: &topic, Partition: kafka.PartitionAny},
				Value:          fmt.Append(nil, i),
			}
		}
	}()
	out := producer.ProduceChannel() //nolint:staticcheck // deprecated, and in use; a goroutine that calls Produce reads a channel as well
	err = backpressure.Pipe(context.Background(), gate, messages, out, backpressure.PipeConfig[*kafka.Message]{
		Excess: backpressure.Defer,
	})
	for gate.Stats().Settled < gate.Stats().Admitted { // the channel may still hold messages
		producer.Flush(100)
	}
	producer.Close()
	reports.Wait()
	s := gate.Stats()
	fmt.Println("admitted", s.Admitted, "of known fate", s.Settled, err)
	// Output: admitted 3 of known fate 3 <nil>
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
