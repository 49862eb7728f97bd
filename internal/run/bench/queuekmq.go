package bench

import (
	"context"
	"errors"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/internal/kafka/driver/meter"
	"kafkabench.example/kafka-bench/internal/load/queued"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
	"kafkabench.example/kafka-bench/internal/plan/payload"
	"kafkabench.example/kafka-bench/kmq"
)

type kmqQueue struct {
	queue *kmq.Queue
	line  *meter.Line
}

func (q *kmqQueue) Receive(ctx context.Context, max int) (queued.Lot, error) {
	ds, err := q.queue.Receive(ctx, max)
	if err != nil {
		return nil, err
	}
	return kmqLot(ds), nil
}

func (q *kmqQueue) Run(ctx context.Context, handlers int, handle func(queued.Lot) error) error {
	return q.queue.Run(ctx, func(_ context.Context, d kmq.Delivery) error { return handle(kmqLot{d}) },
		kmq.RunConfig{Workers: handlers, OnPanic: kmq.Crash})
}

func (q *kmqQueue) Counts() snapshot.QueueCounts {
	s := q.queue.Stats()
	return snapshot.QueueCounts{Expired: s.Expired, Tailed: s.Moved, Missing: s.Missing, InFlight: int64(s.InFlight),
		RetentionAlarm: s.RetentionAlarm}
}

func (q *kmqQueue) Kill() { q.line.Cut() }

func (q *kmqQueue) Close(ctx context.Context) error { return q.queue.Close(ctx) }

type kmqLot []kmq.Delivery

func (l kmqLot) Len() int { return len(l) }

func (l kmqLot) At(i int) queued.Lent {
	d := l[i]
	return queued.Lent{
		Partition: d.ID().Partition, Offset: d.ID().Offset, Value: d.Record.Value, Stamp: stampIn(d.Record.Headers),
		KeyBytes: len(d.Record.Key),
		Attempt:  d.Attempt(), Deadline: d.Deadline(),
	}
}

func stampIn(headers []kgo.RecordHeader) *payload.Header {
	for i := range headers {
		if stamp := payload.HeaderOf(headers[i].Key, headers[i].Value); stamp != nil {
			return stamp
		}
	}
	return nil
}

func (l kmqLot) Ack(ctx context.Context, i int) error { return inLoadsWords(l[i].Ack(ctx)) }

func (l kmqLot) Nack(ctx context.Context, i int, delay time.Duration) error {
	return inLoadsWords(l[i].Nack(ctx, delay))
}

func inLoadsWords(err error) error {
	switch {
	case errors.Is(err, kmq.ErrExpired):
		return errors.Join(queued.ErrLockExpired, err)
	case errors.Is(err, kmq.ErrLost):
		return errors.Join(queued.ErrLockLost, err)
	case errors.Is(err, kmq.ErrClosed): // Close gave the record back
		return errors.Join(context.Canceled, err)
	default:
		return err
	}
}
