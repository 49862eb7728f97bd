package kgogate

import (
	"context"

	"kafkabench.example/kafka-bench/backpressure"
)

type gate interface {
	// lane returns the same number for records that wait for the same room.
	lane(partition int32) int32
	open(partition int32) bool
	try(partition int32) bool
	acquire(ctx context.Context, partition int32) error
	acked(topic string, partition int32, offset int64)
	done(partition int32)
	unsure(partition int32)
	// holds reports whether the gate's count stays correct if a record admitted for one partition
	// is in another.
	holds(admitted, partition int32) bool
}

type whole struct{ *backpressure.Gate }

func (w whole) lane(int32) int32                           { return 0 }
func (w whole) open(int32) bool                            { return w.Open() }
func (w whole) try(int32) bool                             { return w.TryAcquire(1) }
func (w whole) acquire(ctx context.Context, _ int32) error { return w.Acquire(ctx, 1) }
func (w whole) acked(topic string, id int32, offset int64) { w.Acked(topic, id, offset) }
func (w whole) done(int32)                                 { w.Done(1) }
func (w whole) unsure(int32)                               { w.Unsure(1) }
func (w whole) holds(int32, int32) bool                    { return true }

type byPartition struct{ *backpressure.Partitioned }

func (b byPartition) lane(id int32) int32                         { return id }
func (b byPartition) open(id int32) bool                          { return b.Open(id) }
func (b byPartition) try(id int32) bool                           { return b.TryAcquire(id, 1) }
func (b byPartition) acquire(ctx context.Context, id int32) error { return b.Acquire(ctx, id, 1) }
func (b byPartition) acked(topic string, id int32, offset int64)  { b.Acked(topic, id, offset) }
func (b byPartition) done(id int32)                               { b.Done(id, 1) }
func (b byPartition) unsure(id int32)                             { b.Unsure(id, 1) }
func (b byPartition) holds(admitted, id int32) bool               { return admitted == id }
