package send_test

import (
	"context"
	"math"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"golang.org/x/sys/unix"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/kafka/driver/franz"
	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/load/send"
	"kafkabench.example/kafka-bench/internal/plan/arrival"
	"kafkabench.example/kafka-bench/internal/plan/payload"
	"kafkabench.example/kafka-bench/internal/plan/unit"
)

const (
	benchTopic      = "bench"
	benchPartitions = 6
	benchBuffered   = 50_000
	benchBatchBytes = 64 << 10
	benchRecord     = 100
)

// The broker runs in the same process, so only the difference counts.
func BenchmarkProduce(b *testing.B) {
	b.Run("everything measured", func(b *testing.B) { benchmarkProducers(b, nil, false) })
	b.Run("everything measured, stamps in headers", func(b *testing.B) { benchmarkProducers(b, nil, true) })
	// A late pacer sends hundreds of records at once here, each with response times.
	b.Run("everything measured, open loop", func(b *testing.B) {
		rate, err := unit.ParseRate("1M/s")
		if err != nil {
			b.Fatal(err)
		}
		million, err := arrival.Constant(rate)
		if err != nil {
			b.Fatal(err)
		}
		benchmarkProducers(b, million, false)
	})
	b.Run("client alone", benchmarkClient)
}

func blackhole(b *testing.B) []string {
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.BlackholeProduce(), kfake.SeedTopics(benchPartitions, benchTopic))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(cluster.Close)
	return cluster.ListenAddrs()
}

func benchmarkProducers(b *testing.B, arrivals arrival.Process, header bool) {
	corpus, err := payload.NewCorpus(payload.Spec{
		Class: "random", Stamped: !header, Sizes: payload.Sizes{Distribution: "fixed", Values: []int{benchRecord}},
	})
	if err != nil {
		b.Fatal(err)
	}
	axis := load.NewAxis(nil)
	producers, err := send.Open(send.Config{
		Driver: franz.New(),
		Client: driver.ProducerConfig{
			Brokers: blackhole(b), Topic: benchTopic, Acks: driver.AcksLeader, Compression: "none",
			Linger: 5 * time.Millisecond, BatchBytes: benchBatchBytes, InFlight: 5,
		},
		Workers: 1, MaxBuffered: benchBuffered, MaxDeferred: math.MaxInt64, Arrivals: arrivals, Partitions: benchPartitions, Partitioning: "sticky",
		Corpus: corpus, Keys: &payload.Keys{}, RecordBytes: benchRecord, Stamped: true, Header: header, Axis: axis,
	})
	if err != nil {
		b.Fatal(err)
	}
	defer producers.Close()
	axis.Set(0, time.Hour)
	producers.Start()
	timed(b, func() int64 {
		_, sent := producers.Sent()
		return sent.Acked
	})
}

func benchmarkClient(b *testing.B) {
	client, err := kgo.NewClient(
		kgo.SeedBrokers(blackhole(b)...), kgo.DisableClientMetrics(),
		kgo.RequiredAcks(kgo.LeaderAck()), kgo.DisableIdempotentWrite(), kgo.MaxProduceRequestsInflightPerBroker(5),
		kgo.ProducerBatchCompression(kgo.NoCompression()), kgo.ProducerLinger(5*time.Millisecond),
		kgo.ProducerBatchMaxBytes(benchBatchBytes), kgo.MaxBufferedRecords(benchBuffered),
	)
	if err != nil {
		b.Fatal(err)
	}
	defer client.Close()
	var acked atomic.Int64
	var stop atomic.Bool
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		value := make([]byte, benchRecord)
		promise := func(*kgo.Record, error) { acked.Add(1) }
		for !stop.Load() {
			client.Produce(context.Background(), &kgo.Record{Topic: benchTopic, Value: value}, promise)
		}
	}()
	timed(b, acked.Load)
	stop.Store(true)
	<-ended
}

// timed reports processor time, which depends little on other load.
func timed(b *testing.B, acked func() int64) {
	b.Helper()
	await := func(n int64) {
		for acked() < n {
			time.Sleep(time.Millisecond)
		}
	}
	await(4 * benchBuffered)
	b.ReportAllocs()
	b.ResetTimer()
	from, before := acked(), cpuTime(b)
	await(from + int64(b.N))
	b.StopTimer()
	records := acked() - from
	b.ReportMetric(float64(cpuTime(b)-before)/float64(records), "cpu-ns/record")
	b.ReportMetric(float64(records)/b.Elapsed().Seconds(), "records/s")
}

func cpuTime(b *testing.B) time.Duration {
	var usage unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
