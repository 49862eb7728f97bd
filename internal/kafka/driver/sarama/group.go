package sarama

import (
	"context"
	"errors"
	"slices"
	"time"

	ibm "github.com/IBM/sarama"
)

// joinGroup has the client be a member until it is closed: each time that Consume
// returns, the group rebalances, or something went wrong.
func (c *consumer) joinGroup() error {
	group, err := ibm.NewConsumerGroupFromClient(c.cfg.Group, c.client)
	if err != nil {
		return err
	}
	c.source = group
	go func() { // ends when the group is closed
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

// wait is a pause that ends with the consumer.
func (c *consumer) wait(d time.Duration) {
	select {
	case <-time.After(d):
	case <-c.ctx.Done():
	}
}

// member is the consumer as the client's group calls it. A session is the time
// between two rebalances: the member has the same partitions all along.
type member consumer

var _ ibm.ConsumerGroupHandler = (*member)(nil)

// Setup begins a session.
func (m *member) Setup(session ibm.ConsumerGroupSession) error {
	c := (*consumer)(m)
	c.mu.Lock()
	c.session = session
	c.mu.Unlock()
	partitions := c.partitionsOf(session)
	c.shelf.begin()
	defer c.shelf.end()
	claims := c.shelf.own(partitions)
	// The client ends a session by closing channels, which who waits for room on the
	// shelf doesn't see.
	context.AfterFunc(session.Context(), func() { c.shelf.letGo(claims) })
	c.cfg.OnAssigned(partitions)
	return nil
}

// ConsumeClaim reads one partition for the length of a session. The client ends it
// earlier only where its offset is not in the log any more: then the session ends, too,
// and the next one begins at what was committed, or at the earliest.
func (m *member) ConsumeClaim(_ ibm.ConsumerGroupSession, claim ibm.ConsumerGroupClaim) error {
	c := (*consumer)(m)
	c.pauseAgain(claim.Partition())
	c.shelf.put(claim.Partition(), claim.Messages(), claim.HighWaterMarkOffset)
	return nil
}

// Cleanup ends a session. The group waits for it, for as long as its rebalance
// timeout, and commits still count.
func (m *member) Cleanup(session ibm.ConsumerGroupSession) error {
	c := (*consumer)(m)
	partitions := c.partitionsOf(session)
	c.shelf.begin()
	defer c.shelf.end()
	c.shelf.disown(partitions)
	// The client would keep their pauses for the day when they come back.
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

// isLost tells whether the group has given the session's partitions away already.
func isLost(session ibm.ConsumerGroupSession) bool {
	cause := context.Cause(session.Context())
	return errors.Is(cause, ibm.ErrUnknownMemberId) || errors.Is(cause, ibm.ErrIllegalGeneration) ||
		errors.Is(cause, ibm.ErrFencedInstancedId)
}
