package lagcontrol

import "fmt"

// Credit keeps the lag at or below a bound at every moment. It is window flow control, as in TCP's
// receive window or reactive streams' request(n).
//
// Law: ceiling = Settled + max(0, Share × max lag − Lag).
//
// Proof. The mark is taken before the reading is requested. Every record settled at the mark is in
// the reading or never in the log. So at any later time the high watermark is at most the reading's
// plus Admitted − Settled, and the committed offset only grows. Hence lag ≤ Lag + Admitted −
// Settled ≤ bound, however old the reading is.
//
// Failure modes. Records count until they are committed. Consumers that keep up at a rate r and
// commit every T need a bound above r × (T + the reading's age). A bound in records does not limit
// time. Records from before the gate count too, so a backlog keeps the gate closed until the group
// has consumed it. Committed offsets that are set back by hand raise the lag at once.
type Credit struct {
	maxLag int64
}

// NewCredit returns a controller that keeps the lag at or below maxLag records. It returns an error
// unless maxLag is positive.
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
