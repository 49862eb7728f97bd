package share

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// veil hides in the context of a fetched record what franz-go keeps there: the lock by
// which the record is held.
//
// At each poll franz-go accepts, for good, whatever the poll before returned and nobody
// acknowledged. A queue can't live with that: one slow record would hold up every poll. What
// a poll remembers for it are the locks that it finds in the records' contexts as it hands
// them out, so a record that is veiled until then is acknowledged by nobody but this package,
// for as many polls as it takes. Interceptors that change a record before a poll returns it
// are what HookFetchRecordBuffered is for; that nothing but the poll looks for the lock
// between the two is franz-go's own affair, and TestWhatIsOpenSurvivesPolls tells when that
// changes.
//
// What was never polled is not released by name when the client leaves: the broker gives back
// what a session held as it ends, or when the lock has run out.
type veil struct {
	context.Context
	lifted bool // before anybody but the polling goroutine has the record
}

type veilKey struct{}

// Value hides values by the kind of key that franz-go has for its own, and shows those of
// the application's interceptors.
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

// veiling is the hook that veils records, and notes for how long the last was lent.
type veiling struct{ lockFor *atomic.Int64 }

var _ kgo.HookFetchRecordBuffered = veiling{}

func (h veiling) OnFetchRecordBuffered(r *kgo.Record) {
	if until := r.AcquisitionDeadline(); !until.IsZero() {
		h.lockFor.Store(int64(time.Until(until)))
	}
	r.Context = &veil{Context: r.Context}
}

// unveil shows the locks of polled records, which can be acknowledged from now on.
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
