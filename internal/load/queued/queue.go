package queued

import (
	"context"
	"errors"
	"time"

	"kafkabench.example/kafka-bench/internal/measure/snapshot"
	"kafkabench.example/kafka-bench/internal/plan/payload"
)

// Queue is one member of a queue's group. It is safe for concurrent use.
type Queue interface {
	// Receive waits for at least one record, or for ctx, and returns at most max records.
	Receive(ctx context.Context, max int) (Lot, error)
	// Run calls handle for one record at a time in each of at most handlers goroutines, until ctx ends. The queue
	// takes an unsettled record back if handle returns an error.
	Run(ctx context.Context, handlers int, handle func(Lot) error) error
	Counts() snapshot.QueueCounts
	// Kill cuts the member off, as the death of its process would.
	Kill()
	Close(ctx context.Context) error
}

// Errors of Ack and Nack.
var (
	ErrLockExpired = errors.New("the lock of the record has run out")
	ErrLockLost    = errors.New("another member now owns the record's partition")
)

// Lot holds the records of one Receive. Ack and Nack return ErrLockExpired or ErrLockLost if the member no longer holds
// the lock of the record.
type Lot interface {
	Len() int
	At(i int) Lent
	Ack(ctx context.Context, i int) error
	Nack(ctx context.Context, i int, delay time.Duration) error
}

// Lent is one delivery of a record, which the member holds under a lock.
type Lent struct {
	Partition int32 // of the original record, like Offset
	Offset    int64
	Value     []byte
	Stamp     *payload.Header // nil: the stamp is in the value
	KeyBytes  int
	Attempt   int       // the queue's count; 1 is the first
	Deadline  time.Time // zero: none
}
