package segmentio

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/segmentio/kafka-go"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
)

// Each call of the Writer costs several allocations, so a call should have many records. But the
// Writer looks at all records of the call, at about 1 µs each, before it sends any.
const atATime = 1000

// A single goroutine keeps the records of a partition in order.
func (p *producer) feed() {
	defer p.end()
	var spare []kafka.Message
	for {
		select {
		case <-p.closing.Done():
			return
		case <-p.wake:
			spare = p.empty(spare)
		}
	}
}

func (p *producer) empty(spare []kafka.Message) []kafka.Message {
	queue := p.swap(spare)
	for part := range slices.Chunk(queue, atATime) {
		p.write(part)
	}
	clear(queue)
	return queue[:0]
}

func (p *producer) swap(spare []kafka.Message) []kafka.Message {
	p.mu.Lock()
	defer p.mu.Unlock()
	queue := p.queue
	p.queue = spare
	return queue
}

// The Writer accepts all messages or none: none while the client does not know the topic, or if one of them is too
// large. So write retries.
func (p *producer) write(messages []kafka.Message) {
	var cause error // the latest error other than a timeout
	for attempts := 1; len(messages) > 0; attempts++ {
		err := p.offer(messages)
		if cause == nil || !errors.Is(err, context.DeadlineExceeded) {
			cause = err
		}
		var large kafka.MessageTooLargeError
		switch {
		case err == nil:
			return
		case p.closing.Err() != nil:
			p.fail(messages, errClosed)
			return
		case errors.As(err, &large):
			p.fail([]kafka.Message{large.Message}, kafka.MessageSizeTooLarge)
			messages = large.Remaining
		default:
			if messages = p.expire(messages, attempts, cause); len(messages) > 0 {
				p.pause(backoff(attempts))
			}
		}
	}
}

// The delivery timeout of the first message limits the call: otherwise the client may wait for its
// first metadata without a limit.
func (p *producer) offer(messages []kafka.Message) error {
	ctx := p.closing
	if p.cfg.DeliveryTimeout > 0 && !p.met {
		until, cancel := context.WithDeadline(ctx, slotOf(&messages[0]).since.Add(p.cfg.DeliveryTimeout))
		defer cancel()
		ctx = until
	}
	p.attempts.expect(messages)
	err := p.writer.WriteMessages(ctx, messages...)
	if err != nil {
		p.attempts.withdraw(messages)
	}
	p.met = p.met || err == nil
	return err
}

// expire returns the messages that are not past their delivery timeout. Without a timeout it fails
// all messages after the client's own number of attempts.
func (p *producer) expire(messages []kafka.Message, attempts int, err error) []kafka.Message {
	expired := 0
	switch timeout := p.cfg.DeliveryTimeout; {
	case timeout > 0:
		now := time.Now()
		for expired < len(messages) && now.Sub(slotOf(&messages[expired]).since) >= timeout {
			expired++
		}
	case attempts >= defaultAttempts:
		expired = len(messages)
	}
	p.fail(messages[:expired], err)
	return messages[expired:]
}

func (p *producer) fail(messages []kafka.Message, err error) {
	for i := range messages {
		p.hand(slotOf(&messages[i]), driver.Failed, -1, err)
	}
	p.release(len(messages))
}

func (p *producer) pause(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-p.closing.Done():
	}
}

// end closes the Writer, whose attempts now end at once, and fails what is still queued.
func (p *producer) end() {
	_ = p.writer.Close()
	p.fail(p.swap(nil), errClosed)
}
