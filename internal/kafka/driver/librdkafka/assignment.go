//go:build librdkafka && cgo

package librdkafka

import (
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"
)

// The caller first gets the records gathered so far; see consumer.
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
	if errors.Is(err, errUnanswered) {
		c.giveUp()
	}
	return nil
}

// assign calls OnAssigned for an empty assignment too: it shows that a member without partitions
// has joined.
func (c *consumer) assign(partitions []kafka.TopicPartition) error {
	c.unknown.end()
	c.silent = false
	c.offer(partitions)
	// Incremental assignors (KIP-429) and the consumer protocol (KIP-848) change the assignment incrementally. Do not
	// ask the client for the protocol: a closing client may never answer (confluent-kafka-go 1016).
	if c.eager {
		return c.takeAll(partitions)
	}
	return c.takeOffered(c.takeOn)
}

// takeAll gives an eager client a whole assignment, because such a client takes none in parts, and
// repeats the pauses.
func (c *consumer) takeAll(partitions []kafka.TopicPartition) error {
	c.owning.Lock()
	defer c.owning.Unlock()
	var paused []kafka.TopicPartition
	for _, o := range c.offered {
		if o.paused {
			paused = append(paused, o.at)
		}
	}
	clear(c.offered)
	if err := c.answered(func() error { return c.client.Assign(partitions) }); err != nil {
		return fmt.Errorf("assigning %d partitions: %w", len(partitions), err)
	}
	if len(paused) == 0 {
		return nil
	}
	if err := c.client.Pause(paused); err != nil {
		return fmt.Errorf("pausing %d partitions: %w", len(paused), err)
	}
	return nil
}

// offer calls OnAssigned before the client has the partitions, so that the client does not get
// those that the callback pauses.
func (c *consumer) offer(partitions []kafka.TopicPartition) {
	c.owning.Lock()
	for _, p := range partitions {
		c.offered[p.Partition] = &offered{at: p}
	}
	c.owning.Unlock()
	c.onAssigned(numbers(partitions))
}

// takeOffered calls take even without a partition: in a rebalance, the client waits for this call
// before it continues.
func (c *consumer) takeOffered(take func([]kafka.TopicPartition) error) error {
	c.owning.Lock()
	defer c.owning.Unlock()
	return c.takeLocked(c.wanted(), take)
}

// takeResumed gives the client the partitions that were resumed since they were offered. It reports
// whether the consumer still holds back others from the client. Resume leaves this to the poller:
// during an assignment callback, no other goroutine may give the client partitions.
//
// A rebalance may wait in the client's queue. If it is an assignment, the client treats this call
// as its answer, but still calls back for the assignment. A revocation still waits for its own
// answer. After a lost assignment takeResumed gives nothing: the client would forget the loss and
// report a normal revocation.
func (c *consumer) takeResumed() (holding bool) {
	c.owning.Lock()
	defer c.owning.Unlock()
	if partitions := c.wanted(); len(partitions) > 0 && !c.client.AssignmentLost() {
		if err := c.takeLocked(partitions, c.takeOn); err != nil {
			c.failed = err // none of them would ever be fetched
		}
	}
	return len(c.offered) > 0
}

func (c *consumer) wanted() []kafka.TopicPartition {
	partitions := make([]kafka.TopicPartition, 0, len(c.offered))
	for _, o := range c.offered {
		if !o.paused {
			partitions = append(partitions, o.at)
		}
	}
	return partitions
}

// If the client refuses the partitions, they stay offered.
func (c *consumer) takeLocked(partitions []kafka.TopicPartition, take func([]kafka.TopicPartition) error) error {
	if err := c.answered(func() error { return take(partitions) }); err != nil {
		return fmt.Errorf("assigning %d partitions: %w", len(partitions), err)
	}
	for _, p := range partitions {
		delete(c.offered, p.Partition)
	}
	return nil
}

// In the group protocol consumer, the client does not call back for a member that gets no
// partition. But the member's epoch is above 0 after it has joined (KIP-848).
func (c *consumer) noteJoining() {
	metadata, err := c.client.GetConsumerGroupMetadata()
	if err != nil || epoch(metadata) < 1 {
		return
	}
	c.silent = false
	c.onAssigned(nil)
}

// epochAt is the offset of the member's epoch in the client's encoded metadata, which begin with "CGMDv2:".
const epochAt = 7

// epoch is less than 1 before the member has joined.
func epoch(metadata *kafka.ConsumerGroupMetadata) int32 {
	text := reflect.ValueOf(metadata).Elem().FieldByName("serialized").Bytes() //nolint:misspell // the client's name for it
	if len(text) < epochAt+4 {
		return -1
	}
	return int32(binary.NativeEndian.Uint32(text[epochAt:]))
}

// revoke waits for commits before it releases the partitions; afterwards commits would be too late.
// If a closing client does not answer, Close must not close it.
func (c *consumer) revoke(partitions []kafka.TopicPartition) error {
	if len(partitions) > 0 {
		c.onRevoked(numbers(partitions), c.client.AssignmentLost())
		if !c.commitsEnd() && c.closing.Load() {
			c.giveUp()
		}
	}
	return c.release(partitions)
}

func (c *consumer) giveUp() {
	c.gaveUp = true
	c.handOut(nil)
}

// release ends pauses, which the client would otherwise keep.
func (c *consumer) release(partitions []kafka.TopicPartition) error {
	c.owning.Lock()
	defer c.owning.Unlock()
	partitions = slices.DeleteFunc(slices.Clone(partitions), func(p kafka.TopicPartition) bool {
		_, kept := c.offered[p.Partition] // the client never had it
		delete(c.offered, p.Partition)
		return kept
	})
	var failed error
	if err := c.client.Resume(partitions); err != nil {
		failed = fmt.Errorf("ending pauses: %w", err)
	}
	if err := c.answered(func() error { return c.letGo(partitions) }); err != nil {
		failed = errors.Join(failed, fmt.Errorf("unassigning %d partitions: %w", len(partitions), err))
	}
	return failed
}

// A closing client may never answer a call (librdkafka 4884), so answered then limits the wait.
func (c *consumer) answered(call func() error) error {
	if !c.closing.Load() {
		return call()
	}
	answer := make(chan error, 1)
	go func() { answer <- call() }()
	select {
	case err := <-answer:
		return err
	case <-time.After(c.patient):
		return fmt.Errorf("%w within %v", errUnanswered, c.patient)
	}
}

func (c *consumer) assignByHand() {
	c.offer(c.byHand)
	if err := c.takeOffered(c.client.Assign); err != nil {
		c.failed = fmt.Errorf("by hand: %w", err)
	}
}

// offered is a partition that the client does not have yet: during OnAssigned and, if it is paused there, until the
// first poll after Resume. A client that has a paused partition resumes it only after up to 1 s, and may have
// stopped fetching for fetch.queue.backoff.ms.
type offered struct {
	at     kafka.TopicPartition
	paused bool
}

// The client drops the prefetched records of a paused partition and fetches them again after Resume.
func (c *consumer) Pause(partitions ...int32) {
	c.owning.Lock()
	defer c.owning.Unlock()
	var had []kafka.TopicPartition
	for _, number := range partitions {
		if o := c.offered[number]; o != nil {
			o.paused = true
		} else {
			had = append(had, c.at(number, int64(kafka.OffsetInvalid)))
		}
	}
	if len(had) > 0 {
		_ = c.client.Pause(had) // it refuses partitions that are not the consumer's
	}
}

func (c *consumer) Resume(partitions ...int32) {
	c.owning.Lock()
	defer c.owning.Unlock()
	var had []kafka.TopicPartition
	for _, number := range partitions {
		if o := c.offered[number]; o != nil {
			o.paused = false
		} else {
			had = append(had, c.at(number, int64(kafka.OffsetInvalid)))
		}
	}
	if len(had) > 0 {
		_ = c.client.Resume(had)
	}
}

func numbers(partitions []kafka.TopicPartition) []int32 {
	all := make([]int32, len(partitions))
	for i, p := range partitions {
		all[i] = p.Partition
	}
	return all
}
