package bench

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"kafkabench.example/kafka-bench/internal/measure/ledger"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
	"kafkabench.example/kafka-bench/internal/run/remote"
)

// groups are the consumer groups of a run, none where nobody consumes. Each reads
// everything, so that what they were handed together is a multiple of what was
// sent. Where one figure has to speak for all, the slowest group leads: a run has
// drained when every group has, and is behind as far as the last of them.
type groups []*remote.Consumers

// groupNames are the names of n groups of a run: the run's own, or for several the
// run's with their numbers from 1 on.
func groupNames(run string, n int) []string {
	if n == 1 {
		return []string{run}
	}
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("%s-%d", run, i+1)
	}
	return names
}

// standings are how the groups stand, in their order.
type standings []snapshot.Group

// stand is how each group stands. What is wanted of it may be asked many times in an
// interval, if that has no books.
func (gs groups) stand(w remote.Want) standings {
	all := make(standings, len(gs))
	for i, g := range gs {
		all[i] = g.Standing(w)
	}
	return all
}

// reached is how far each group has come in each partition; what has arrived only with
// books.
func (s standings) reached() [][]snapshot.Reached {
	all := make([][]snapshot.Reached, len(s))
	for i, g := range s {
		all[i] = g.Reached
	}
	return all
}

// positions are how far the group has come that is the furthest behind in each of n
// partitions; nil where nobody consumes yet.
func (gs groups) positions(n int) []int64 {
	if len(gs) == 0 {
		return nil
	}
	at := slices.Repeat([]int64{math.MaxInt64}, n)
	for _, g := range gs.stand(remote.Want{}) {
		for p := range at {
			at[p] = min(at[p], g.Reached[p].Position)
		}
	}
	return at
}

// received are the counts of all groups together.
func (s standings) received() (sum snapshot.Received) {
	for _, g := range s {
		sum.Add(g.Received)
	}
	return sum
}

// received are the counts of all groups together, now.
func (gs groups) received() snapshot.Received { return gs.stand(remote.Want{Fresh: true}).received() }

// counts are what the members of each group did as clients.
func (s standings) counts() []snapshot.MemberCounts {
	all := make([]snapshot.MemberCounts, len(s))
	for i, g := range s {
		all[i] = g.Counts
	}
	return all
}

// err is the first error that ended a consumer before its time, if any.
func (gs groups) err() error {
	for _, g := range gs {
		if err := g.Err(); err != nil {
			return err
		}
	}
	return nil
}

// working tells whether a record that was handed over is still worked on.
func (gs groups) working() bool {
	return slices.ContainsFunc(gs.stand(remote.Want{Fresh: true}), func(g snapshot.Group) bool { return g.Working })
}

// release lets consumers fetch that were held.
func (gs groups) release() {
	for _, g := range gs {
		g.Release()
	}
}

// stop ends the consumers of all groups at the same time.
func (gs groups) stop(ctx context.Context) {
	var stopping sync.WaitGroup
	for _, g := range gs {
		stopping.Go(func() { g.Stop(ctx) })
	}
	stopping.Wait()
}

// backlogs returns how far each group is behind that has come so far, of what is
// acknowledged by now, or of what the topic held.
func (r *run) backlogs(reached [][]snapshot.Reached) []snapshot.Backlog {
	if r.there != nil {
		return snapshot.Unread(reached, r.there)
	}
	return snapshot.Backlogs(reached, r.acked())
}

// allAwaited is, by partition and producer, what the group waits for that is the furthest
// behind there. A queue, which has gaps, is alone.
func allAwaited(reached [][]snapshot.Reached) [][]ledger.Awaited {
	all := make([][]ledger.Awaited, len(reached[0]))
	for p := range all {
		all[p] = slices.Clone(reached[0][p].Awaited)
		for _, other := range reached[1:] {
			for producer, awaited := range other[p].Awaited {
				all[p][producer].Next = min(all[p][producer].Next, awaited.Next)
			}
		}
	}
	return all
}
