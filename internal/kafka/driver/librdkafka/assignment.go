//go:build librdkafka && cgo

package librdkafka

import (
	"encoding/binary"
	"fmt"
	"reflect"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"
)

// onRebalance is called by the client within a poll or a close. What was gathered
// by then goes to the caller first; see consumer.
func (c *consumer) onRebalance(_ *kafka.Consumer, event kafka.Event) error {
	if len(c.chunks) > 0 && !c.closing.Load() {
		c.giveOut()
	}
	var err error
	switch e := event.(type) {
	case kafka.AssignedPartitions:
		err = c.assign(e.Partitions)
	case kafka.RevokedPartitions:
		err = c.revoke(e.Partitions)
	}
	if err != nil {
		c.onError(err)
	}
	return nil
}

// assign takes partitions on and tells of them, an empty assignment too: that is
// how a member of a group with more members than partitions learns that it has
// joined. Only a partition that the client has can be paused, so it is told of
// afterwards: nothing of it is returned before the next poll.
func (c *consumer) assign(partitions []kafka.TopicPartition) error {
	take := c.client.Assign
	if c.cooperative() {
		take = c.client.IncrementalAssign
	}
	if err := take(partitions); err != nil {
		return fmt.Errorf("taking on %d partitions: %w", len(partitions), err)
	}
	c.unknown.end()
	c.silent = false
	c.onAssigned(numbers(partitions))
	return nil
}

// noteJoining tells of an empty assignment where the client does not: in the group
// protocol consumer, a member for which no partition is left hears of no rebalance.
// What shows that it has joined is its epoch, which is above 0 from then on (KIP-848).
func (c *consumer) noteJoining() {
	metadata, err := c.client.GetConsumerGroupMetadata()
	if err != nil || epoch(metadata) < 1 {
		return
	}
	c.silent = false
	c.onAssigned(nil)
}

// epochAt is where the member's epoch lies in the client's metadata, which begin
// with "CGMDv2:". The client does not hand them out but in this form.
const epochAt = 7

// epoch is the member's epoch, or below 1 while it has none.
func epoch(metadata *kafka.ConsumerGroupMetadata) int32 {
	text := reflect.ValueOf(metadata).Elem().FieldByName("serialized").Bytes() //nolint:misspell // the client's name for it
	if len(text) < epochAt+4 {
		return -1
	}
	return int32(binary.NativeEndian.Uint32(text[epochAt:]))
}

// revoke tells of partitions that the member loses, and lets them go. It also ends
// their pauses, which the client would keep for the day when they come back, and
// waits for commits, for which afterwards it is too late.
func (c *consumer) revoke(partitions []kafka.TopicPartition) error {
	if len(partitions) > 0 {
		c.onRevoked(numbers(partitions), c.client.AssignmentLost())
		c.commits.Wait()
	}
	let := func() error { return c.client.Unassign() }
	if c.cooperative() {
		let = func() error { return c.client.IncrementalUnassign(partitions) }
	}
	if err := c.client.Resume(partitions); err != nil {
		c.onError(fmt.Errorf("ending pauses: %w", err))
	}
	if err := let(); err != nil {
		return fmt.Errorf("letting %d partitions go: %w", len(partitions), err)
	}
	return nil
}

// cooperative tells whether the group's members keep what they have during a
// rebalance (KIP-429), so that assignments are told by their differences.
func (c *consumer) cooperative() bool { return c.client.GetRebalanceProtocol() == "COOPERATIVE" }

// assignByHand gives the client its partitions.
func (c *consumer) assignByHand() {
	if err := c.client.Assign(c.byHand); err != nil {
		c.failed = fmt.Errorf("assigning partitions by hand: %w", err)
		return
	}
	c.onAssigned(numbers(c.byHand))
}

// Pause stops fetching partitions. Polls that begin after it return none of their
// records: what was fetched ahead of them is dropped, and fetched again after Resume.
func (c *consumer) Pause(partitions ...int32) { c.tell(c.client.Pause, partitions) }

// Resume fetches partitions again.
func (c *consumer) Resume(partitions ...int32) { c.tell(c.client.Resume, partitions) }

// tell calls the client about partitions. It refuses those that are not the
// consumer's, which then have nothing to pause.
func (c *consumer) tell(call func([]kafka.TopicPartition) error, partitions []int32) {
	if len(partitions) == 0 {
		return
	}
	places := make([]kafka.TopicPartition, len(partitions))
	for i, partition := range partitions {
		places[i] = c.at(partition, int64(kafka.OffsetInvalid))
	}
	_ = call(places)
}

func numbers(partitions []kafka.TopicPartition) []int32 {
	all := make([]int32, len(partitions))
	for i, p := range partitions {
		all[i] = p.Partition
	}
	return all
}
