package backpressure

import (
	"math"
	"time"

	"kafkabench.example/kafka-bench/internal/lagcontrol"
)

// Unlimited is the bound and the ceiling of a gate that admits everything.
const Unlimited int64 = math.MaxInt64

// Stats are a gate's counters since Open, and its present state.
type Stats struct {
	// Admitted counts admitted records, Settled the admitted records whose fate is known. Refused
	// counts, at each request, the records that were not admitted at once.
	Admitted, Settled, Refused int64
	// Waited counts the calls of Acquire that had to wait.
	Waited int64
	// Reports counts readings, Missed those that failed.
	Reports, Missed int64
	// Probes counts the records that a closed gate admitted because the lag could not be told from offsets without a
	// record: see Reading.Unreadable. They come on top of the bound.
	Probes int64
	// Closed sums the times from a first refusal until the gate had room again, Blind the times in
	// which the gate was blind.
	Closed, Blind time.Duration

	// Ceiling is how many records may have been admitted so far, and Bound the bound of the lag. Both are
	// in force now: Unlimited if there is none, and 0 before the first reading.
	Ceiling, Bound int64
	// Lag is the lag of the last reading, in records; with a share, only this gate's.
	Lag int64
	// Outstanding is the largest possible number of records that are in the log and not committed:
	// Lag plus the records not settled at the last reading.
	Outstanding int64
	// Waiting is how many calls of Acquire wait now.
	Waiting int64
	// Share is this gate's part of the bound, above 0 and at most 1.
	Share float64
	// Open reports whether the gate would admit a record now, and BlindNow whether it is
	// blind.
	Open, BlindNow bool
	// MaxAge is the age of the oldest reading that a decision used.
	MaxAge time.Duration
}

// Change is an event of a gate, for logs and metrics. A bound that is used up between two readings
// is no change.
type Change struct {
	// At is the time since Open.
	At time.Duration
	// Kind is one of:
	//
	//	bound    the bound moved by more than a tenth
	//	blind    the lag was not known for the grace time
	//	seeing   the lag is known again
	//	stalled  the gate has been closed for the grace time, and nothing was committed
	//	moving   something is committed again
	//	small    the bound is below rate × commit interval; reported once
	//	misused  Done and Unsure reported more records than were admitted; reported once
	//	unread   this gate's records went to partitions that the source does not read
	Kind string
	// Open reports whether the gate would admit a record after the change.
	Open bool
	// Lag is the lag of the reading. Bound is in force from now on; Unlimited if there is none.
	// Both are in records.
	Lag, Bound int64
	// Age is the time since the reading was requested; for blind, since the lag was last known.
	Age    time.Duration
	Reason string
}

func publicChange(c lagcontrol.Change) Change {
	return Change{At: c.At, Kind: string(c.Kind), Open: c.Open, Lag: c.Lag, Bound: c.Bound, Age: c.Age, Reason: c.Reason}
}

func publicStats(s lagcontrol.Stats) Stats {
	return Stats{
		Admitted: s.Admitted, Settled: s.Settled, Refused: s.Refused, Waited: s.Waited, Reports: s.Reports, Missed: s.Missed, Probes: s.Probes,
		Closed: s.Closed, Blind: s.Blind, Ceiling: s.Ceiling, Bound: s.Bound, Lag: s.Lag, Outstanding: s.Outstanding,
		Waiting: s.Waiting, Share: s.Share, Open: s.Open, BlindNow: s.BlindNow, MaxAge: s.MaxAge,
	}
}
