package backpressure

import (
	"context"
	"log/slog"
	"time"
)

// Stats are what a gate did since it was made, and how it stands.
type Stats struct {
	// Admitted, Settled and Refused count records: let through; let through and of
	// known fate; asked for and not granted at once. A record that is asked for
	// again and again is refused as often.
	Admitted, Settled, Refused int64
	// Returned counts records that were granted by a ceiling that had just been
	// lowered, and taken back before anybody saw it. Admitted is without them;
	// together the two never fall.
	Returned int64
	// Waited counts the calls of Acquire that had to wait.
	Waited int64
	// Reports is the number of readings; Changes of those that opened or
	// closed the gate.
	Reports, Changes int64
	// Missed is the number of readings that failed.
	Missed int64
	// Closed is for how long records were refused: from the first refusal until the
	// gate had room again, summed. Blind is for how long the gate was blind.
	Closed, Blind time.Duration

	// Ceiling and Bound are in force now; Unlimited where there is none, and 0 where
	// there will be one after the first reading.
	Ceiling, Bound int64
	// Lag is that of the last reading, in records: the group's or, with a share, that
	// of this gate's own records.
	Lag int64
	// Outstanding is the number of records that may be in the log and not committed,
	// at most: Lag and what was admitted and not settled at the last reading.
	Outstanding int64
	// Waiting is the number of calls of Acquire that wait now.
	Waiting int64
	// Share is the part of the bound in force, from 0 to 1: what Config.Share said at
	// the last decision. Nothing is admitted beyond it any more. Before the first
	// reading it is that of a Fixed, and 0 of a share that moves.
	Share float64
	// Open tells whether a record would be admitted now, and BlindNow whether the
	// gate is blind.
	Open, BlindNow bool
	// MaxAge is the oldest reading that a decision rested on.
	MaxAge time.Duration
}

// Sub returns what happened since an earlier reading of the same gate's stats.
// What has no difference stays as it is now: everything from Ceiling on.
func (s Stats) Sub(earlier Stats) Stats {
	s.Admitted -= earlier.Admitted
	s.Settled -= earlier.Settled
	s.Refused -= earlier.Refused
	s.Returned -= earlier.Returned
	s.Waited -= earlier.Waited
	s.Reports -= earlier.Reports
	s.Changes -= earlier.Changes
	s.Missed -= earlier.Missed
	s.Closed -= earlier.Closed
	s.Blind -= earlier.Blind
	return s
}

// ChangeKind says what changed.
type ChangeKind string

// What can happen to a gate. That a bound is exhausted between two readings is
// no change: it is how a bound works.
const (
	Opened  ChangeKind = "opened" // by a controller without a bound
	Closed  ChangeKind = "closed"
	Bounded ChangeKind = "bound" // the bound moved by more than a tenth
	Blind   ChangeKind = "blind" // the lag was not known for the grace time
	Seeing  ChangeKind = "seeing"
	// Stalled is that the gate has been closed for longer than the grace time, and
	// nothing was committed in all of it; Moving, that something is again.
	Stalled ChangeKind = "stalled"
	Moving  ChangeKind = "moving"
	// Misused is that more records were told of with Done and Unsure than were
	// admitted. It is told once.
	Misused ChangeKind = "misused"
	// Unread is that own records went to partitions that the readings do not hold,
	// which cannot count therefore; only in a gate with a share.
	Unread ChangeKind = "unread"
)

// WholeGate is the partition of a change that is not of one partition.
const WholeGate int32 = -1

// Change is something that happened to a gate and that people want to know.
type Change struct {
	At   time.Duration
	Kind ChangeKind
	// Partition is whose gate changed, in a [Partitioned]; otherwise WholeGate.
	Partition int32
	// Open tells whether a record would be admitted from now on.
	Open bool
	// Lag is that of the reading, and Bound what is in force from now on, in records;
	// Unlimited where there is none.
	Lag, Bound int64
	// Age is how long ago the reading was asked for; for Blind, how long ago the
	// lag was last known or, if it never was, the gate was made.
	Age    time.Duration
	Reason string

	unread bool // there was no reading yet, so the lag is none
}

// tell passes a change on to whoever asked for it.
func (c *Config) tell(change Change) {
	if c.OnChange != nil {
		c.OnChange(change)
	}
	if c.Logger == nil {
		return
	}
	level := slog.LevelInfo
	switch change.Kind {
	case Blind, Stalled, Misused, Unread:
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
	if change.Partition != WholeGate {
		attrs = append(attrs, slog.Int("partition", int(change.Partition)))
	}
	c.Logger.LogAttrs(context.Background(), level, "backpressure "+string(change.Kind), attrs...)
}
