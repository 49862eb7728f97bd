package receive

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
)

type fakeKafka struct {
	driver.Driver
	log [][]driver.Received
}

func (k *fakeKafka) Name() string { return "fake" }

func (k *fakeKafka) NewConsumer(cfg driver.ConsumerConfig) (driver.Consumer, error) {
	c := &fakeConsumer{kafka: k, cfg: cfg, next: make([]int, len(k.log)), paused: make(map[int32]bool)}
	all := make([]int32, len(k.log))
	for i := range all {
		all[i] = int32(i)
	}
	if cfg.Group == "" && cfg.Partitions != nil {
		all = slices.Sorted(maps.Keys(cfg.Partitions))
		for i := range c.next {
			c.next[i] = len(k.log[i])
		}
		for id, from := range cfg.Partitions {
			c.next[id] = int(from)
		}
	}
	go func() {
		cfg.OnAssigned(all)
		c.mu.Lock()
		defer c.mu.Unlock()
		c.assigned = true
	}()
	return c, nil
}

type fakeConsumer struct {
	kafka *fakeKafka
	cfg   driver.ConsumerConfig

	mu        sync.Mutex
	assigned  bool
	next      []int
	paused    map[int32]bool
	pauses    int
	committed map[int32]int64
}

func (c *fakeConsumer) Poll(ctx context.Context) ([]driver.Chunk, error) {
	for ctx.Err() == nil {
		if chunks := c.ready(); len(chunks) > 0 {
			return chunks, nil
		}
		time.Sleep(time.Millisecond)
	}
	return nil, nil
}

func (c *fakeConsumer) ready() []driver.Chunk {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.assigned {
		return nil
	}
	var chunks []driver.Chunk
	for p, log := range c.kafka.log {
		if n := c.next[p]; n < len(log) && !c.paused[int32(p)] {
			chunks = append(chunks, driver.Chunk{Partition: int32(p), Records: log[n:len(log):len(log)]})
			c.next[p] = len(log)
		}
	}
	return chunks
}

// in virtual time
const commitTakes = 3 * time.Millisecond

func (c *fakeConsumer) Commit(_ context.Context, offsets map[int32]int64) error {
	time.Sleep(commitTakes)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.committed == nil {
		c.committed = make(map[int32]int64)
	}
	for p, at := range offsets {
		c.committed[p] = at
	}
	return nil
}

func (c *fakeConsumer) committedAt(p int) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.committed[int32(p)]
}

func (c *fakeConsumer) pausedNow() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.paused)
}

func (c *fakeConsumer) Settings() []driver.Setting { return nil }
func (c *fakeConsumer) Close()                     {}

func (c *fakeConsumer) Pause(partitions ...int32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pauses++
	for _, p := range partitions {
		c.paused[p] = true
	}
}

func (c *fakeConsumer) Resume(partitions ...int32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range partitions {
		delete(c.paused, p)
	}
}
