package segmentio

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
)

// trial is a partition's batch in hand: what the attempts at it came to. The Writer has
// one at a time for each partition, and makes its attempts and tells what became of it
// on one goroutine, so that needs no lock. The records that it has yet to try come in
// the order in which it was given them, so their ages are a queue.
type trial struct {
	open    bool         // one of the attempts may have put the batch into the log
	last    error        // of its attempts, where there was no answer
	written atomic.Int64 // bytes of the latest attempt, as they went out

	mu    sync.Mutex
	since []time.Time // when the records were handed over, the batch in hand first
	gone  int         // of those, how many are done
}

// push adds the age of a record that comes last.
func (t *trial) push(since time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.gone > 0 && len(t.since) == cap(t.since) {
		t.since = t.since[:copy(t.since, t.since[t.gone:])]
		t.gone = 0
	}
	t.since = append(t.since, since)
}

// pull takes the last one back.
func (t *trial) pull() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.since = t.since[:len(t.since)-1]
}

// until is when the batch in hand has to be done, if there is a timeout.
func (t *trial) until(timeout time.Duration) (at time.Time, bounded bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if timeout == 0 || t.gone == len(t.since) {
		return at, false
	}
	return t.since[t.gone].Add(timeout), true
}

// expired is the error of a batch that is out of time. It does not wrap the one before,
// after which the Writer would go on trying.
func (t *trial) expired() error {
	if t.last == nil {
		return errExpired
	}
	return fmt.Errorf("%w; the last attempt: %v", errExpired, t.last) //nolint:errorlint // see above
}

// settle is what became of the batch in hand, of so many records, which ended with err.
func (t *trial) settle(records int, err error) driver.Outcome {
	outcome := driver.Acked
	switch {
	case err != nil && t.open:
		outcome = driver.Unknown
	case err != nil:
		outcome = driver.Failed
	}
	t.open, t.last = false, nil
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.since) > 0 { // there is a timeout
		t.gone += records
	}
	return outcome
}
