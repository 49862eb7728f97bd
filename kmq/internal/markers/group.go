package markers

import (
	"context"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// What the tracker's group gives a tracker, and takes from it.

// startFor bounds how long is asked for where the markers begin.
const startFor = 5 * time.Second

// from is told where partitions are read from, before they are. Where markers are deleted
// that the group has not done with, that is said.
func (t *Tracker) from(ctx context.Context, at map[string]map[int32]kgo.Offset) (map[string]map[int32]kgo.Offset, error) {
	ctx, cancel := context.WithTimeout(ctx, startFor)
	defer cancel()
	starts, err := kadm.NewClient(t.writer).ListStartOffsets(ctx, t.cfg.MarkersTopic)
	if err != nil {
		t.cfg.Log.Warn("kmq: it is not known whether markers were deleted", "topic", t.cfg.MarkersTopic, "error", err)
		return at, nil
	}
	for partition, o := range at[t.cfg.MarkersTopic] {
		committed := o.EpochOffset().Offset
		if start, ok := starts.Lookup(t.cfg.MarkersTopic, partition); ok && start.Err == nil && committed >= 0 && committed < start.Offset {
			t.deleted(partition, committed, start.Offset)
		}
	}
	return at, nil
}

func (t *Tracker) onAssigned(_ context.Context, cl *kgo.Client, assigned map[string][]int32) {
	cl.ResumeFetchPartitions(assigned) // what was paused when it was taken away stays so
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, partition := range assigned[t.cfg.MarkersTopic] {
		t.parts[partition] = newPart(t, partition)
	}
}

// onRevoked lets the redeliveries under way end, commits, and forgets, before others read
// these partitions. There is as long for the commit as for the redeliveries.
func (t *Tracker) onRevoked(ctx context.Context, _ *kgo.Client, revoked map[string][]int32) {
	ctx, cancel := context.WithTimeout(ctx, 2*revokeFor)
	defer cancel()
	if err := t.letGo(ctx, revoked[t.cfg.MarkersTopic]); err != nil {
		t.cfg.Log.Warn("kmq: partitions taken from the tracker, with their offsets not committed", "error", err)
	}
}

// onLost forgets: the group has given the partitions to others already.
func (t *Tracker) onLost(_ context.Context, _ *kgo.Client, lost map[string][]int32) {
	for _, partition := range lost[t.cfg.MarkersTopic] {
		if p := t.part(partition); p != nil {
			p.breakOff()
			p.wait()
		}
	}
	t.forget(lost[t.cfg.MarkersTopic])
}

// letGo ends what is under way in partitions, commits them, and forgets them. What has not
// ended within revokeFor, or when ctx ends, is broken off.
func (t *Tracker) letGo(ctx context.Context, partitions []int32) error {
	if len(partitions) == 0 {
		return nil
	}
	late := time.AfterFunc(revokeFor, func() { t.breakOff(partitions) })
	defer late.Stop()
	stop := context.AfterFunc(ctx, func() { t.breakOff(partitions) })
	defer stop()
	for _, partition := range partitions {
		if p := t.part(partition); p != nil {
			p.finish()
		}
	}
	for _, partition := range partitions {
		if p := t.part(partition); p != nil {
			p.wait()
		}
	}
	err := t.commit(ctx, partitions)
	t.forget(partitions)
	return err
}

func (t *Tracker) breakOff(partitions []int32) {
	for _, partition := range partitions {
		if p := t.part(partition); p != nil {
			p.breakOff()
		}
	}
}

func (t *Tracker) forget(partitions []int32) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, partition := range partitions {
		delete(t.parts, partition)
	}
}

// commit commits, for each partition, up to the oldest start of which something is open.
func (t *Tracker) commit(ctx context.Context, partitions []int32) error {
	offsets := map[int32]kgo.EpochOffset{}
	t.mu.Lock()
	for _, partition := range partitions {
		if p := t.parts[partition]; p != nil {
			if at, news := p.committable(); news {
				offsets[partition] = kgo.EpochOffset{Epoch: -1, Offset: at}
			}
		}
	}
	t.mu.Unlock()
	if len(offsets) == 0 {
		return nil
	}
	err := commitOffsets(ctx, t.group, t.cfg.MarkersTopic, offsets)
	if err != nil {
		return fmt.Errorf("kmq: commit group %s: %w", Group(t.cfg.Group), err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for partition, o := range offsets {
		if p := t.parts[partition]; p != nil {
			p.committed = o.Offset
		}
	}
	return nil
}
