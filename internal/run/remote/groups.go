package remote

import (
	"context"
	"math"
	"slices"
	"sync"

	"kafkabench.example/kafka-bench/internal/measure/ledger"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
)

// Groups are the consumer groups of a run, none where nobody consumes. Each reads
// everything, so that what they were handed together is a multiple of what was
// sent. Where one figure has to speak for all, the slowest group leads: a run has
// drained when every group has, and is behind as far as the last of them.
type Groups []*Consumers

// Standings are how the groups stand, in their order.
type Standings []snapshot.Group

// Stand is how each group stands. What is wanted of it may be asked many times in an
// interval, if that has no books.
func (gs Groups) Stand(w Want) Standings {
	all := make(Standings, len(gs))
	for i, g := range gs {
		all[i] = g.Standing(w)
	}
	return all
}

// Reached is how far each group has come in each partition; what has arrived only with
// books.
func (s Standings) Reached() [][]snapshot.Reached {
	all := make([][]snapshot.Reached, len(s))
	for i, g := range s {
		all[i] = g.Reached
	}
	return all
}

// Positions are how far the group has come that is the furthest behind in each of n
// partitions; nil where nobody consumes yet.
func (gs Groups) Positions(n int) []int64 {
	if len(gs) == 0 {
		return nil
	}
	at := slices.Repeat([]int64{math.MaxInt64}, n)
	for _, g := range gs.Stand(Want{}) {
		for p := range at {
			at[p] = min(at[p], g.Reached[p].Position)
		}
	}
	return at
}

// Received are the counts of all groups together.
func (s Standings) Received() (sum snapshot.Received) {
	for _, g := range s {
		sum.Add(g.Received)
	}
	return sum
}

// Received are the counts of all groups together, now.
func (gs Groups) Received() snapshot.Received { return gs.Stand(Want{Fresh: true}).Received() }

// Counts are what the members of each group did as clients.
func (s Standings) Counts() []snapshot.MemberCounts {
	all := make([]snapshot.MemberCounts, len(s))
	for i, g := range s {
		all[i] = g.Counts
	}
	return all
}

// Err is the first error that ended a consumer before its time, if any.
func (gs Groups) Err() error {
	for _, g := range gs {
		if err := g.Err(); err != nil {
			return err
		}
	}
	return nil
}

// Working tells whether a record that was handed over is still worked on.
func (gs Groups) Working() bool {
	return slices.ContainsFunc(gs.Stand(Want{Fresh: true}), func(g snapshot.Group) bool { return g.Working })
}

// Release lets consumers fetch that were held.
func (gs Groups) Release() {
	for _, g := range gs {
		g.Release()
	}
}

// Stop ends the consumers of all groups at the same time.
func (gs Groups) Stop(ctx context.Context) {
	var stopping sync.WaitGroup
	for _, g := range gs {
		stopping.Go(func() { g.Stop(ctx) })
	}
	stopping.Wait()
}

// Awaited returns, by partition and producer, what the group waits for that is the furthest
// behind there. A queue, which has gaps, is alone.
func (s Standings) Awaited() [][]ledger.Awaited {
	all := make([][]ledger.Awaited, len(s[0].Reached))
	for p := range all {
		all[p] = slices.Clone(s[0].Reached[p].Awaited)
		for _, other := range s[1:] {
			for producer, awaited := range other.Reached[p].Awaited {
				all[p][producer].Next = min(all[p][producer].Next, awaited.Next)
			}
		}
	}
	return all
}

// Begin tells the groups the axis, or where its window ends now.
func (gs Groups) Begin() {
	for _, g := range gs {
		g.Begin()
	}
}

// Dead is why the first process of a group is gone that was not told to end.
func (gs Groups) Dead() error {
	for _, g := range gs {
		if err := g.Dead(); err != nil {
			return err
		}
	}
	return nil
}

// Processes are all processes of all groups that there have been.
func (gs Groups) Processes() (all Children) {
	for _, g := range gs {
		all = append(all, g.Children()...)
	}
	return all
}
