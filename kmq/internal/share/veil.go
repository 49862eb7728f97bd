package share

import (
	"context"

	"github.com/twmb/franz-go/pkg/kgo"
)

// veiled is the context of a fetched record that hides what franz-go keeps there: by which
// lock the record is held.
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
// What was fetched and never polled is not released by name when the client leaves; the
// broker gives it back with the share session.
type veiled struct{ context.Context }

func (veiled) Value(any) any { return nil }

// veiling is the hook that veils records.
type veiling struct{}

var _ kgo.HookFetchRecordBuffered = veiling{}

func (veiling) OnFetchRecordBuffered(r *kgo.Record) { r.Context = veiled{r.Context} }

// unveil shows the locks of polled records, which can be acknowledged from now on.
func unveil(records []*kgo.Record) {
	for _, r := range records {
		if v, is := r.Context.(veiled); is {
			r.Context = v.Context
		}
	}
}
