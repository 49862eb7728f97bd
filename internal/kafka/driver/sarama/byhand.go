package sarama

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	ibm "github.com/IBM/sarama"
)

func (c *consumer) assignByHand() error {
	source, err := ibm.NewConsumerFromClient(c.client)
	if err != nil {
		return err
	}
	c.source = source
	partitions := slices.Sorted(maps.Keys(c.cfg.Partitions))
	claims := c.shelf.own(partitions)
	c.work.Go(func() {
		c.cfg.OnAssigned(partitions)
		for _, p := range partitions {
			c.work.Go(func() { c.readByHand(source, p, c.cfg.Partitions[p]) })
		}
		<-c.ctx.Done()
		c.shelf.letGo(claims)
	})
	return nil
}

// The client gives up a partition if a broker reports that the offset is not in the log. readByHand then reopens it
// after the last received record, or else at the earliest offset, and reports that.
func (c *consumer) readByHand(source ibm.Consumer, partition int32, offset int64) {
	for c.ctx.Err() == nil {
		reader, err := source.ConsumePartition(c.cfg.Topic, partition, offset)
		if errors.Is(err, ibm.ErrOffsetOutOfRange) {
			c.report(fmt.Errorf("%s/%d: offset %d is not in the log; reading continues at the earliest offset: %w",
				c.cfg.Topic, partition, offset, err))
			offset = ibm.OffsetOldest
			continue
		}
		if err == nil {
			var next int64
			if next, err = c.read(partition, reader); next > 0 {
				offset = next
			}
		}
		if err != nil {
			c.report(err)
			c.wait(c.client.Config().Metadata.Retry.Backoff)
		}
	}
}

// read returns the offset after the last record (0 without one), and the error that closed the channels.
func (c *consumer) read(partition int32, reader ibm.PartitionConsumer) (next int64, err error) {
	stopped := make(chan error, 1)
	go func() {
		var last error
		for err := range reader.Errors() {
			if last = err.Err; !errors.Is(last, ibm.ErrOffsetOutOfRange) {
				c.report(err)
			}
		}
		stopped <- last
	}()
	defer context.AfterFunc(c.ctx, reader.AsyncClose)()
	c.pauseAgain(partition)
	next = c.shelf.put(partition, reader.Messages(), reader.HighWaterMarkOffset)
	for range reader.Messages() {
	}
	return next, <-stopped
}
