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

// fatal are the errors that no waiting mends: somebody has to change the configuration,
// or a permission.
var fatal = []error{
	lease.ErrConfig, lease.ErrClosed, lease.ErrUnsupported, kgo.ErrClientClosed,
	kerr.TopicAuthorizationFailed, kerr.GroupAuthorizationFailed, kerr.ClusterAuthorizationFailed,
	kerr.TransactionalIDAuthorizationFailed, kerr.SaslAuthenticationFailed, kerr.UnsupportedSaslMechanism,
	kerr.IllegalSaslState, kerr.InvalidTopicException, kerr.InvalidGroupID, kerr.InvalidSessionTimeout,
	kerr.InconsistentGroupProtocol, kerr.GroupMaxSizeReached, kerr.UnsupportedVersion,
	kerr.InvalidRequiredAcks,
}

// RefusedSessionTimeout is the error of a configuration that brokers answer with
// INVALID_SESSION_TIMEOUT, and says what they allow.
func RefusedSessionTimeout(err error) error {
	return fmt.Errorf("%w: the brokers refuse SessionTimeout: choose one from their group.min.session.timeout.ms to their group.max.session.timeout.ms (Kafka's defaults are 6 s and 30 min): %w", lease.ErrConfig, err)
}

// Fatal is whether an error is not mended by trying again.
func Fatal(err error) bool {
	return Refused(err) || slices.ContainsFunc(fatal, func(f error) bool { return errors.Is(err, f) })
}

// NotThere is whether an error says that a topic is not there. That is no error of a leader
// that moves, which goes by itself; but a broker that has just started may say it too.
func NotThere(err error) bool {
	return errors.Is(err, kerr.UnknownTopicOrPartition) || errors.Is(err, kerr.UnknownTopicID)
}

// Missing notes since when a topic is not there. The zero value is a topic that is. It is
// the caller's to lock.
type Missing struct{ since time.Time }

// missingFor is for how long a topic must be missing before it refuses what is written.
const missingFor = 2 * time.Second

// Refuses is told how writing to the topic ended, and says whether that is a refusal: once
// the topic has been missing for a while, and until something is written, it is one at once.
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

// Wait is an exponential backoff with jitter: 10 ms at first, doubled up to 2 s.
type Wait struct{ next time.Duration }

const (
	firstWait   = 10 * time.Millisecond
	longestWait = 2 * time.Second
)

// NewWait begins anew.
func NewWait() *Wait { return &Wait{next: firstWait} }

// Sleep waits for the next delay, or until ctx ends, whose error it then returns.
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

// complainEvery is how often an error that goes on is logged.
const complainEvery = time.Minute

// Complaint logs an error at most once a minute. It is for one goroutine.
type Complaint struct {
	log  *slog.Logger
	last time.Time
}

// NewComplaint logs to log.
func NewComplaint(log *slog.Logger) *Complaint { return &Complaint{log: log} }

// About logs that something fails and is tried again.
func (c *Complaint) About(what string, err error) {
	if now := time.Now(); c.last.IsZero() || now.Sub(c.last) >= complainEvery {
		c.last = now
		c.log.Warn("kmq: trying again", "what", what, "error", err)
	}
}

// Persist calls f until it succeeds: for ever, with backoff, logging once a minute. It
// returns an error only if that is [Fatal], or if ctx ends, with what was tried last.
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
