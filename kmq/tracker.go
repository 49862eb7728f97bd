package kmq

import (
	"context"
	"fmt"

	"kafkabench.example/kafka-bench/kmq/internal/inspect"
	"kafkabench.example/kafka-bench/kmq/internal/markers"
)

// Tracker redelivers the records of a group whose locks have run out: the part of the
// engine [Markers] that may run apart from the queues.
type Tracker struct{ tracker *markers.Tracker }

// OpenTracker starts a tracker with the Config of the group's queues, in which Engine must
// be [Markers]; what it says of where the tracker runs does not matter. Several trackers
// share the partitions of the markers, and a queue that has one in its process is one of
// them. What it redelivers goes by its own MaxDeliveries, DeadLetterTopic and Transactions,
// and not by those of the queues, which it does not know; how long a record is lent is the
// queues' to say. It returns once the topics are known to be right; ctx bounds the opening alone.
// What the brokers refuse later is told by [Tracker.Wait], and by one line of the log: a
// tracker that has ended redelivers nothing, so somebody must wait. Errors are [ErrConfig] or
// the cluster's.
func OpenTracker(ctx context.Context, cfg Config) (*Tracker, error) {
	cfg, err := cfg.resolve()
	if err != nil {
		return nil, err
	}
	if cfg.Engine != Markers {
		return nil, fmt.Errorf("%w: engine %q has no tracker: only %q has", ErrConfig, cfg.Engine, Markers)
	}
	e := cfg.engine()
	e.Log.Info("kmq: opening a tracker", "max_deliveries", cfg.MaxDeliveries, "dead_letter_topic", cfg.DeadLetterTopic,
		"markers_topic", cfg.MarkersTopic, "transactions", cfg.Transactions)
	t, err := markers.NewTracker(ctx, e)
	if err != nil {
		return nil, err
	}
	if known, err := inspect.Known(ctx, e); err == nil && !known { // who may not ask is not told
		e.Log.Warn("kmq: the group of the tracker has committed nothing and has no members; check its name, unless its queues are still to be opened")
	}
	return &Tracker{tracker: t}, nil
}

// Stats are the counters of this tracker since it was opened: of [Stats], Tailed,
// DeadLettered, Missing, Retried, Unreadable, Lateness and RetentionAlarm.
func (t *Tracker) Stats() Stats { return t.tracker.Counts() }

// Wait returns what ended the tracker, the error of ctx once that has ended, or [ErrClosed]
// after Close. A tracker waits for brokers that are out of reach, and for permissions; what
// ends it is a SessionTimeout that the brokers do not allow, which is an [ErrConfig]. It is
// to be closed all the same.
func (t *Tracker) Wait(ctx context.Context) error { return t.tracker.Wait(ctx) }

// Close ends the redeliveries under way, commits what the tracker has read, leaves its
// group, and returns when nothing runs any more. ctx bounds the first three.
func (t *Tracker) Close(ctx context.Context) error { return t.tracker.Close(ctx) }
