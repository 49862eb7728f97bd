package sarama

import (
	"context"
	"errors"
	"slices"
	"time"

	ibm "github.com/IBM/sarama"
)

// Each return of Consume means a rebalance or an error.
func (c *consumer) joinGroup() error {
	group, err := ibm.NewConsumerGroupFromClient(c.cfg.Group, c.client)
	if err != nil {
		return err
	}
	c.source = group
	go func() {
		for err := range group.Errors() {
			c.report(err)
		}
	}()
	c.work.Go(func() {
		for c.ctx.Err() == nil {
			if err := group.Consume(c.ctx, []string{c.cfg.Topic}, (*member)(c)); err != nil {
				c.report(err)
				c.wait(c.client.Config().Metadata.Retry.Backoff)
			}
		}
	})
	return nil
}

func (c *consumer) wait(d time.Duration) {
	select {
	case <-time.After(d):
	case <-c.ctx.Done():
	}
}

type member consumer

var _ ibm.ConsumerGroupHandler = (*member)(nil)

func (m *member) Setup(session ibm.ConsumerGroupSession) error {
	c := (*consumer)(m)
	c.mu.Lock()
	c.session = session
	c.mu.Unlock()
	partitions := c.partitionsOf(session)
	c.shelf.begin()
	defer c.shelf.end()
	claims := c.shelf.own(partitions)
	// letGo wakes the goroutines that wait for space on the shelf: they do not see that the client
	// ends the session.
	context.AfterFunc(session.Context(), func() { c.shelf.letGo(claims) })
	c.cfg.OnAssigned(partitions)
	return nil
}

// The client ends a claim within a session only if its offset is no longer in the log. Then the session ends too.
func (m *member) ConsumeClaim(_ ibm.ConsumerGroupSession, claim ibm.ConsumerGroupClaim) error {
	c := (*consumer)(m)
	c.pauseAgain(claim.Partition())
	c.shelf.put(claim.Partition(), claim.Messages(), claim.HighWaterMarkOffset)
	return nil
}

// Up to its rebalance timeout, the group waits for Cleanup and still accepts commits.
func (m *member) Cleanup(session ibm.ConsumerGroupSession) error {
	c := (*consumer)(m)
	partitions := c.partitionsOf(session)
	c.shelf.begin()
	defer c.shelf.end()
	c.shelf.disown(partitions)
	// The client would keep their pauses.
	c.source.Resume(map[string][]int32{c.cfg.Topic: partitions})
	if len(partitions) > 0 {
		c.cfg.OnRevoked(partitions, isLost(session))
	}
	c.mu.Lock()
	c.session = nil
	c.mu.Unlock()
	return nil
}

func (c *consumer) partitionsOf(session ibm.ConsumerGroupSession) []int32 {
	return slices.Sorted(slices.Values(session.Claims()[c.cfg.Topic]))
}

func isLost(session ibm.ConsumerGroupSession) bool {
	cause := context.Cause(session.Context())
	return errors.Is(cause, ibm.ErrUnknownMemberId) || errors.Is(cause, ibm.ErrIllegalGeneration) ||
		errors.Is(cause, ibm.ErrFencedInstancedId)
}
