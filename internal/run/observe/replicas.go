package observe

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/probe"
	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/judge"
)

// Replicas follows the state of the topic's replicas. A reading holds until the next one. Its
// methods may be called from any goroutine.
type Replicas struct {
	axis    *load.Axis
	journal *Journal
	every   time.Duration
	reader  *probe.ReplicaReader
	asking  sync.Mutex

	mu        sync.Mutex
	minInSync int // 0: unknown
	last      []probe.PartitionReplicas
	lastNs    int64
	led       []int32 // by partition: its last known leader
	told      int
	seen      judge.Replicas
}

// OpenReplicas returns a reader of the topic's replicas, after its first reading. If that reading
// fails, OpenReplicas closes reader.
func OpenReplicas(ctx context.Context, axis *load.Axis, journal *Journal, reader *probe.ReplicaReader,
	every time.Duration) (*Replicas, error) {
	w := &Replicas{
		axis: axis, journal: journal, reader: reader, every: every, seen: judge.Replicas{SyncedNs: math.MinInt64},
	}
	if err := w.awaitFirst(ctx); err != nil {
		reader.Close()
		return nil, err
	}
	least, err := reader.MinInSync(ctx)
	if err != nil {
		journal.Once("warning", "the topic's min.insync.replicas could not be read", err)
	}
	w.minInSync = least
	return w, nil
}

// firstLook bounds the wait for the first answer; the reader's own timeout is for one request.
const firstLook = 15 * time.Second

func (w *Replicas) awaitFirst(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, firstLook)
	defer cancel()
	for {
		_, err := w.read(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-time.After(w.every):
		case <-ctx.Done():
			return err
		}
	}
}

// Close closes the reader.
func (w *Replicas) Close() { w.reader.Close() }

// Every returns the period of the readings.
func (w *Replicas) Every() time.Duration { return w.every }

func (w *Replicas) read(ctx context.Context) ([]probe.PartitionReplicas, error) {
	w.asking.Lock()
	defer w.asking.Unlock()
	all, err := w.reader.Read(ctx)
	if err == nil {
		w.take(all, w.axis.Now())
	}
	return all, err
}

// Leader implements fault.Topic.
func (w *Replicas) Leader(ctx context.Context, partition int) (int32, error) {
	all, err := w.read(ctx)
	switch {
	case err != nil:
		return 0, err
	case partition >= len(all):
		return 0, fmt.Errorf("the brokers know of %d partitions", len(all))
	}
	return all[partition].Leader, nil
}

// InSync implements fault.Topic.
func (w *Replicas) InSync(ctx context.Context) (bool, error) {
	all, err := w.read(ctx)
	return err == nil && inSync(all), err
}

func inSync(all []probe.PartitionReplicas) bool { return !slices.ContainsFunc(all, lacks) }

func lacks(p probe.PartitionReplicas) bool { return p.InSync < p.Replicas }

// Look reads the replicas. If no broker answers, the last reading still holds.
func (w *Replicas) Look(ctx context.Context) {
	if _, err := w.read(ctx); err != nil && ctx.Err() == nil {
		w.journal.Once("warning", "the replicas could not be read", err)
	}
}

func (w *Replicas) take(all []probe.PartitionReplicas, at int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	synced := inSync(all)
	if w.last == nil {
		w.led = make([]int32, len(all))
		for i, p := range all {
			w.led[i] = p.Leader
		}
	} else {
		w.account(at)
		w.followLeaders(all, at)
		if synced != w.seen.InSync {
			w.tellSync(all, synced)
		}
	}
	if synced && !w.seen.InSync && w.last != nil {
		w.seen.SyncedNs = at
	}
	w.last, w.lastNs, w.seen.InSync = all, at, synced
}

// lacking returns how many partitions were under-replicated, and how many had no leader, at the
// last reading of an interval; nil if no reading came in the interval or in the last two periods.
func (w *Replicas) lacking(from, to int64) (underReplicated, leaderless *int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.last == nil || w.lastNs < min(from, to-2*int64(w.every)) {
		return nil, nil
	}
	underReplicated, leaderless = new(int64), new(int64)
	for _, p := range w.last {
		if lacks(p) {
			*underReplicated++
		}
		if p.Leader == probe.NoLeader {
			*leaderless++
		}
	}
	return underReplicated, leaderless
}

// account adds the time in the measured window since the last reading. It requires the lock.
func (w *Replicas) account(at int64) {
	from, to := max(w.lastNs, 0), min(at, w.axis.End())
	if to <= from {
		return
	}
	length := time.Duration(to - from)
	w.seen.SparsestNs = max(w.seen.SparsestNs, at-from)
	if !w.seen.InSync {
		w.seen.Under += length
	}
	if slices.ContainsFunc(w.last, func(p probe.PartitionReplicas) bool { return p.InSync < w.minInSync }) {
		w.seen.UnderMin += length
	}
	if slices.ContainsFunc(w.last, func(p probe.PartitionReplicas) bool { return p.Leader == probe.NoLeader }) {
		w.seen.Leaderless += length
	}
}

const maxLeaderEvents = 100

// followLeaders requires the lock.
func (w *Replicas) followLeaders(all []probe.PartitionReplicas, at int64) {
	for i, p := range all[:min(len(all), len(w.led))] {
		before := w.led[i]
		if p.Leader == probe.NoLeader || p.Leader == before {
			continue
		}
		w.led[i] = p.Leader
		if w.axis.InWindow(at) {
			w.seen.LeaderChanges++
		}
		if w.told++; w.told <= maxLeaderEvents && before != probe.NoLeader {
			w.journal.Stamp(result.Event{
				Kind: "broker", What: fmt.Sprintf("leader of partition %d: broker %d → %d", i, before, p.Leader),
				Data: map[string]any{"partition": i, "leader_before": before, "leader": p.Leader},
			})
		}
	}
}

func (w *Replicas) tellSync(all []probe.PartitionReplicas, synced bool) {
	if synced {
		w.journal.Stamp(result.Event{
			Kind: "broker", What: "all replicas are in sync again", Data: map[string]any{"under_replicated": 0},
		})
		return
	}
	lacking := slices.DeleteFunc(slices.Clone(all), func(p probe.PartitionReplicas) bool { return !lacks(p) })
	fewest := slices.MinFunc(lacking, func(a, b probe.PartitionReplicas) int { return cmp.Compare(a.InSync, b.InSync) })
	left := fmt.Sprintf("%d of %d in sync", fewest.InSync, fewest.Replicas)
	if slices.ContainsFunc(lacking, func(p probe.PartitionReplicas) bool { return p.InSync > fewest.InSync }) {
		left = "at worst " + left
	}
	if fewest.InSync < w.minInSync {
		left += fmt.Sprintf(", below min.insync.replicas of %d", w.minInSync)
	}
	w.journal.Stamp(result.Event{
		Kind: "broker", What: fmt.Sprintf("%d of %d partitions are under-replicated (%s)", len(lacking), len(all), left),
		Data: map[string]any{"under_replicated": len(lacking)},
	})
}

// Shown returns the results of the readings. Call it after they have ended.
func (w *Replicas) Shown() *judge.Replicas {
	w.mu.Lock()
	defer w.mu.Unlock()
	shown := w.seen
	shown.Every, shown.MinInSync = w.every, w.minInSync
	return &shown
}
