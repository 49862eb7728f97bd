package sarama

import (
	"errors"
	"slices"
	"time"

	ibm "github.com/IBM/sarama"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
)

var errExpired = errors.New("the delivery timeout has passed")

// A single goroutine keeps the records of a partition in order.
func (p *producer) feed() {
	client := p.opened()
	if client == nil {
		p.fail(p.swap(nil), errClosed)
		return
	}
	p.handlers.Go(func() { p.handBackAcked(client) })
	p.handlers.Go(func() { p.handBackFailed(client) })
	defer client.AsyncClose()
	var spare []*slot
	for {
		select {
		case <-p.wake:
			spare = p.empty(client, spare)
		case <-p.stop:
			p.empty(client, spare)
			if p.lingers {
				p.push(client) // otherwise the client would hold records back for the linger time
			}
			return
		}
	}
}

// Opening may take long: an idempotent client first gets a producer ID from a broker. Meanwhile
// opened fails records that exceed the delivery timeout. It returns nil if the producer is closed
// first.
func (p *producer) opened() ibm.AsyncProducer {
	client, failed := make(chan ibm.AsyncProducer), make(chan error)
	go func() { client <- p.open(failed) }()
	ages := time.NewTicker(openRetry)
	defer ages.Stop()
	cause := errExpired
	for {
		select {
		case c := <-client:
			return c
		case cause = <-failed:
		case <-ages.C:
			p.fail(p.expired(), cause)
		}
	}
}

const openRetry = 100 * time.Millisecond

// open sends each error to failed. It returns nil when the producer is closed.
func (p *producer) open(failed chan<- error) ibm.AsyncProducer {
	for {
		client, err := ibm.NewAsyncProducerFromClient(p.metadata)
		if err == nil {
			return client
		}
		failed <- err
		select {
		case <-p.stop:
			return nil
		case <-time.After(openRetry):
		}
	}
}

func (p *producer) expired() []*slot {
	p.mu.Lock()
	defer p.mu.Unlock()
	now, n := time.Now(), 0
	for n < len(p.queue) && p.isLate(p.queue[n], now) {
		n++
	}
	late := p.queue[:n:n]
	p.queue = p.queue[n:]
	return late
}

func (p *producer) isLate(s *slot, now time.Time) bool {
	return p.timeout > 0 && now.Sub(s.since) >= p.timeout
}

const atATime = 256

func (p *producer) empty(client ibm.AsyncProducer, spare []*slot) []*slot {
	queue := p.swap(spare)
	for part := range slices.Chunk(queue, atATime) {
		p.give(client, part)
	}
	clear(queue)
	return queue[:0]
}

func (p *producer) give(client ibm.AsyncProducer, part []*slot) {
	if p.network.line.IsCut() {
		p.fail(part, errClosed)
		return
	}
	now := time.Now()
	for _, s := range part {
		if p.isLate(s, now) {
			p.handBack(s, driver.Failed, -1, errExpired)
			continue
		}
		s.before = p.network.meter.Traffic()
		client.Input() <- &s.message
	}
}

func (p *producer) swap(spare []*slot) []*slot {
	p.mu.Lock()
	defer p.mu.Unlock()
	queue := p.queue
	p.queue = spare
	return queue
}

func (p *producer) fail(records []*slot, err error) {
	for _, s := range records {
		p.handBack(s, driver.Failed, -1, err)
	}
}
