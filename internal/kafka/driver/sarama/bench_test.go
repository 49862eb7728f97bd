package sarama_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	ibm "github.com/IBM/sarama"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/kafka/driver/drivertest"
	"kafkabench.example/kafka-bench/internal/kafka/driver/sarama"
)

// "client, new records" is the loop of most programs; "client, same records" reuses each completed record.
func BenchmarkProduce(b *testing.B) {
	value := make([]byte, drivertest.BenchRecordBytes)
	b.Run("driver", func(b *testing.B) {
		drivertest.BenchProducer(b, sarama.New(), driver.ProducerConfig{Compression: "none"}, rest)
	})
	b.Run("client, new records", func(b *testing.B) { benchmarkNewRecords(b, value) })
	b.Run("client, same records", func(b *testing.B) { benchmarkSameRecords(b, value) })
}

// rest waits for the client; a busy loop would count as a cost of records.
func rest() { time.Sleep(100 * time.Microsecond) }

func bareClient(b *testing.B, acked func(*ibm.ProducerMessage)) ibm.AsyncProducer {
	config := ibm.NewConfig()
	config.Metadata.Full = false
	config.Producer.RequiredAcks = ibm.WaitForLocal
	config.Producer.Return.Successes = true
	config.Producer.Partitioner = ibm.NewManualPartitioner
	client, err := ibm.NewAsyncProducer(drivertest.Blackhole(b), config)
	if err != nil {
		b.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for message := range client.Successes() {
			acked(message)
		}
	}()
	b.Cleanup(func() {
		client.AsyncClose()
		for failed := range client.Errors() {
			b.Error(failed)
		}
		<-ended
	})
	return client
}

func benchmarkNewRecords(b *testing.B, value []byte) {
	ring := drivertest.NewRing(func() *struct{} { return nil }, rest)
	client := bareClient(b, func(*ibm.ProducerMessage) { ring.Done(1) })
	drivertest.Measure(b, func(n int) {
		for i := range n {
			ring.Next()
			client.Input() <- &ibm.ProducerMessage{Topic: drivertest.BenchTopic, Partition: int32(i % drivertest.BenchPartitions), Value: ibm.ByteEncoder(value)}
		}
		ring.Drain()
	})
}

func benchmarkSameRecords(b *testing.B, value []byte) {
	ring := drivertest.NewRing(func() *ibm.ProducerMessage {
		return &ibm.ProducerMessage{Topic: drivertest.BenchTopic, Value: ibm.ByteEncoder(value)}
	}, rest)
	client := bareClient(b, func(*ibm.ProducerMessage) { ring.Done(1) })
	drivertest.Measure(b, func(n int) {
		for i := range n {
			message := ring.Next()
			message.Partition = int32(i % drivertest.BenchPartitions)
			client.Input() <- message
		}
		ring.Drain()
	})
}

func BenchmarkConsume(b *testing.B) {
	for _, batch := range []int{10, 1_000, 10_000} {
		b.Run(fmt.Sprintf("driver, batches of %d", batch), func(b *testing.B) {
			drivertest.BenchConsumer(b, sarama.New(), driver.ConsumerConfig{Group: "bench"}, batch)
		})
		b.Run(fmt.Sprintf("client, batches of %d", batch), func(b *testing.B) { benchmarkChannels(b, batch) })
	}
}

func benchmarkChannels(b *testing.B, batch int) {
	config := ibm.NewConfig()
	config.Consumer.Offsets.Initial = ibm.OffsetOldest
	client, err := ibm.NewConsumer(drivertest.Endless(b, batch), config)
	if err != nil {
		b.Fatal(err)
	}
	var records, bytes atomic.Int64
	for p := range int32(drivertest.BenchPartitions) {
		partition, err := client.ConsumePartition(drivertest.BenchTopic, p, ibm.OffsetOldest)
		if err != nil {
			b.Fatal(err)
		}
		defer partition.AsyncClose()
		go func() {
			for message := range partition.Messages() {
				bytes.Add(int64(len(message.Value)))
				records.Add(1)
			}
		}()
	}
	drivertest.MeasureCount(b, &records)
}
