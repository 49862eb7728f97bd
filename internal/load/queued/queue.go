package queued

import (
	"context"
	"errors"
	"time"

	"kafkabench.example/kafka-bench/internal/measure/snapshot"
)

// Queue is one member of a group of a queue whose records are acknowledged one by one. It
// may be used from several goroutines.
type Queue interface {
	// Receive waits for at least one record, or for ctx, and returns at most max.
	Receive(ctx context.Context, max int) (Lot, error)
	// Run hands records to handlers, each in a lot of its own, so many at a time and in
	// the queue's order, until ctx ends. A handler settles its record; one that it did not
	// settle is given back where it returns an error.
	Run(ctx context.Context, handlers int, handle func(Lot) error) error
	Counts() snapshot.QueueCounts
	// Kill cuts the member off as the death of its process would: nothing goes out any
	// more, and nobody is told.
	Kill()
	Close(ctx context.Context) error
}

// Why a record could not be settled any more.
var (
	ErrLockExpired = errors.New("the lock of the record has run out")
	ErrLockLost    = errors.New("the record's partition is another member's")
)

// Lot is what one Receive returned. Ack and Nack return an error that is ErrLockExpired or
// ErrLockLost where the record is lent no more.
type Lot interface {
	Len() int
	At(i int) Lent
	Ack(ctx context.Context, i int) error
	Nack(ctx context.Context, i int, delay time.Duration) error
}

// Lent is one delivery of a record.
type Lent struct {
	Partition int32 // where the record was first, as is Offset
	Offset    int64
	Value     []byte
	KeyBytes  int
	Attempt   int       // by the queue's count, 1 is the first
	Deadline  time.Time // zero: none
}
