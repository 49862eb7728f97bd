package sarama

import (
	"context"
	"fmt"
	"sync"
	"time"

	ibm "github.com/IBM/sarama"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/kafka/driver/meter"
)

type consumer struct {
	network  network
	cfg      driver.ConsumerConfig
	client   ibm.Client
	shelf    *shelf
	settings []driver.Setting

	source source
	ctx    context.Context
	abort  context.CancelFunc
	work   sync.WaitGroup

	mu      sync.Mutex
	session ibm.ConsumerGroupSession // nil between sessions
	closing sync.Once
}

type source interface {
	Pause(partitions map[string][]int32)
	Resume(partitions map[string][]int32)
	Close() error
}

var (
	_ driver.Consumer     = (*consumer)(nil)
	_ driver.Pauser       = (*consumer)(nil)
	_ driver.Killer       = (*consumer)(nil)
	_ driver.WireCounter  = (*consumer)(nil)
	_ driver.RequestTimer = (*consumer)(nil)
)

func (sarama) NewConsumer(cfg driver.ConsumerConfig) (driver.Consumer, error) {
	c := &consumer{shelf: newShelf()}
	c.cfg = c.network.line.Callbacks(cfg)
	config, err := consumerConfig(cfg, &c.network)
	if err != nil {
		return nil, err
	}
	c.network.timeout = config.Net.DialTimeout
	c.network.meter.Batches = true
	c.shelf.content = c.network.meter.CountContent
	c.settings = consumerSettings(config, cfg)
	if c.client, err = ibm.NewClient(cfg.Brokers, config); err != nil {
		return nil, fmt.Errorf("%w: consumer: %w", driver.ErrConfig, err)
	}
	c.ctx, c.abort = context.WithCancel(context.Background())
	if cfg.Group != "" {
		err = c.joinGroup()
	} else {
		err = c.assignByHand()
	}
	if err != nil {
		c.abort()
		_ = c.client.Close()
		return nil, fmt.Errorf("%w: consumer: %w", driver.ErrConfig, err)
	}
	return c, nil
}

func (c *consumer) Poll(ctx context.Context) ([]driver.Chunk, error) {
	return c.shelf.poll(ctx, c.cfg.MaxPollRecords)
}

// The client keeps the prefetched records of a paused partition and does not fetch them again after Resume.
func (c *consumer) Pause(partitions ...int32) {
	c.shelf.pause(partitions)
	c.source.Pause(map[string][]int32{c.cfg.Topic: partitions})
}

func (c *consumer) Resume(partitions ...int32) {
	c.source.Resume(map[string][]int32{c.cfg.Topic: partitions})
	c.shelf.resume(partitions)
}

// pauseAgain repeats a pause that the client ignored, because it did not read the partition yet.
func (c *consumer) pauseAgain(partition int32) {
	if c.shelf.isPaused(partition) {
		c.source.Pause(map[string][]int32{c.cfg.Topic: {partition}})
	}
}

func (c *consumer) report(err error) {
	switch {
	case err == nil || c.ctx.Err() != nil:
	case isDead(err):
		c.shelf.fail(err)
	default:
		c.cfg.OnError(err)
	}
}

func (c *consumer) Settings() []driver.Setting { return c.settings }

func (c *consumer) Wire() driver.Wire { return c.network.meter.Wire() }

// Requests includes the time for which a broker waits for records.
func (c *consumer) Requests() driver.Requests { return c.network.meter.Requests() }

func (c *consumer) Kill() {
	c.network.line.Cut()
	c.shelf.fail(meter.ErrKilled)
	c.shelf.rush()
	c.abort()
}

// If no broker answers in time, the group removes the member after the session timeout.
const leaveTimeout = 3 * time.Second

// After Kill, the leave fails at once because there is no connection.
func (c *consumer) Close() {
	c.closing.Do(func() {
		c.shelf.rush()
		c.abort()
		c.work.Wait()
		impatience := time.AfterFunc(leaveTimeout, c.network.line.Cut)
		defer impatience.Stop()
		_ = c.source.Close()
		_ = c.client.Close()
	})
}
