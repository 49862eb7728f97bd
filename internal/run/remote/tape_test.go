package remote

import (
	"context"
	"errors"
	"strings"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/load/receive"
	"kafkabench.example/kafka-bench/internal/plan/payload"
)

// tape is a driver whose consumers receive the same records in every process. Each partition has
// the records of one producer. The partitions are assigned manually.
type tape struct{ driver.Driver }

const (
	tapeRecords = 2000
	tapePoll    = 20
)

func (tape) Name() string { return "tape" }

func (tape) NewConsumer(cfg driver.ConsumerConfig) (driver.Consumer, error) {
	if strings.HasPrefix(cfg.Topic, "refused") {
		return nil, errors.New("there is no such topic")
	}
	corpus, err := payload.NewCorpus(payload.Spec{Class: "zeros", Stamped: true, Sizes: payload.Sizes{Distribution: "fixed", Values: []int{100}}})
	if err != nil {
		return nil, err
	}
	c := &tapeConsumer{corpus: corpus, assigned: make(chan struct{}), at: make(map[int32]int64)}
	var partitions []int32
	for p, from := range cfg.Partitions {
		c.at[p], partitions = from, append(partitions, p)
	}
	go func() {
		cfg.OnAssigned(partitions) // it waits for the consumer
		close(c.assigned)
	}()
	return c, nil
}

type tapeConsumer struct {
	corpus   *payload.Corpus
	assigned chan struct{}
	at       map[int32]int64
}

func (c *tapeConsumer) Poll(ctx context.Context) ([]driver.Chunk, error) {
	<-c.assigned
	behind := int32(-1)
	for p, at := range c.at {
		if at < tapeRecords && (behind < 0 || at < c.at[behind]) {
			behind = p
		}
	}
	if behind < 0 {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	time.Sleep(time.Millisecond)
	chunk := driver.Chunk{Partition: behind}
	for range tapePoll {
		at := c.at[behind]
		c.at[behind]++
		chunk.Records = append(chunk.Records, driver.Received{Offset: at, Value: c.value(behind, at)})
	}
	return []driver.Chunk{chunk}, nil
}

// The first tenth of the records is due before time 0, in the warm-up.
func (c *tapeConsumer) value(partition int32, offset int64) []byte {
	due := offset - tapeRecords/10
	return c.corpus.Value(nil, uint64(offset), &payload.Stamp{
		Run: 7, Partition: partition, Sequence: uint64(offset), Intended: due, Actual: due,
	})
}

func (*tapeConsumer) Commit(context.Context, map[int32]int64) error { return nil }
func (*tapeConsumer) Settings() []driver.Setting {
	return []driver.Setting{{Name: "fetch.min.bytes", Value: "1"}}
}
func (*tapeConsumer) Close() {}

func openTape(a Assignment, axis *load.Axis) (Load, error) {
	axis.Adopt(a.Zero)
	cfg := a.Group.Config()
	cfg.Driver, cfg.Axis = tape{}, axis
	cfg.OnEvent = func(receive.Event) {}
	return openGroup(cfg)
}

func openGroup(cfg receive.Config) (Load, error) {
	g, err := receive.Start(cfg)
	if err != nil {
		return Load{}, err
	}
	l := Load{Axis: cfg.Axis, Consumers: g, Partitions: cfg.Partitions}
	l.Settings, l.Workers = g.Settings(), g.Workers()
	if err := g.CanKill(); err != nil {
		l.CannotKill = err.Error()
	}
	return l, nil
}

func reading(axis *load.Axis) receive.Config {
	return receive.Config{
		Driver: tape{}, Manual: true, Members: 3, Numbers: 4, Producers: 1, Partitions: 5,
		Axis: axis, Stamped: true, Run: 7, OnEvent: func(receive.Event) {},
	}
}
