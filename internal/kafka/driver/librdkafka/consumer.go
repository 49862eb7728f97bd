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
)

const (
	// pollStep bounds one wait within the client, which knows no context.
	pollStep = 50 * time.Millisecond
	// holdStep bounds it while a partition is held, which is taken on between two waits.
	holdStep = 5 * time.Millisecond
	// commitPatience bounds the wait for a commit whose caller may have given up: the
	// client's default for the answer to a request (socket.timeout.ms). The client's
	// call has no bound, and a client that is being closed does not answer every call.
	commitPatience = time.Minute
	// pollRecords bounds a poll where the caller does not: it is the default of
	// Kafka's own consumer (max.poll.records). The client hands out one record at a
	// time, at about a microsecond each, and a poll is over before its first record
	// has become old.
	pollRecords = 500
)

// consumer is one group member, or a client with partitions assigned by hand.
//
// The client hands out records one by one, and between two of them it may call
// back to say that a partition is revoked. A poll that has gathered records by then
// must return them before the caller hears of that, or the caller would commit
// without them. But the rebalance goes its way as soon as the callback returns. So
// gathering is a coroutine (iter.Pull): in the callback it hands over what there is,
// as the result of the poll under way, and goes on within the callback when the next
// poll resumes it. Both OnAssigned and OnRevoked therefore run while the caller is
// inside Poll or Close, and know all that earlier polls returned.
type consumer struct {
	client     *kafka.Consumer
	topic      string
	group      string // empty: assigned by hand
	byHand     []kafka.TopicPartition
	eager      bool // the group takes all partitions back at each rebalance
	atMost     int  // records in one poll
	onAssigned func([]int32)
	onRevoked  func([]int32, bool)
	onError    func(error)
	settings   []driver.Setting

	// Calls of the client, which tests replace.
	next     func(timeoutMs int) kafka.Event                              // Poll
	takeOn   func([]kafka.TopicPartition) error                           // IncrementalAssign
	letGo    func([]kafka.TopicPartition) error                           // IncrementalUnassign, or Unassign
	commitAt func([]kafka.TopicPartition) ([]kafka.TopicPartition, error) // CommitOffsets

	turn    sync.Mutex                    // whoever resumes the coroutine: Poll, or Close
	resume  func() ([]driver.Chunk, bool) // the coroutine's next chunks
	handOut func([]driver.Chunk) bool     // within it: gives chunks to the poll
	poll    context.Context               // of the poll under way
	chunks  []driver.Chunk                // gathered for it; reused
	records int                           // in them
	open    *driver.Buffer                // of the last chunk, while it grows
	buffers driver.Buffers

	owning  sync.Mutex         // guards offered, and is held while the client takes or loses partitions
	offered map[int32]*offered // see there

	failed   error // why the consumer is of no more use
	unknown  patience
	silent   bool           // the client may not tell that it has joined; see noteJoining
	commits  sync.WaitGroup // calls into the client
	patient  time.Duration  // with them; see commitPatience
	gaveUp   bool           // Close does not wait for them any longer, and leaves the client open
	closing  atomic.Bool
	closeAll sync.Once
}

var (
	_ driver.Consumer = (*consumer)(nil)
	_ driver.Pauser   = (*consumer)(nil)
)

// NewConsumer opens a group member, which joins the group at once in the
// background, or a client that has its partitions from its first poll on. It does
// not wait for a broker.
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

// at is a place in the consumer's topic.
func (c *consumer) at(partition int32, offset int64) kafka.TopicPartition {
	return kafka.TopicPartition{Topic: &c.topic, Partition: partition, Offset: kafka.Offset(offset)}
}

// Poll waits for records and returns those that the client has ready, up to its
// bound. The slice that it returns is good until the next Poll, each chunk's records
// until its Free. It is meant for one goroutine.
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
		return chunks, nil // a failure that came with them is for the next poll
	}
	return nil, c.failed
}

// gathered is the coroutine: chunks for one poll after the other, until Close.
func (c *consumer) gathered(yield func([]driver.Chunk) bool) {
	c.handOut = yield
	if c.group == "" && !c.closing.Load() {
		c.assignByHand()
	}
	for !c.closing.Load() {
		c.gather()
		c.giveOut()
	}
	_ = c.client.Close() // fails only where it is closed already
}

// giveOut ends the poll under way with what was gathered, and returns in the next.
func (c *consumer) giveOut() {
	c.seal()
	c.handOut(c.chunks)
	c.chunks, c.records = c.chunks[:0], 0
}

// gather takes what the client has ready, and waits for it where that is nothing.
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

// patienceLeft is how long the client may wait for the next event: not at all once
// there is something to return.
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
	case kafka.PartitionEOF: // where control records are told of
		c.seal()
		c.chunks = append(c.chunks, driver.Chunk{
			Partition: e.Partition, HighWatermark: c.end(e.Partition, int64(e.Offset)), Next: int64(e.Offset),
		})
	case kafka.Error:
		c.meet(e)
	}
}

// meet decides whether an error ends the consumer.
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

// add puts a record into the chunk of its partition: the last one, or a new one.
func (c *consumer) add(m *kafka.Message) {
	if c.open == nil || c.chunks[len(c.chunks)-1].Partition != m.TopicPartition.Partition {
		c.seal()
		c.open = c.buffers.Get()
		c.chunks = append(c.chunks, driver.Chunk{Partition: m.TopicPartition.Partition, Free: c.open.Free})
	}
	c.open.Records = append(c.open.Records, driver.Received{
		Offset: int64(m.TopicPartition.Offset), Key: m.Key, Value: m.Value,
	})
	c.records++
}

// seal ends the chunk that grows, if one does.
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

// end is the partition's high watermark as the latest fetch response gave it; it may
// be newer than the one that the records came with. reached is what stands in for it
// before the client knows one.
func (c *consumer) end(partition int32, reached int64) int64 {
	_, high, err := c.client.GetWatermarkOffsets(c.topic, partition)
	if err != nil || high < 0 {
		return reached
	}
	return high
}

// Commit commits the offsets and waits for the broker's answer, or for ctx. It may
// be called from any goroutine, also within OnRevoked, where it still counts.
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

// Settings are the client's by librdkafka's names.
func (c *consumer) Settings() []driver.Setting { return c.settings }

// commitsEnd waits for the commits that are under way, and reports those that do not end.
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

// Close leaves the group, which calls OnRevoked for the partitions that the member
// still has, and ends the client. It must not be called in a callback. It waits for a
// commit that is under way, and until the client has let its partitions go. If either is not
// answered in time, Close reports it and leaves the client open, because the call still uses it.
// The member then stays in its group until max.poll.interval.ms is over.
func (c *consumer) Close() {
	c.closeAll.Do(func() {
		c.closing.Store(true) // which also ends a poll
		c.turn.Lock()
		defer c.turn.Unlock()
		c.failed, c.poll = errClosed, context.Background()
		c.gaveUp = !c.commitsEnd()
		for going := true; going && !c.gaveUp; { // through a callback that waits for it
			_, going = c.resume()
		}
	})
}

// errClosed is what a consumer returns that was closed.
var errClosed = errors.New("the consumer was closed")

// errUnanswered is reported of what the client does not answer.
var errUnanswered = errors.New("the client did not answer")
