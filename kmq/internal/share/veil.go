package share

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// veil hides the lock that franz-go keeps in the context of a fetched record (ADR 0030).
//
// At each poll franz-go accepts every record of the previous poll that is not acknowledged. It
// finds these records by the locks in their contexts, so a hidden lock keeps a record open.
// HookFetchRecordBuffered may change a record before the poll. The lock's place is an internal of
// franz-go; TestWhatIsOpenSurvivesPolls fails when it changes.
type veil struct {
	context.Context
	lifted bool // set before another goroutine has the record
}

type veilKey struct{}

// Value hides values whose key has franz-go's type, and returns the application's values.
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

type veiling struct{ lockFor *atomic.Int64 }

var _ kgo.HookFetchRecordBuffered = veiling{}

func (h veiling) OnFetchRecordBuffered(r *kgo.Record) {
	if until := r.AcquisitionDeadline(); !until.IsZero() {
		h.lockFor.Store(int64(time.Until(until)))
	}
	r.Context = &veil{Context: r.Context}
}

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
