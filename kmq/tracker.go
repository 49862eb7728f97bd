package kmq

import (
	"context"
	"fmt"

	"kafkabench.example/kafka-bench/kmq/internal/inspect"
	"kafkabench.example/kafka-bench/kmq/internal/markers"
)

// Tracker redelivers a group's records whose locks have expired. It is the part of [Markers] that
// may run in a process of its own.
type Tracker struct{ tracker *markers.Tracker }

// OpenTracker starts a tracker with the Config of the group's queues, whose Engine must be
// [Markers]; it ignores Markers.ExternalTracker. All trackers of a group, also those in queues, divide the
// partitions of the markers. A tracker uses its own MaxDeliveries and DeadLetterTopic,
// since it does not know the queues' values. The queues set how long a record is locked. OpenTracker returns after it has checked the topics; ctx bounds only OpenTracker itself.
// The error is [ErrConfig] or the cluster's. [Tracker.Wait] and one log line report what the
// brokers refuse later. A tracker that has ended redelivers nothing, so call Wait.
func OpenTracker(ctx context.Context, cfg Config) (*Tracker, error) {
	cfg, err := cfg.resolve()
	if err != nil {
		return nil, err
	}
	if _, ok := cfg.Engine.(Markers); !ok {
		return nil, fmt.Errorf("%w: engine %s has no tracker: only markers has", ErrConfig, cfg.Engine)
	}
	e := cfg.engine()
	e.Log.Info("kmq: opening a tracker", "max_deliveries", cfg.MaxDeliveries, "dead_letter_topic", cfg.DeadLetterTopic,
		"markers_topic", e.MarkersTopic)
	t, err := markers.NewTracker(ctx, e)
	if err != nil {
		return nil, err
	}
	if known, err := inspect.Known(ctx, e); err == nil && !known { // no warning if this user lacks the permission
		e.Log.Warn("kmq: the group of the tracker has committed nothing and has no members; check its name, unless its queues are still to be opened")
	}
	return &Tracker{tracker: t}, nil
}

// Stats returns the counters of this tracker since it was opened. It sets only Moved,
// DeadLettered, Missing, Retried, Unreadable, Lateness and RetentionAlarm; the other fields are
// zero.
func (t *Tracker) Stats() Stats { return statsOf(t.tracker.Counts()) }

// Wait returns the error that ended the tracker, ctx's error if ctx ends first, or [ErrClosed]
// after Close. A tracker waits for brokers that it cannot reach, and for permissions. Only a
// SessionTimeout that the brokers refuse ends it, with [ErrConfig]. The tracker must be closed even
// then.
func (t *Tracker) Wait(ctx context.Context) error { return t.tracker.Wait(ctx) }

// Close ends running redeliveries, commits offsets and leaves the group, at most until ctx ends. It
// returns when nothing of the tracker runs.
func (t *Tracker) Close(ctx context.Context) error { return t.tracker.Close(ctx) }
