//go:build librdkafka && cgo && proof && !race

package librdkafka

import (
	"context"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/kafka/cluster/clustertest"
	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/kafka/driver/drivertest"
	"kafkabench.example/kafka-bench/internal/measure/stats"
)

// While it reads the topic, the client stops fetching three or four times for 1 s, so the rates of equal loops may
// differ by a quarter. Nine rounds give an interval of ±12 %, and 54 one of ±5 %.
const (
	ownLoopRecords     = 600_000
	ownLoopRecordBytes = 100
	ownLoopPartitions  = 6
	ownLoopRounds      = 54
)

// TestOwnLoop: the driver reads as fast as the client's own poll loop, also after a hold.
func TestOwnLoop(t *testing.T) {
	c := clustertest.Shared(t)
	topic := fmt.Sprintf("own-loop-%d", time.Now().UnixNano())
	drivertest.NewEnv(t, c.Bootstrap(), cluster.AccessTo(c)).CreateTopic(t, topic, ownLoopPartitions)
	cfg := driver.ConsumerConfig{
		Brokers: c.Bootstrap(), Access: cluster.AccessTo(c), Topic: topic, Protocol: driver.ProtocolClassic,
	}
	fillOwnLoop(t, cfg)
	loops := []struct {
		name string
		read func(round int) (perSecond float64)
	}{
		{"the client's own loop", func(int) float64 { return readByClient(t, cfg) }},
		{"the driver", func(int) float64 { return readByDriver(t, cfg, 0) }},
		{"the driver, held", func(round int) float64 {
			return readByDriver(t, cfg, 200*time.Millisecond+time.Duration(round)*time.Second/ownLoopRounds)
		}},
	}
	rates := make([][]float64, len(loops))
	for round := range ownLoopRounds {
		for turn := range loops {
			i := (round + turn) % len(loops)
			cfg.Group = fmt.Sprintf("%s-%d-%d", topic, round, i)
			rates[i] = append(rates[i], loops[i].read(round))
		}
		t.Logf("round %d: own loop %.0f/s, driver %.0f/s, held %.0f/s",
			round+1, rates[0][round], rates[1][round], rates[2][round])
	}
	driven := ratioOf(t, "driver ÷ own loop", rates[1], rates[0])
	if driven.Low < 0.9 || driven.High > 1.1 {
		t.Errorf("driver ÷ own loop is %.3f to %.3f, want it within 0.9 to 1.1", driven.Low, driven.High)
	}
	if held := ratioOf(t, "held ÷ driver", rates[2], rates[1]); held.Low < 0.9 {
		t.Errorf("held ÷ driver is %.3f to %.3f, want at least 0.9", held.Low, held.High)
	}
}

func ratioOf(t *testing.T, what string, rates, base []float64) stats.Estimate {
	t.Helper()
	ratios, logs := make([]float64, len(rates)), make([]stats.Estimate, len(rates))
	for i := range rates {
		ratios[i] = rates[i] / base[i]
		log := math.Log(ratios[i])
		logs[i] = stats.Estimate{Value: log, Low: log, High: log}
	}
	e := stats.Across(logs, 0.95)
	e = stats.Estimate{Value: math.Exp(e.Value), Low: math.Exp(e.Low), High: math.Exp(e.High)}
	t.Logf("%s: %.3f (%.3f to %.3f) of %.3f", what, e.Value, e.Low, e.High, ratios)
	return e
}

func fillOwnLoop(t *testing.T, cfg driver.ConsumerConfig) {
	t.Helper()
	done := make(chan driver.Done, ownLoopRecords)
	p := drivertest.Producer(t, New(), driver.ProducerConfig{
		Brokers: cfg.Brokers, Access: cfg.Access, Topic: cfg.Topic, Acks: driver.AcksLeader,
		Linger: 5 * time.Millisecond, BatchBytes: 64 << 10,
		OnDone: func(d driver.Done) { done <- d },
	})
	records := make([]driver.Record, ownLoopRecords)
	value := make([]byte, ownLoopRecordBytes)
	for i := range records {
		records[i] = driver.Record{Partition: int32(i % ownLoopPartitions), Value: value}
		p.Produce(&records[i])
	}
	for range records {
		if d := <-done; d.Outcome != driver.Acked {
			t.Fatal(d.Outcome, d.Err)
		}
	}
}

// The rate is from the assignment to the last record.
func readByClient(t *testing.T, cfg driver.ConsumerConfig) (perSecond float64) {
	t.Helper()
	set, err := consumerProperties(cfg)
	if err != nil {
		t.Fatal(err)
	}
	client, err := kafka.NewConsumer(set.config(nil))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	var begun time.Time
	onRebalance := func(_ *kafka.Consumer, event kafka.Event) error {
		if e, ok := event.(kafka.AssignedPartitions); ok {
			begun = time.Now()
			return client.IncrementalAssign(e.Partitions)
		}
		return nil
	}
	if err := client.Subscribe(cfg.Topic, onRebalance); err != nil {
		t.Fatal(err)
	}
	for records := 0; records < ownLoopRecords; {
		switch e := client.Poll(100).(type) {
		case *kafka.Message:
			records++
		case kafka.Error:
			t.Fatal(e)
		}
	}
	return ownLoopRecords / time.Since(begun).Seconds()
}

// If hold is above 0, the partitions are paused in OnAssigned and resumed after hold, and the rate starts then.
func readByDriver(t *testing.T, cfg driver.ConsumerConfig, hold time.Duration) (perSecond float64) {
	t.Helper()
	var c driver.Consumer
	begun := make(chan time.Time, 1)
	cfg.OnAssigned = func(partitions []int32) {
		if hold == 0 {
			begun <- time.Now()
			return
		}
		pauser := c.(driver.Pauser)
		pauser.Pause(partitions...)
		time.AfterFunc(hold, func() {
			begun <- time.Now()
			pauser.Resume(partitions...)
		})
	}
	c, err := New().NewConsumer(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for records := 0; records < ownLoopRecords; {
		chunks, err := c.Poll(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		for _, chunk := range chunks {
			records += len(chunk.Records)
			chunk.Free()
		}
	}
	return ownLoopRecords / time.Since(<-begun).Seconds()
}
