package segmentio

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/segmentio/kafka-go"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
)

const askTimeout = 3 * time.Second

// How a consumer is a member of its group.
//
// The client's ConsumerGroup returns a Generation: a member's assignment until the next rebalance.
// Before its next join, the ConsumerGroup waits for all functions that the Generation has started.
// So one such function owns the partitions from beginning to end. At its end, heartbeats have
// stopped but the member can still commit, and the function calls OnRevoked. Each rebalance revokes
// all partitions.

func (c *consumer) join(cfg driver.ConsumerConfig) error {
	group, err := groupOptions(cfg)
	if err != nil {
		return err
	}
	c.settings = consumerSettings(c.reader, group, cfg)
	group.Dialer = c.dialer(c.dial)
	c.group, err = kafka.NewConsumerGroup(group)
	if err != nil {
		return fmt.Errorf("%w: consumer: %w", driver.ErrConfig, err)
	}
	c.running.Go(c.live)
	return nil
}

func (c *consumer) live() {
	for {
		generation, err := c.group.Next(c.ctx)
		switch {
		case errors.Is(err, kafka.ErrGroupClosed) || c.ctx.Err() != nil:
			return
		case err != nil:
			c.report(fmt.Errorf("group %s: %w", c.cfg.Group, err))
			continue
		}
		ended := make(chan struct{})
		generation.Start(func(ctx context.Context) {
			defer close(ended)
			c.serve(ctx, generation)
		})
		<-ended // a generation that has already ended waits for no function
	}
}

func (c *consumer) serve(ctx context.Context, generation *kafka.Generation) {
	if ctx.Err() != nil {
		return
	}
	starts := make(map[int32]int64)
	for _, a := range generation.Assignments[c.cfg.Topic] {
		starts[int32(a.ID)] = a.Offset
	}
	c.gate.move(func() {
		c.setGeneration(generation)
		c.own(starts)
	})
	c.notify()
	<-ctx.Done()
	c.gate.move(func() {
		if revoked := c.disown(); len(revoked) > 0 {
			c.cfg.OnRevoked(revoked, c.isLost(generation))
		}
		c.setGeneration(nil)
	})
	c.notify()
}

func (c *consumer) setGeneration(g *kafka.Generation) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.generation = g
}

// isLost sends another heartbeat: the client does not report whether the group has removed the member.
func (c *consumer) isLost(g *kafka.Generation) bool {
	if c.gate.isShut() {
		return false
	}
	transport := &kafka.Transport{
		Dial: c.dialer(c.dial).DialFunc, SASL: c.reader.Dialer.SASLMechanism,
		ClientID: c.cfg.ClientID, MetadataTopics: []string{c.cfg.Topic},
	}
	defer transport.CloseIdleConnections()
	client := &kafka.Client{Addr: kafka.TCP(c.cfg.Brokers...), Timeout: askTimeout, Transport: transport}
	response, err := client.Heartbeat(c.ctx, &kafka.HeartbeatRequest{
		GroupID: g.GroupID, GenerationID: g.ID, MemberID: g.MemberID,
	})
	if err == nil {
		err = response.Error
	}
	return err != nil && !errors.Is(err, kafka.RebalanceInProgress)
}

// The client limits the wait for the broker's answer to 5 s.
func (c *consumer) Commit(ctx context.Context, offsets map[int32]int64) error {
	if len(offsets) == 0 {
		return nil
	}
	if c.group == nil {
		return driver.ErrNoGroup
	}
	c.mu.Lock()
	generation := c.generation
	c.mu.Unlock()
	if generation == nil || c.life.IsCut() {
		return errors.New("commit: the consumer is not a member of its group now")
	}
	next := make(map[int]int64, len(offsets))
	for partition, offset := range offsets {
		next[int(partition)] = offset
	}
	answer := make(chan error, 1)
	c.running.Go(func() { answer <- generation.CommitOffsets(map[string]map[int]int64{c.cfg.Topic: next}) })
	select {
	case err := <-answer:
		if err != nil {
			return fmt.Errorf("commit: %w", err)
		}
		return nil
	case <-ctx.Done():
		return fmt.Errorf("commit: %w", ctx.Err())
	}
}
