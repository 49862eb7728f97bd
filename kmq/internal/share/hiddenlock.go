package share

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// hiddenLock hides the lock that franz-go keeps in the context of a fetched record (ADR 0012).
//
// At each poll franz-go accepts every record of the previous poll that is not acknowledged. It
// finds these records by the locks in their contexts, so a hidden lock keeps a record open.
// HookFetchRecordBuffered may change a record before the poll. The lock's place is an internal of
// franz-go; TestWhatIsOpenSurvivesPolls fails when it changes.
type hiddenLock struct {
	context.Context
	shown bool // set before another goroutine has the record
}

type hiddenLockKey struct{}

// Value hides values whose key has franz-go's type, and returns the application's values.
func (h *hiddenLock) Value(key any) any {
	switch key.(type) {
	case hiddenLockKey:
		return h
	case *string:
		if !h.shown {
			return nil
		}
	}
	return h.Context.Value(key)
}

// lockHider is a hook of the client. It also notes the duration of the last record's lock, in nanoseconds.
type lockHider struct{ lockTime *atomic.Int64 }

var _ kgo.HookFetchRecordBuffered = lockHider{}

func (h lockHider) OnFetchRecordBuffered(r *kgo.Record) {
	if until := r.AcquisitionDeadline(); !until.IsZero() {
		h.lockTime.Store(int64(time.Until(until)))
	}
	r.Context = &hiddenLock{Context: r.Context}
}

func showLocks(records []*kgo.Record) {
	for _, r := range records {
		if r.Context == nil {
			continue
		}
		if h, is := r.Context.Value(hiddenLockKey{}).(*hiddenLock); is {
			h.shown = true
		}
	}
}
