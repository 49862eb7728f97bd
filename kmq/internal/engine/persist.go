package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/kmq/internal/lease"
)

// Errors that need a change of the configuration or of a permission.
var fatal = []error{
	lease.ErrConfig, lease.ErrClosed, lease.ErrUnsupported, kgo.ErrClientClosed,
	kerr.TopicAuthorizationFailed, kerr.GroupAuthorizationFailed, kerr.ClusterAuthorizationFailed,
	kerr.TransactionalIDAuthorizationFailed, kerr.SaslAuthenticationFailed, kerr.UnsupportedSaslMechanism,
	kerr.IllegalSaslState, kerr.InvalidTopicException, kerr.InvalidGroupID, kerr.InvalidSessionTimeout,
	kerr.InconsistentGroupProtocol, kerr.GroupMaxSizeReached, kerr.UnsupportedVersion,
	kerr.InvalidRequiredAcks,
}

// RefusedSessionTimeout returns the ErrConfig for a broker's INVALID_SESSION_TIMEOUT. It names the brokers' settings.
func RefusedSessionTimeout(err error) error {
	return fmt.Errorf("%w: the brokers refuse SessionTimeout: choose one from their group.min.session.timeout.ms to their group.max.session.timeout.ms (Kafka's defaults are 6 s and 30 min): %w", lease.ErrConfig, err)
}

// Fatal reports whether a retry cannot succeed.
func Fatal(err error) bool {
	return Refused(err) || slices.ContainsFunc(fatal, func(f error) bool { return errors.Is(err, f) })
}

var denied = []error{kerr.TopicAuthorizationFailed, kerr.GroupAuthorizationFailed, kerr.ClusterAuthorizationFailed}

// Denied reports whether a permission is missing. Such an error is [Fatal], too.
func Denied(err error) bool {
	return slices.ContainsFunc(denied, func(d error) bool { return errors.Is(err, d) })
}

// NotThere reports whether an error says that a topic does not exist. A leader change does not
// cause it, but a broker that has just started may.
func NotThere(err error) bool {
	return errors.Is(err, kerr.UnknownTopicOrPartition) || errors.Is(err, kerr.UnknownTopicID)
}

// Missing remembers since when a topic is missing. Its zero value means that the topic exists. It
// is not safe for concurrent use.
type Missing struct{ since time.Time }

const missingFor = 2 * time.Second

// Refuses takes the result of a write and reports whether the topic has been missing for missingFor.
func (m *Missing) Refuses(err error) bool {
	switch {
	case !NotThere(err):
		if err == nil {
			m.since = time.Time{}
		}
		return false
	case m.since.IsZero():
		m.since = time.Now()
	}
	return time.Since(m.since) >= missingFor
}

// Wait is an exponential backoff with jitter, from 10 ms, doubled up to 2 s.
type Wait struct{ next time.Duration }

const (
	firstWait   = 10 * time.Millisecond
	longestWait = 2 * time.Second
)

// NewWait returns a Wait at its first delay.
func NewWait() *Wait { return &Wait{next: firstWait} }

// Sleep waits for the next delay. If ctx ends first, it returns ctx's error.
func (w *Wait) Sleep(ctx context.Context) error {
	d := w.next/2 + rand.N(w.next/2+1)
	w.next = min(2*w.next, longestWait)
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

const complainEvery = time.Minute

// Complaint logs an error at most once a minute. It is not safe for concurrent use.
type Complaint struct {
	log  *slog.Logger
	last time.Time
}

// NewComplaint returns a Complaint that logs to log.
func NewComplaint(log *slog.Logger) *Complaint { return &Complaint{log: log} }

// About logs a failure that is retried.
func (c *Complaint) About(what string, err error) {
	if now := time.Now(); c.last.IsZero() || now.Sub(c.last) >= complainEvery {
		c.last = now
		c.log.Warn("kmq: trying again", "what", what, "error", err)
	}
}

// Persist retries f with backoff until it succeeds, and logs once a minute. It returns a [Fatal]
// error, or ctx's error, joined with f's if ctx ended during f.
func Persist(ctx context.Context, log *slog.Logger, what string, f func(context.Context) error) error {
	wait, complaint := NewWait(), NewComplaint(log)
	for {
		err := f(ctx)
		switch {
		case err == nil || Fatal(err):
			return err
		case ctx.Err() != nil:
			return errors.Join(ctx.Err(), err)
		}
		complaint.About(what, err)
		if err := wait.Sleep(ctx); err != nil {
			return err
		}
	}
}
