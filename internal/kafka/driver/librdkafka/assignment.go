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
	if errors.Is(err, errUnanswered) {
		c.giveUp()
	}
	return nil
}

// assign tells of new partitions and takes on those that were not paused meanwhile. It
// tells of an empty assignment too: that is how a member of a group with more members than
// partitions learns that it has joined.
func (c *consumer) assign(partitions []kafka.TopicPartition) error {
	c.unknown.end()
	c.silent = false
	c.offer(partitions)
	// Incremental, if the assignor is (KIP-429, KIP-848). The client is not asked for its
	// protocol: while it closes it may never answer (confluent-kafka-go 1016).
	if c.eager {
		return c.takeAll(partitions)
	}
	return c.takeOffered(c.takeOn)
}

// takeAll gives the client a whole assignment, of which it knows no parts, and pauses what was
// paused meanwhile.
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
		return fmt.Errorf("taking on %d partitions: %w", len(partitions), err)
	}
	if len(paused) == 0 {
		return nil
	}
	if err := c.client.Pause(paused); err != nil {
		return fmt.Errorf("pausing %d partitions: %w", len(paused), err)
	}
	return nil
}

// offer tells of partitions that the client does not have yet, so that those that are
// paused in the callback can be kept from it. See offered.
func (c *consumer) offer(partitions []kafka.TopicPartition) {
	c.owning.Lock()
	for _, p := range partitions {
		c.offered[p.Partition] = &offered{at: p}
	}
	c.owning.Unlock()
	c.onAssigned(numbers(partitions))
}

// takeOffered gives the client what was offered and is not paused, which may be nothing: the
// client waits for the call, with which a rebalance goes on.
func (c *consumer) takeOffered(take func([]kafka.TopicPartition) error) error {
	c.owning.Lock()
	defer c.owning.Unlock()
	return c.takeLocked(c.wanted(), take)
}

// takeResumed gives the client what was resumed since it was offered, and tells whether
// more is held. The poller calls it, and not who resumes: while the client tells of an
// assignment it must not be given partitions on another goroutine.
//
// A rebalance may wait in the client's queue. If it is an assignment, the client takes this
// call for its answer, and calls back for the assignment all the same. A revocation still waits
// for an answer of its own. After a lost assignment nothing is given: the client would forget
// the loss, and call back for the revocation as for any other.
func (c *consumer) takeResumed() (holding bool) {
	c.owning.Lock()
	defer c.owning.Unlock()
	if partitions := c.wanted(); len(partitions) > 0 && !c.client.AssignmentLost() {
		if err := c.takeLocked(partitions, c.takeOn); err != nil {
			c.failed = err // nothing of them would ever be fetched
		}
	}
	return len(c.offered) > 0
}

// wanted is what was offered and is not paused.
func (c *consumer) wanted() []kafka.TopicPartition {
	partitions := make([]kafka.TopicPartition, 0, len(c.offered))
	for _, o := range c.offered {
		if !o.paused {
			partitions = append(partitions, o.at)
		}
	}
	return partitions
}

// takeLocked gives the client partitions, which stay on offer if it refuses them.
func (c *consumer) takeLocked(partitions []kafka.TopicPartition, take func([]kafka.TopicPartition) error) error {
	if err := c.answered(func() error { return take(partitions) }); err != nil {
		return fmt.Errorf("taking on %d partitions: %w", len(partitions), err)
	}
	for _, p := range partitions {
		delete(c.offered, p.Partition)
	}
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
// waits for commits, for which afterwards it is too late. What the client does not answer
// keeps Close from going on, which would end the client under it.
func (c *consumer) revoke(partitions []kafka.TopicPartition) error {
	if len(partitions) > 0 {
		c.onRevoked(numbers(partitions), c.client.AssignmentLost())
		if !c.commitsEnd() && c.closing.Load() {
			c.giveUp()
		}
	}
	return c.release(partitions)
}

// giveUp has Close return without the end of the client.
func (c *consumer) giveUp() {
	c.gaveUp = true
	c.handOut(nil)
}

// release ends pauses of partitions, and lets those go that the client has.
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
		failed = errors.Join(failed, fmt.Errorf("letting %d partitions go: %w", len(partitions), err))
	}
	return failed
}

// answered makes a call of the client. While it closes, the client may never answer
// (librdkafka 4884): then the call is waited for no longer than a commit is.
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

// assignByHand gives the client its partitions.
func (c *consumer) assignByHand() {
	c.offer(c.byHand)
	if err := c.takeOffered(c.client.Assign); err != nil {
		c.failed = fmt.Errorf("by hand: %w", err)
	}
}

// offered is a partition of the member that the client does not have yet: while
// OnAssigned runs, and from a pause in it until the first poll after a resume. A client that has a
// partition and is resumed looks at it again only after up to a second, and until its
// pause it may have fetched enough to stop fetching for fetch.queue.backoff.ms.
type offered struct {
	at     kafka.TopicPartition
	paused bool
}

// Pause stops fetching partitions. Polls that begin after it return none of their
// records: what was fetched ahead of them is dropped, and fetched again after Resume.
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
		_ = c.client.Pause(had) // it refuses those that are not the consumer's
	}
}

// Resume fetches partitions again, or for the first time.
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
		_ = c.client.Resume(had) // it refuses those that are not the consumer's
	}
}

func numbers(partitions []kafka.TopicPartition) []int32 {
	all := make([]int32, len(partitions))
	for i, p := range partitions {
		all[i] = p.Partition
	}
	return all
}
