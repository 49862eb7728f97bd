package lagcontrol

import (
	"context"
	"log/slog"
	"time"
)

// Stats are a gate's counters since New, and its present state.
type Stats struct {
	// Admitted counts admitted records, Settled the admitted records whose fate is known. Refused
	// counts, at each request, the records that were not admitted at once.
	Admitted, Settled, Refused int64
	// Waited counts the calls of Acquire that had to wait.
	Waited int64
	// Reports counts readings. Changes counts the readings that opened or closed the gate.
	Reports, Changes int64
	// Missed counts readings that failed.
	Missed int64
	// Probes counts the records that a closed gate admitted because the lag could not be told from offsets without a
	// record: see Reading.Unreadable. They come on top of the bound.
	Probes int64
	// Closed sums the times from a first refusal until the gate had room again, Blind the times in
	// which the gate was blind.
	Closed, Blind time.Duration

	// Ceiling and Bound are in force now: Unlimited if there is none, and 0 before the first
	// reading if the controller is a [Limiter].
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

// Sub returns the difference from earlier stats of the same gate. The fields from Ceiling
// on keep their present values.
func (s Stats) Sub(earlier Stats) Stats {
	s.Admitted -= earlier.Admitted
	s.Settled -= earlier.Settled
	s.Refused -= earlier.Refused
	s.Waited -= earlier.Waited
	s.Reports -= earlier.Reports
	s.Changes -= earlier.Changes
	s.Missed -= earlier.Missed
	s.Probes -= earlier.Probes
	s.Closed -= earlier.Closed
	s.Blind -= earlier.Blind
	return s
}

// ChangeKind says what changed.
type ChangeKind string

// The kinds of changes. A bound that is used up between two readings is no change.
const (
	Opened  ChangeKind = "opened" // Opened and Closed come only from a controller without a bound
	Closed  ChangeKind = "closed"
	Bounded ChangeKind = "bound" // the bound moved by more than a tenth
	Blind   ChangeKind = "blind" // the lag was not known for the grace time
	Seeing  ChangeKind = "seeing"
	// Stalled means that the gate has been closed for longer than the grace time without a commit.
	// Moving means that something is committed again.
	Stalled ChangeKind = "stalled"
	Moving  ChangeKind = "moving"
	// Small means that the bound is below rate × commit interval: the group waits for records while the
	// bound is used up by records that it has not committed yet. It is reported once.
	Small ChangeKind = "small"
	// Misused means that Done and Unsure reported more records than were admitted. It is reported
	// once.
	Misused ChangeKind = "misused"
	// Unread means that this gate's records went to partitions that are not in the readings, so
	// these records do not count. Only a gate with a share reports it.
	Unread ChangeKind = "unread"
)

// Change is an event of a gate, for logs and metrics.
type Change struct {
	At   time.Duration
	Kind ChangeKind
	// Open reports whether the gate would admit a record after the change.
	Open bool
	// Lag is the lag of the reading. Bound is in force from now on; Unlimited if there is none.
	// Both are in records.
	Lag, Bound int64
	// Age is the time since the reading was requested. For Blind it is the time since the lag was
	// last known, or since New.
	Age    time.Duration
	Reason string

	unread bool // there was no reading yet, so Lag has no meaning
}

func (c *Config) tell(change Change) {
	if c.OnChange != nil {
		c.OnChange(change)
	}
	if c.Logger == nil {
		return
	}
	level := slog.LevelInfo
	switch change.Kind {
	case Blind, Stalled, Small, Misused, Unread:
		level = slog.LevelWarn
	}
	attrs := []slog.Attr{slog.Bool("open", change.Open)}
	if !change.unread {
		attrs = append(attrs, slog.Int64("lag_records", change.Lag))
	}
	attrs = append(attrs, slog.Duration("age", change.Age), slog.String("reason", change.Reason))
	if change.Bound != Unlimited {
		attrs = append(attrs, slog.Int64("bound_records", change.Bound))
	}
	c.Logger.LogAttrs(context.Background(), level, "backpressure "+string(change.Kind), attrs...)
}
