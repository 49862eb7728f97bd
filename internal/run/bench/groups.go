package bench

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"kafkabench.example/kafka-bench/internal/measure/ledger"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
	"kafkabench.example/kafka-bench/internal/result"
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

// backlog is how far one group is behind: what was acked and has not arrived.
type backlog struct {
	records    int64
	partitions []int64
}

// slowest is the position of the greatest backlog, the first of equals.
func slowest(all []backlog) int {
	at, most := 0, int64(-1)
	for i, b := range all {
		if b.records > most {
			at, most = i, b.records
		}
	}
	return at
}

// backlogs are how far each group is behind that has come so far. What a group was
// handed is read before what was acked: a record counts as backlog a moment too
// long rather than too short. Where nobody produces, it is what the topic held.
func (r *run) backlogs(reached [][]snapshot.Reached) []backlog {
	if r.there != nil {
		return r.backlogsOf(reached, nil)
	}
	return r.backlogsOf(reached, r.ackedIn())
}

// ackedIn is the number of acknowledged records in each partition.
func (r *run) ackedIn() []int64 {
	acked := make([]int64, r.topic.Partitions)
	copy(acked, r.producers.Snapshot(remote.Want{Fresh: true}).Behind.AckedIn) // which may be of nobody
	return acked
}

// backlogsOf is backlogs where it is known what was acked in each partition.
func (r *run) backlogsOf(reached [][]snapshot.Reached, acked []int64) []backlog {
	all := make([]backlog, len(reached))
	for i := range reached {
		for p, at := range reached[i] {
			var behind int64
			if r.there != nil {
				behind = r.there[p] - at.Position
			} else {
				behind = acked[p] - at.Arrived
				if already := r.fillRead().acked; already != nil {
					behind += already[p]
				}
			}
			behind = max(0, behind) // a record can arrive before its acknowledgement is settled
			all[i].partitions = append(all[i].partitions, behind)
			all[i].records += behind
		}
	}
	return all
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

// eachGroup says of each of several groups what the result says of all.
func (r *run) eachGroup(out *result.Run, books []ledger.Books) []result.Group {
	if len(r.groups) < 2 {
		return nil
	}
	all := make([]result.Group, len(r.groups))
	for i, g := range r.groups {
		all[i] = result.Group{
			Name:     r.groupIDs[i],
			Delivery: r.delivery(books[i].Measured, out.Load.Scheduled, g.Standing(remote.Want{}).Received),
			Consumer: r.consumer(r.groups[i:i+1], r.atStart.members[i:i+1], r.atEnd.members[i:i+1]),
			Lag: result.GroupLag{
				BacklogPeakRecords: max(r.peaks.backlogOf(i), r.heldBy(i)), PeakRecords: r.lag.highestOf(i),
				FinalRecords: r.finalLag(r.lag.nowOf(i)), Drained: r.drained || r.ends != nil && reachedAll(r.atStop[i], r.ends),
			},
		}
		all[i].Delivery.Pending += r.unread(r.atStop[i : i+1])
	}
	return all
}

// heldBy is what the topic held for a group to read when the window began.
func (r *run) heldBy(group int) int64 {
	if r.held == nil {
		return 0
	}
	return r.held[group].records
}

// reachedAll tells whether a group has come to these offsets.
func reachedAll(reached []snapshot.Reached, ends []int64) bool {
	for p, at := range reached {
		if at.Position < ends[p] {
			return false
		}
	}
	return true
}

// lastDelivery is when the last record was handed over, to any group.
func lastDelivery(reached [][]snapshot.Reached) int64 {
	at := func(a, b snapshot.Reached) int { return cmp.Compare(a.At, b.At) }
	return slices.MaxFunc(slices.Concat(reached...), at).At
}
