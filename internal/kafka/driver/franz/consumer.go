package franz

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/kafka/driver/meter"
	"kafkabench.example/kafka-bench/internal/plan/payload"
)

// By default the client allows a rebalance between taking records from its buffer and returning them. The caller
// would then commit in OnRevoked and get more records afterwards. So the consumer blocks rebalances from a poll
// that returned records until the next poll (kgo.BlockRebalanceOnPoll): both callbacks run inside Poll or Close, or
// before the first records. If the caller does not poll within the rebalance timeout, the group removes the member.
type consumer struct {
	client  *kgo.Client
	topic   string
	atMost  int // records in one poll; 0 means no limit
	control bool
	onError func(error)
	watch   watch
	wire    wire

	settings []driver.Setting
	chunks   []driver.Chunk // the result of Poll, reused
	buffers  driver.Buffers
	slabs    slabs
	firsts   []*kgo.Record // first record of each batch of a chunk, reused
	failed   error
	group    string // empty: assigned by hand
	assign   sync.WaitGroup
	closing  sync.Once
	life     meter.Line
	abort    context.CancelFunc
}

var (
	_ driver.Consumer     = (*consumer)(nil)
	_ driver.Pauser       = (*consumer)(nil)
	_ driver.Killer       = (*consumer)(nil)
	_ driver.WireCounter  = (*consumer)(nil)
	_ driver.RequestTimer = (*consumer)(nil)
)

func (f *franz) NewConsumer(cfg driver.ConsumerConfig) (driver.Consumer, error) {
	if err := driver.CheckConsumer(f, cfg); err != nil {
		return nil, err
	}
	c := &consumer{topic: cfg.Topic, group: cfg.Group, atMost: cfg.MaxPollRecords, control: cfg.ControlRecords}
	cfg = c.life.Callbacks(cfg)
	c.onError = cfg.OnError
	options, err := consumerOptions(cfg)
	if err != nil {
		return nil, err
	}
	ctx, abort := context.WithCancel(context.Background())
	c.abort = abort
	c.watch.onError = cfg.OnError
	c.watch.serverSide = cfg.Protocol == driver.ProtocolConsumer
	options = append(options, kgo.WithContext(ctx),
		kgo.Dialer(c.wire.dialer(c.life.Hang(f.dialer(cfg.Access)), cfg.Access)), kgo.WithHooks(&c.wire, &c.watch))
	if c.atMost == 0 { // polls return whole batches
		options = append(options, kgo.WithPools(&c.slabs))
	}
	c.client, err = kgo.NewClient(options...)
	if err != nil {
		abort()
		return nil, fmt.Errorf("%w: consumer: %w", driver.ErrConfig, err)
	}
	if err := checkCluster(c.client, cfg.ClusterID); err != nil {
		abort()
		c.client.CloseAllowingRebalance()
		return nil, err
	}
	c.settings = consumerSettings(c.client, cfg)
	if cfg.Group == "" {
		c.assign.Go(func() { c.assignByHand(cfg) })
	}
	return c, nil
}

func (c *consumer) assignByHand(cfg driver.ConsumerConfig) {
	cfg.OnAssigned(slices.Sorted(maps.Keys(cfg.Partitions)))
	starts := make(map[int32]kgo.Offset, len(cfg.Partitions))
	for partition, offset := range cfg.Partitions {
		starts[partition] = kgo.NewOffset().At(offset)
	}
	c.client.AddConsumePartitions(map[string]map[int32]kgo.Offset{c.topic: starts})
}

func (c *consumer) Poll(ctx context.Context) ([]driver.Chunk, error) {
	c.client.AllowRebalance()
	if c.failed == nil {
		c.failed = c.watch.failure()
	}
	if c.failed != nil {
		return nil, c.failed
	}
	fetches := c.client.PollRecords(ctx, c.atMost)
	if c.life.IsCut() {
		c.failed = meter.ErrKilled
		return nil, c.failed
	}
	c.chunks = c.chunks[:0]
	for i := range fetches {
		for j := range fetches[i].Topics {
			for k := range fetches[i].Topics[j].Partitions {
				c.take(ctx, &fetches[i].Topics[j].Partitions[k])
			}
		}
	}
	if len(c.chunks) > 0 {
		return c.chunks, nil // the next poll returns an error that came with them
	}
	c.client.AllowRebalance()
	return nil, c.failed
}

func (c *consumer) take(ctx context.Context, p *kgo.FetchPartition) {
	next := int64(0)
	if n := len(p.Records); c.control && n > 0 {
		next = p.Records[n-1].Offset + 1
		p.Records = slices.DeleteFunc(p.Records, func(r *kgo.Record) bool { return r.Attrs.IsControl() })
	}
	if len(p.Records) > 0 || next > 0 {
		chunk := c.chunk(p)
		chunk.Next = next
		c.chunks = append(c.chunks, chunk)
	}
	if p.Err == nil || ctx.Err() != nil && errors.Is(p.Err, ctx.Err()) {
		return
	}
	if err := fmt.Errorf("fetch %s/%d: %w", c.topic, p.Partition, p.Err); c.watch.ends(p.Err) {
		c.failed = errors.Join(c.failed, err)
	} else {
		c.onError(err)
	}
}

// chunk gives the client's records back to slabs. It does not copy keys and values.
func (c *consumer) chunk(p *kgo.FetchPartition) driver.Chunk {
	b := c.buffers.Get()
	b.Records = slices.Grow(b.Records, len(p.Records))
	c.firsts = c.firsts[:0]
	var batch context.Context
	for _, r := range p.Records {
		if r.Context != batch {
			batch = r.Context
			c.firsts = append(c.firsts, r)
		}
		b.Records = append(b.Records, driver.Received{Offset: r.Offset, Key: r.Key, Value: r.Value, Stamp: stampIn(r.Headers)})
	}
	c.slabs.giveBack(c.firsts...)
	return driver.Chunk{
		Partition:     p.Partition,
		HighWatermark: p.HighWatermark,
		Records:       b.Records,
		Free:          b.Free,
	}
}

func stampIn(headers []kgo.RecordHeader) *payload.Header {
	for i := range headers {
		if stamp := payload.HeaderOf(headers[i].Key, headers[i].Value); stamp != nil {
			return stamp
		}
	}
	return nil
}

// During a rebalance, Commit waits until the rebalance ends.
func (c *consumer) Commit(ctx context.Context, offsets map[int32]int64) error {
	if len(offsets) == 0 {
		return nil
	}
	if c.group == "" {
		return driver.ErrNoGroup
	}
	next := make(map[int32]kgo.EpochOffset, len(offsets))
	for partition, offset := range offsets {
		next[partition] = kgo.EpochOffset{Epoch: -1, Offset: offset}
	}
	var failed error
	c.client.CommitOffsetsSync(ctx, map[string]map[int32]kgo.EpochOffset{c.topic: next},
		func(_ *kgo.Client, _ *kmsg.OffsetCommitRequest, response *kmsg.OffsetCommitResponse, err error) {
			failed = commitError(response, err)
		})
	return failed
}

func commitError(response *kmsg.OffsetCommitResponse, err error) error {
	if err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	var failed error
	for _, topic := range response.Topics {
		for _, partition := range topic.Partitions {
			if err := kerr.ErrorForCode(partition.ErrorCode); err != nil {
				failed = errors.Join(failed, fmt.Errorf("commit %s/%d: %w", topic.Topic, partition.Partition, err))
			}
		}
	}
	return failed
}

// Unlike Kafka's own consumer, the client fetches a paused partition's prefetched records again after Resume: wire
// bytes count them twice.
func (c *consumer) Pause(partitions ...int32) {
	if len(partitions) > 0 { // without partitions, the call would list the paused ones
		c.client.PauseFetchPartitions(map[string][]int32{c.topic: partitions})
	}
}

// Resume takes effect when the current fetch of the broker's other partitions ends: up to the fetch's maximum wait.
func (c *consumer) Resume(partitions ...int32) {
	c.client.ResumeFetchPartitions(map[string][]int32{c.topic: partitions})
}

func (c *consumer) Settings() []driver.Setting { return c.settings }

// Wire counts fetched batches when the client decodes them, before a poll returns them.
func (c *consumer) Wire() driver.Wire { return c.wire.meter.Wire() }

func (c *consumer) Requests() driver.Requests { return c.wire.requests() }

func (c *consumer) Kill() {
	c.life.Cut()
	c.abort()
}

// After Kill, the leave fails at once because there is no connection.
func (c *consumer) Close() {
	c.closing.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), leaveTimeout)
		defer cancel()
		defer c.abort()
		c.assign.Wait()
		c.client.AllowRebalance()
		// If no broker answers, the group removes the member after the session timeout.
		_ = c.client.LeaveGroupContext(ctx)
		c.client.CloseAllowingRebalance()
		// The client's leave may still wait for the end of a poll that was cut short. No more polls follow.
		c.client.AllowRebalance()
	})
}

const leaveTimeout = 3 * time.Second
