package segmentio

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
)

// trial holds the results of the attempts at a partition's current batch. The Writer has one goroutine for a
// partition's attempts and completion, so open and last need no lock. Later records come in the
// Writer's order, so their times of Produce are a queue.
type trial struct {
	open    bool         // an attempt may have put the batch into the log
	last    error        // of the latest attempt without an answer
	written atomic.Int64 // written bytes of the latest attempt

	mu    sync.Mutex
	since []time.Time // times of Produce, the current batch first
	gone  int         // how many of those are complete
}

func (t *trial) push(since time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.gone > 0 && len(t.since) == cap(t.since) {
		t.since = t.since[:copy(t.since, t.since[t.gone:])]
		t.gone = 0
	}
	t.since = append(t.since, since)
}

func (t *trial) pull() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.since = t.since[:len(t.since)-1]
}

func (t *trial) until(timeout time.Duration) (at time.Time, bounded bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if timeout == 0 || t.gone == len(t.since) {
		return at, false
	}
	return t.since[t.gone].Add(timeout), true
}

// expired does not wrap the last error, because the Writer might then retry.
func (t *trial) expired() error {
	if t.last == nil {
		return errExpired
	}
	return fmt.Errorf("%w; the last attempt: %v", errExpired, t.last) //nolint:errorlint // see above
}

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
