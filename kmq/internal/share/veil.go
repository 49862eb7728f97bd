package share

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// veil hides a value that franz-go keeps in the context of a fetched record: its lock (ADR 0030).
//
// At each poll franz-go accepts every record of the previous poll that is not acknowledged. It
// finds them by the locks in their contexts, so a record whose lock is hidden during the poll stays
// open. HookFetchRecordBuffered may change a record before a poll returns it. That only the poll
// looks for the lock is an internal of franz-go; TestWhatIsOpenSurvivesPolls fails when that
// changes.
//
// When the client leaves, records that were never polled are not released. The broker gives them
// back when the session ends or the lock expires.
type veil struct {
	context.Context
	lifted bool // set before another goroutine has the record
}

type veilKey struct{}

// Value hides values with franz-go's type of key, and returns those of the application's
// interceptors.
func (v *veil) Value(key any) any {
	switch key.(type) {
	case veilKey:
		return v
	case *string:
		if !v.lifted {
			return nil
		}
	}
	return v.Context.Value(key)
}

// veiling is a hook that hides locks and stores the duration of the last one.
type veiling struct{ lockFor *atomic.Int64 }

var _ kgo.HookFetchRecordBuffered = veiling{}

func (h veiling) OnFetchRecordBuffered(r *kgo.Record) {
	if until := r.AcquisitionDeadline(); !until.IsZero() {
		h.lockFor.Store(int64(time.Until(until)))
	}
	r.Context = &veil{Context: r.Context}
}

// unveil shows the locks of polled records, so that they can be acknowledged.
func unveil(records []*kgo.Record) {
	for _, r := range records {
		if r.Context == nil {
			continue
		}
		if v, is := r.Context.Value(veilKey{}).(*veil); is {
			v.lifted = true
		}
	}
}
