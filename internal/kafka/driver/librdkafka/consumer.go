//go:build librdkafka && cgo

package librdkafka

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"sync/atomic"
	"time"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/plan/payload"
)

const (
	// pollStep limits one wait within the client, which knows no context.
	pollStep = 50 * time.Millisecond
	// holdStep limits such a wait while the consumer holds back a partition from the client (see
	// offered): between waits, it checks whether the partition was resumed.
	holdStep = 5 * time.Millisecond
	// commitPatience limits the wait for a commit: the client's default request timeout (socket.timeout.ms).
	commitPatience = time.Minute
	// pollRecords limits a poll if the caller does not: Kafka's own default (max.poll.records). The client returns
	// a record in about 1 µs.
	pollRecords = 500
)

// The client returns records one by one, and may call back between two of them because a partition is revoked. The
// poll must then first return the records gathered so far; otherwise the caller would commit without them. But the
// rebalance continues as soon as the callback returns. So gathering is a coroutine (iter.Pull): in the callback it
// yields the records as the result of the current poll, and it continues there in the next poll. Both OnAssigned
// and OnRevoked run inside Poll or Close.
type consumer struct {
	client     *kafka.Consumer
	topic      string
	group      string // empty: assigned by hand
	byHand     []kafka.TopicPartition
	eager      bool // the group revokes all partitions at each rebalance
	atMost     int
	onAssigned func([]int32)
	onRevoked  func([]int32, bool)
	onError    func(error)
	settings   []driver.Setting
	login      *refresher

	// Calls of the client, which tests replace.
	next     func(timeoutMs int) kafka.Event                              // Poll
	takeOn   func([]kafka.TopicPartition) error                           // IncrementalAssign
	letGo    func([]kafka.TopicPartition) error                           // IncrementalUnassign, or Unassign
	commitAt func([]kafka.TopicPartition) ([]kafka.TopicPartition, error) // CommitOffsets

	turn    sync.Mutex // held to resume the coroutine, by Poll or Close
	resume  func() ([]driver.Chunk, bool)
	handOut func([]driver.Chunk) bool // within the coroutine: yields chunks to the poll
	poll    context.Context
	chunks  []driver.Chunk // gathered for the poll; reused
	records int
	open    *driver.Buffer // of the last chunk, while it grows
	buffers driver.Buffers

	owning  sync.Mutex // guards offered, and is held while the client takes or loses partitions
	offered map[int32]*offered

	failed   error
	unknown  patience
	silent   bool           // the client may not report that it has joined; see noteJoining
	commits  sync.WaitGroup // calls into the client
	patient  time.Duration
	gaveUp   bool // Close no longer waits for these calls, and leaves the client open
	closing  atomic.Bool
	closeAll sync.Once
}

var (
	_ driver.Consumer = (*consumer)(nil)
	_ driver.Pauser   = (*consumer)(nil)
)

func (l librdkafka) NewConsumer(cfg driver.ConsumerConfig) (driver.Consumer, error) {
	if err := driver.CheckConsumer(l, cfg); err != nil {
		return nil, err
	}
	set, err := consumerProperties(cfg)
	if err != nil {
		return nil, err
	}
	c := newConsumer(cfg)
	c.settings = consumerSettings(set)
	if c.client, err = kafka.NewConsumer(set.config(nil)); err != nil {
		return nil, fmt.Errorf("%w: consumer: %w", driver.ErrConfig, err)
	}
	c.login = newRefresher(c.client, cfg.Access, cfg.Brokers)
	c.next, c.takeOn, c.commitAt = c.client.Poll, c.client.IncrementalAssign, c.client.CommitOffsets
	c.letGo = c.client.IncrementalUnassign
	if c.eager {
		c.letGo = func([]kafka.TopicPartition) error { return c.client.Unassign() }
	}
	c.resume, _ = iter.Pull(c.gathered)
	if cfg.Group == "" {
		return c, nil
	}
	if err := c.client.Subscribe(cfg.Topic, c.onRebalance); err != nil {
		c.Close()
		return nil, fmt.Errorf("%w: consumer: %w", driver.ErrConfig, err)
	}
	return c, nil
}

func newConsumer(cfg driver.ConsumerConfig) *consumer {
	c := &consumer{
		topic: cfg.Topic, group: cfg.Group, atMost: cfg.MaxPollRecords, offered: make(map[int32]*offered),
		onAssigned: cfg.OnAssigned, onRevoked: cfg.OnRevoked, onError: cfg.OnError,
		silent: cfg.Protocol == driver.ProtocolConsumer, patient: commitPatience,
		eager: cfg.Assignor == driver.Range || cfg.Assignor == driver.RoundRobin,
	}
	if c.atMost == 0 {
		c.atMost = pollRecords
	}
	if c.onAssigned == nil {
		c.onAssigned = func([]int32) {}
	}
	if c.onRevoked == nil {
		c.onRevoked = func([]int32, bool) {}
	}
	if c.onError == nil {
		c.onError = func(error) {}
	}
	for partition, offset := range cfg.Partitions {
		c.byHand = append(c.byHand, c.at(partition, offset))
	}
	return c
}

func (c *consumer) at(partition int32, offset int64) kafka.TopicPartition {
	return kafka.TopicPartition{Topic: &c.topic, Partition: partition, Offset: kafka.Offset(offset)}
}

func (c *consumer) Poll(ctx context.Context) ([]driver.Chunk, error) {
	c.turn.Lock()
	defer c.turn.Unlock()
	if c.failed == nil {
		c.failed = c.unknown.over()
	}
	if c.failed != nil {
		return nil, c.failed
	}
	c.poll = ctx
	if chunks, _ := c.resume(); len(chunks) > 0 {
		return chunks, nil // the next poll returns an error that came with them
	}
	return nil, c.failed
}

// gathered is the coroutine: it yields chunks for one poll after the other, until Close.
func (c *consumer) gathered(yield func([]driver.Chunk) bool) {
	c.handOut = yield
	if c.group == "" && !c.closing.Load() {
		c.assignByHand()
	}
	for !c.closing.Load() {
		c.gather()
		c.giveOut()
	}
	c.login.close()
	_ = c.client.Close() // fails only if it is already closed
}

// giveOut ends the current poll with the gathered records, and returns in the next poll.
func (c *consumer) giveOut() {
	c.seal()
	c.handOut(c.chunks)
	c.chunks, c.records = c.chunks[:0], 0
}

func (c *consumer) gather() {
	for c.records < c.atMost && c.failed == nil && !c.closing.Load() {
		wait := c.patienceLeft()
		if len(c.chunks) == 0 && c.takeResumed() {
			wait = min(wait, holdStep)
		}
		event := c.next(int(wait.Milliseconds()))
		if event != nil {
			c.take(event)
			continue
		}
		if c.silent {
			c.noteJoining()
		}
		if len(c.chunks) > 0 || c.poll.Err() != nil {
			return
		}
	}
}

// patienceLeft is 0 if the poll has something to return.
func (c *consumer) patienceLeft() time.Duration {
	if len(c.chunks) > 0 || c.poll.Err() != nil {
		return 0
	}
	deadline, bounded := c.poll.Deadline()
	if !bounded {
		return pollStep
	}
	return min(pollStep, max(0, time.Until(deadline))+time.Millisecond) // the client rounds down
}

func (c *consumer) take(event kafka.Event) {
	switch e := event.(type) {
	case *kafka.Message:
		if err := e.TopicPartition.Error; err != nil {
			c.meet(err)
			return
		}
		c.add(e)
	case kafka.PartitionEOF:
		c.seal()
		c.chunks = append(c.chunks, driver.Chunk{
			Partition: e.Partition, HighWatermark: c.end(e.Partition, int64(e.Offset)), Next: int64(e.Offset),
		})
	case kafka.OAuthBearerTokenRefresh:
		c.login.refresh()
	case kafka.Error:
		c.meet(e)
	}
}

func (c *consumer) meet(err error) {
	var known kafka.Error
	switch wrapped := fmt.Errorf("fetch %s: %w", c.topic, err); {
	case !errors.As(err, &known) || ends(known):
		c.failed = wrapped
	default:
		if known.Code() == kafka.ErrUnknownTopicOrPart || known.Code() == kafka.ErrUnknownTopic {
			c.unknown.begin(wrapped)
		}
		c.onError(wrapped)
	}
}

func (c *consumer) add(m *kafka.Message) {
	if c.open == nil || c.chunks[len(c.chunks)-1].Partition != m.TopicPartition.Partition {
		c.seal()
		c.open = c.buffers.Get()
		c.chunks = append(c.chunks, driver.Chunk{Partition: m.TopicPartition.Partition, Free: c.open.Free})
	}
	c.open.Records = append(c.open.Records, driver.Received{
		Offset: int64(m.TopicPartition.Offset), Key: m.Key, Value: m.Value, Stamp: stampIn(m.Headers),
	})
	c.records++
}

func stampIn(headers []kafka.Header) *payload.Header {
	for _, h := range headers {
		if stamp := payload.HeaderOf(h.Key, h.Value); stamp != nil {
			return stamp
		}
	}
	return nil
}

func (c *consumer) seal() {
	if c.open == nil {
		return
	}
	last := &c.chunks[len(c.chunks)-1]
	last.Records = c.open.Records
	last.HighWatermark = c.end(last.Partition, last.Records[len(last.Records)-1].Offset+1)
	c.open = nil
	c.unknown.end()
}

// The watermark is from the latest fetch response, which may be newer than the records. If the client does not know
// one, end returns reached.
func (c *consumer) end(partition int32, reached int64) int64 {
	_, high, err := c.client.GetWatermarkOffsets(c.topic, partition)
	if err != nil || high < 0 {
		return reached
	}
	return high
}

func (c *consumer) Commit(ctx context.Context, offsets map[int32]int64) error {
	if len(offsets) == 0 {
		return nil
	}
	if c.group == "" {
		return driver.ErrNoGroup
	}
	next := make([]kafka.TopicPartition, 0, len(offsets))
	for partition, offset := range offsets {
		next = append(next, c.at(partition, offset))
	}
	answered := make(chan error, 1)
	c.commits.Go(func() { answered <- c.commit(next) }) // the call knows no context
	select {
	case err := <-answered:
		return err
	case <-ctx.Done():
		return fmt.Errorf("commit: %w", ctx.Err())
	}
}

func (c *consumer) commit(next []kafka.TopicPartition) error {
	committed, err := c.commitAt(next)
	if err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	var failed error
	for _, at := range committed {
		if at.Error != nil {
			failed = errors.Join(failed, fmt.Errorf("commit %s/%d: %w", c.topic, at.Partition, at.Error))
		}
	}
	return failed
}

func (c *consumer) Settings() []driver.Setting { return c.settings }

// commitsEnd returns false if the commits do not end in time.
func (c *consumer) commitsEnd() bool {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		c.commits.Wait()
	}()
	select {
	case <-ended:
		return true
	case <-time.After(c.patient):
		c.onError(fmt.Errorf("a commit: %w within %v", errUnanswered, c.patient))
		return false
	}
}

// Close waits for current commits and for the client to release its partitions. If the client does
// not answer a call in time, Close reports that and leaves the client open, because the call still
// uses it. The member then stays in its group until max.poll.interval.ms.
func (c *consumer) Close() {
	c.closeAll.Do(func() {
		c.closing.Store(true) // also ends a poll
		c.turn.Lock()
		defer c.turn.Unlock()
		c.failed, c.poll = errClosed, context.Background()
		c.gaveUp = !c.commitsEnd()
		for going := true; going && !c.gaveUp; { // the coroutine may be suspended in a callback
			_, going = c.resume()
		}
	})
}

var errClosed = errors.New("the consumer was closed")

var errUnanswered = errors.New("the client did not answer")
