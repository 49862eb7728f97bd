package sarama

import (
	"context"
	"errors"
	"fmt"

	ibm "github.com/IBM/sarama"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
)

var errNoSession = errors.New("commit: the member has no assignment")

// The client's own commit does not return its result, so Commit sends the same request itself.
func (c *consumer) Commit(ctx context.Context, offsets map[int32]int64) error {
	if len(offsets) == 0 {
		return nil
	}
	if c.cfg.Group == "" {
		return driver.ErrNoGroup
	}
	c.mu.Lock()
	session := c.session
	c.mu.Unlock()
	if session == nil {
		return errNoSession
	}
	answer := make(chan error, 1) // the client takes no context
	go func() { answer <- c.commit(ctx, c.commitRequest(session, offsets)) }()
	select {
	case err := <-answer:
		return err
	case <-ctx.Done():
		return fmt.Errorf("commit: %w", ctx.Err())
	}
}

func (c *consumer) commitRequest(session ibm.ConsumerGroupSession, offsets map[int32]int64) *ibm.OffsetCommitRequest {
	request := &ibm.OffsetCommitRequest{
		Version:                 8, // the version that the client uses at its default Config.Version
		ConsumerGroup:           c.cfg.Group,
		ConsumerGroupGeneration: session.GenerationID(),
		ConsumerID:              session.MemberID(),
	}
	for partition, offset := range offsets {
		request.AddBlock(c.cfg.Topic, partition, offset, 0, "")
	}
	return request
}

// commit retries if the coordinator has moved.
func (c *consumer) commit(ctx context.Context, request *ibm.OffsetCommitRequest) error {
	for {
		err := c.commitOnce(request)
		if err == nil || !coordinatorMoved(err) || c.network.line.IsCut() || ctx.Err() != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-c.ctx.Done():
		default:
			c.wait(c.client.Config().Metadata.Retry.Backoff)
		}
		_ = c.client.RefreshCoordinator(c.cfg.Group) // if this fails, the next attempt fails too
	}
}

func (c *consumer) commitOnce(request *ibm.OffsetCommitRequest) error {
	coordinator, err := c.client.Coordinator(c.cfg.Group)
	if err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	response, err := coordinator.CommitOffset(request)
	if err != nil {
		_ = coordinator.Close() // the next attempt opens another connection
		return fmt.Errorf("commit: %w", err)
	}
	var failed error
	for topic, partitions := range response.Errors {
		for partition, code := range partitions {
			if code != ibm.ErrNoError {
				failed = errors.Join(failed, fmt.Errorf("commit %s/%d: %w", topic, partition, code))
			}
		}
	}
	return failed
}

func coordinatorMoved(err error) bool {
	var answer ibm.KError
	if !errors.As(err, &answer) {
		return true // no answer at all
	}
	return errors.Is(err, ibm.ErrNotCoordinatorForConsumer) || errors.Is(err, ibm.ErrConsumerCoordinatorNotAvailable) ||
		errors.Is(err, ibm.ErrOffsetsLoadInProgress)
}
