package segmentio

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/segmentio/kafka-go"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
)

// atATime is how many records the Writer is given in one call. A call costs it several
// allocations beside those for each record, so the fewer the better; but none of the
// records goes on its way before all are looked at, at about a microsecond for each.
const atATime = 1000

// feed hands what is queued to the Writer, until the producer closes. That one
// goroutine does it keeps the records of a partition in order, lets Produce return
// while the client has yet to find a broker, and gives the Writer many records in one
// call, as its users are told to do, where many are waiting.
func (p *producer) feed() {
	defer p.end()
	var spare []kafka.Message
	for {
		select {
		case <-p.closing.Done():
			return
		case <-p.wake:
			spare = p.empty(spare)
		case done := <-p.flushes:
			spare = p.empty(spare)
			_ = p.writer.Close() // its error is always nil
			p.writer = p.another()
			close(done)
		}
	}
}

// empty writes all that is queued, and returns the memory of it for the next queue.
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

// write gives the Writer messages. It takes all of them or none: none while the client
// knows no broker, or not the topic, and none if one of them is too large. Until it
// takes them, it is asked again, as its users have to.
func (p *producer) write(messages []kafka.Message) {
	var cause error // of the latest failure that was not for want of time alone
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

// offer gives the Writer messages, until the delivery timeout of the first: the client
// waits for its first metadata as long as it is let.
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

// expire fails the messages that are past their delivery timeout, or all of them after
// as many attempts as the client itself makes, and returns the others.
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

// fail hands back messages that the Writer did not take.
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

// another is a Writer like the one before, which is closed.
func (p *producer) another() *kafka.Writer {
	w := p.writer
	return &kafka.Writer{
		Addr: w.Addr, Topic: w.Topic, Balancer: w.Balancer, MaxAttempts: w.MaxAttempts,
		BatchSize: w.BatchSize, BatchBytes: w.BatchBytes, BatchTimeout: w.BatchTimeout,
		RequiredAcks: w.RequiredAcks, Async: w.Async, Completion: w.Completion,
		Compression: w.Compression, Transport: w.Transport, ReadTimeout: w.ReadTimeout, WriteTimeout: w.WriteTimeout,
	}
}

// end closes the Writer, whose attempts now end at once, and hands back what it was
// not given.
func (p *producer) end() {
	_ = p.writer.Close()
	p.fail(p.swap(nil), errClosed)
}
