package backpressure

import "fmt"

// Credit is a window of records: what is admitted and not yet known to be
// committed never exceeds a bound, so the lag never does either (window flow
// control, as in TCP's receive window or in reactive streams' request(n)).
//
// Law: ceiling = Settled + max(0, Share × max lag − Lag).
//
// Why it holds. Take the moment of the mark, before the reading is asked for.
// Every record settled by then is in the reading or will never be in the log, so
// whenever it is looked at, the high watermark is at most that of the reading
// plus Admitted − Settled; and the committed offset only grows. Hence
// lag ≤ Lag + Admitted − Settled ≤ bound, however old the reading is. A late or
// lost reading, a slow commit or a rebalance makes the gate admit less, never
// more.
//
// Failure modes. The bound counts what was delivered and not committed yet, so
// consumers that keep up at a rate r and commit every T need a bound above
// r × (T + the reading's age); below that they are throttled though they are
// healthy. A bound in records says nothing about time: at 5,000 records a slow
// group is seconds behind. Records that were in the log before the gate was made
// count, so a group with a backlog keeps the gate closed until it is worked
// off. Committed offsets that are set back by hand raise the lag at once, which no gate can
// prevent.
type Credit struct {
	maxLag int64
}

// NewCredit returns a controller that keeps the lag at or below maxLag records.
// It is an error unless maxLag is positive.
func NewCredit(maxLag int64) (*Credit, error) {
	if maxLag <= 0 {
		return nil, fmt.Errorf("backpressure: the bound of the lag must be positive, not %d records", maxLag)
	}
	return &Credit{maxLag: maxLag}, nil
}

// Limit implements [Limiter].
func (c *Credit) Limit() int64 { return c.maxLag }

// Decide implements [Controller].
func (c *Credit) Decide(o Observation) Decision {
	bound := part(o.Share, c.maxLag)
	d := Decision{Ceiling: window(o, bound), Bound: bound}
	switch left := d.Ceiling - o.Admitted; {
	case left > 0:
		d.Reason = fmt.Sprintf("lag %d of %d, %d in flight: %d more may be sent", o.Lag, bound, o.Admitted-o.Settled,
			left)
	default:
		d.Reason = fmt.Sprintf("lag %d of %d, %d in flight: the bound is used up", o.Lag, bound, o.Admitted-o.Settled)
	}
	return d
}
