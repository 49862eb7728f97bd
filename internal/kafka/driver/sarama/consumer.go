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

// consumer is one group member, or a client with partitions assigned by hand. What
// the two have in common is here and in shelf.go; group.go and byhand.go are what
// they do in the background.
type consumer struct {
	network  network
	cfg      driver.ConsumerConfig
	client   ibm.Client
	shelf    *shelf
	settings []driver.Setting

	source source
	ctx    context.Context // of all that goes on in the background
	abort  context.CancelFunc
	work   sync.WaitGroup

	mu      sync.Mutex
	session ibm.ConsumerGroupSession // nil while there is none
	closing sync.Once
}

// source is what both of the client's kinds of consumers can do.
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

// NewConsumer opens a group member, which joins the group at once in the background,
// or a client that has its partitions as soon as it has said so. It does not wait
// for a broker.
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

// Poll waits for records. The slice that it returns is good until the next Poll,
// each chunk's records until its Free. It is meant for one goroutine.
func (c *consumer) Poll(ctx context.Context) ([]driver.Chunk, error) {
	return c.shelf.poll(ctx, c.cfg.MaxPollRecords)
}

// Pause stops fetching partitions. What the client has fetched ahead of them is kept
// for after Resume, and not fetched again.
func (c *consumer) Pause(partitions ...int32) {
	c.shelf.pause(partitions)
	c.source.Pause(map[string][]int32{c.cfg.Topic: partitions})
}

// Resume fetches partitions again.
func (c *consumer) Resume(partitions ...int32) {
	c.source.Resume(map[string][]int32{c.cfg.Topic: partitions})
	c.shelf.resume(partitions)
}

// pauseAgain is for a partition that was paused before the client read it, of which
// the client takes no notice.
func (c *consumer) pauseAgain(partition int32) {
	if c.shelf.isPaused(partition) {
		c.source.Pause(map[string][]int32{c.cfg.Topic: {partition}})
	}
}

// report sorts an error: it ends the consumer, or passes.
func (c *consumer) report(err error) {
	switch {
	case err == nil || c.ctx.Err() != nil:
	case isDead(err):
		c.shelf.fail(err)
	default:
		c.cfg.OnError(err)
	}
}

// Settings are the client's by their names in its Config.
func (c *consumer) Settings() []driver.Setting { return c.settings }

// Wire counts fetched batches when they arrive, before they are polled.
func (c *consumer) Wire() driver.Wire { return c.network.meter.Wire() }

// Requests times the fetches on their connections. A broker holds a fetch back until
// it has something, which is in their time.
func (c *consumer) Requests() driver.Requests { return c.network.meter.Requests() }

// Kill cuts the client's connections before it ends what the client would do next,
// so that of all that anything after the cut still tries, nothing leaves.
func (c *consumer) Kill() {
	c.network.line.Cut()
	c.shelf.fail(meter.ErrKilled)
	c.shelf.rush()
	c.abort()
}

// leaveTimeout bounds how long a member waits for the answers to its leaving. A
// broker that does not answer finds out by the session timeout.
const leaveTimeout = 3 * time.Second

// Close leaves the group, which calls OnRevoked for the partitions that the member
// still has, and ends the client. Of one that was killed, the leave fails at once,
// for want of a connection.
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
