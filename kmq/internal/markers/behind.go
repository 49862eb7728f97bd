package markers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"kafkabench.example/kafka-bench/kmq/internal/engine"
	"kafkabench.example/kafka-bench/kmq/internal/window"
)

// What can't be written of one partition, of what its records came to, holds up no other: it
// leaves its batch, whose slot is free, and is written by itself, with what is settled of the
// partition meanwhile, until nothing of it is left. All that is aside is at most about half of
// what the outbox holds: beyond that, settling waits, for the partitions that are behind alone.
// No order is to be kept: a record is settled once, and its start and its extensions are
// durable before.

// into sees to it that there is a part of a batch for a partition.
func (b *batch) into(parts map[int32]*batch, partition int32) map[int32]*batch {
	if parts == nil {
		parts = map[int32]*batch{}
	}
	if parts[partition] == nil {
		parts[partition] = &batch{number: b.number, alone: true, of: partition}
	}
	return parts
}

// move has a part answer for records of a batch.
func (b *batch) move(part *batch, records int64) {
	b.records -= records
	part.records += records
}

// lengths is how many records are in ranges.
func lengths(ranges []window.Range) (n int64) {
	for _, r := range ranges {
		n += r.Len()
	}
	return n
}

// divide takes what is not durable out of a batch, by partition. It needs the batch's lock.
func (b *batch) divide() map[int32]*batch {
	var parts map[int32]*batch
	moved := 0
	for i, r := range b.markers {
		if b.counts[i] == 0 {
			continue
		}
		place := b.places[i]
		parts = b.into(parts, place)
		part := parts[place]
		part.markers, part.counts, part.places = append(part.markers, r), append(part.counts, b.counts[i]), append(part.places, place)
		part.acked, part.released = b.acked, b.released
		part.left++
		b.move(part, int64(b.counts[i]))
		moved++
	}
	for _, r := range b.failed {
		part := parts[r.Partition]
		part.failed, part.err, part.cause = append(part.failed, r), b.err, b.err
		part.left--
	}
	for _, part := range parts {
		part.idle = make(chan struct{})
		if part.left == 0 {
			close(part.idle)
		}
	}
	if moved == len(b.markers) {
		b.acked, b.released = false, false
	}
	b.left, b.failed, b.aside = 0, nil, parts
	return parts
}

// setAside has a part of a batch wait behind what is aside of its partition; under the lock.
func (o *outbox) setAside(partition int32, part *batch) {
	o.behind.Add(part.records)
	o.writing = append(o.writing, part)
	_, follows := o.aside[partition]
	o.aside[partition] = append(o.aside[partition], part)
	if follows || o.stop.Err() != nil {
		return
	}
	o.complain(partition, cmp.Or(part.cause, errSlow))
	o.catching.Go(func() { o.catchUp(partition) })
}

// complain logs what can't be written; under the lock.
func (o *outbox) complain(partition int32, err error) {
	o.trouble.About(fmt.Sprintf("write end markers to partition %d of topic %s", partition, o.scribe.topic), err)
}

// catchUp writes what is aside of a partition until nothing is, all of it at a time.
func (o *outbox) catchUp(partition int32) {
	wait := engine.NewWait()
	for parts := o.nextAside(partition); len(parts) > 0; parts = o.nextAside(partition) {
		for _, part := range parts {
			if part.idle == nil {
				part.idle = make(chan struct{})
				o.produce(part)
			}
		}
		failed := false
		for _, part := range parts {
			select {
			case <-part.idle:
				failed = o.caughtUp(partition, part) || failed
			case <-o.stop.Done(): // the client need not say what became of what it had
				return
			}
		}
		if failed && wait.Sleep(o.stop) != nil {
			return
		}
	}
}

// flushAside is flush, but what is aside counts only of partitions, and for asideFlushed at
// most: its ends need no ownership. The error is ctx's.
func (o *outbox) flushAside(ctx context.Context, partitions []int32) error {
	if err := o.flushed(ctx, func(b *batch) bool { return !b.alone }); err != nil {
		return err
	}
	short, cancel := context.WithTimeout(ctx, asideFlushed)
	defer cancel()
	err := o.flushed(short, func(b *batch) bool { return b.alone && slices.Contains(partitions, b.of) })
	if errors.Is(err, context.DeadlineExceeded) {
		return ctx.Err()
	}
	return err
}

// nextAside is what is aside of a partition; nothing: it is behind no longer.
func (o *outbox) nextAside(partition int32) []*batch {
	o.mu.Lock()
	defer o.mu.Unlock()
	if parts := o.aside[partition]; len(parts) > 0 {
		return slices.Clone(parts)
	}
	delete(o.aside, partition)
	o.changes()
	return nil
}

// caughtUp lets go of what is durable, or has what the client gave up of it written again.
func (o *outbox) caughtUp(partition int32, part *batch) (failed bool) {
	o.mu.Lock()
	if len(part.failed) > 0 {
		o.complain(partition, part.err)
		part.markers, part.failed, part.idle = part.failed, nil, nil
		o.mu.Unlock()
		return true
	}
	o.behind.Add(-part.records)
	o.aside[partition] = slices.DeleteFunc(o.aside[partition], func(p *batch) bool { return p == part })
	o.durable(part)
	o.mu.Unlock()
	o.say(part)
	return false
}
