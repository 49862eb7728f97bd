package kmqtest

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/kmq"
	"kafkabench.example/kafka-bench/kmq/internal/engine"
	"kafkabench.example/kafka-bench/kmq/internal/lease"
)

// Outcome is what was done with a delivery. At most one of Acked, Nacked and Rejected is true; none while the delivery is
// open.
type Outcome struct {
	Acked    bool
	Nacked   bool
	Rejected bool
	Delay    time.Duration // of Nack
	Reason   string        // of Reject
	Extended time.Duration // by the last Extend
}

// Delivery returns the first delivery of a record, with which a handler can be called. Its lock ends after 30 s, as with
// the default of kmq.Config.Visibility. [Settled] returns what the handler did with it. The delivery has a copy of the
// record, and needs no cleanup.
func Delivery(record *kgo.Record) kmq.Delivery {
	one := new(single)
	ctx := engine.WithOpener(context.Background(), func(_ context.Context, cfg engine.Config) (engine.Engine, error) {
		given := *record
		given.Context = context.WithValue(cmp.Or(record.Context, context.Background()), singleKey{}, one)
		one.lease, one.visibility = lease.FromRecord(&given), cfg.Visibility
		return one, nil
	})
	q, err := kmq.Open(ctx, Config{}.queue(slog.New(slog.DiscardHandler)))
	if err != nil {
		return kmq.Delivery{Record: record} // Config{} has no mistake
	}
	deliveries, err := q.Receive(ctx, 1)
	if err != nil {
		return kmq.Delivery{Record: record} // ctx never ends
	}
	return deliveries[0]
}

// Settled returns what was done with a delivery of [Delivery] until now. What a handler returns does not count, since
// only Run makes an acknowledgement, a delay or a dead letter of it. For other deliveries Settled returns the zero Outcome.
func Settled(d kmq.Delivery) Outcome {
	if d.Record == nil || d.Record.Context == nil {
		return Outcome{}
	}
	one, is := d.Record.Context.Value(singleKey{}).(*single)
	if !is {
		return Outcome{}
	}
	one.mu.Lock()
	defer one.mu.Unlock()
	return one.outcome
}

// singleKey is the key of a *single in the context of its record.
type singleKey struct{}

// single is an engine with one record. Nothing can reach the methods of [engine.Engine] that it lacks.
type single struct {
	engine.Engine
	lease      *lease.Lease
	visibility time.Duration

	mu      sync.Mutex
	outcome Outcome
}

func (s *single) Take(context.Context, int) ([]*lease.Lease, error) {
	return []*lease.Lease{s.lease}, nil
}

func (s *single) Lend(_ context.Context, leases []*lease.Lease, _ lease.Holder) ([]*lease.Lease, error) {
	s.lease.SetDeadline(time.Now().Add(s.visibility))
	return leases, nil
}

func (s *single) Ack(context.Context, *lease.Lease) error {
	return s.settle(lease.Accepted, Outcome{Acked: true})
}

func (s *single) Nack(_ context.Context, _ *lease.Lease, delay time.Duration) error {
	return s.settle(lease.Released, Outcome{Nacked: true, Delay: delay})
}

func (s *single) Reject(_ context.Context, _ *lease.Lease, reason string) error {
	return s.settle(lease.Rejected, Outcome{Rejected: true, Reason: reason})
}

func (s *single) settle(as lease.State, o Outcome) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.check(); err != nil {
		return err
	}
	o.Extended = s.outcome.Extended
	s.outcome = o
	return s.lease.Settle(as)
}

func (s *single) Extend(_ context.Context, _ *lease.Lease, d time.Duration) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.check(); err != nil {
		return err
	}
	s.outcome.Extended = d
	s.lease.SetDeadline(time.Now().Add(d))
	return nil
}

// check returns why the delivery is no longer open. The caller holds mu.
func (s *single) check() error {
	if s.lease.Err() == nil && s.lease.RanOut() {
		_ = s.lease.Settle(lease.Expired) // under mu nobody else settles it
	}
	return s.lease.Err()
}
