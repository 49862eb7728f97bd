package remote

import (
	"context"
	"math"
	"slices"
	"sync"

	"kafkabench.example/kafka-bench/internal/measure/ledger"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
)

// Groups are the consumer groups of a run; each group reads every record. A figure of all groups is
// the figure of the slowest group.
type Groups []*Consumers

// Standings are the states of the groups, in their order.
type Standings []snapshot.Group

// Stand returns the state of each group. Without Want.Books it costs little.
func (gs Groups) Stand(w Want) Standings {
	all := make(Standings, len(gs))
	for i, g := range gs {
		all[i] = g.Standing(w)
	}
	return all
}

// Reached returns each group's progress by partition. Arrived records are current only with books.
func (s Standings) Reached() [][]snapshot.Reached {
	all := make([][]snapshot.Reached, len(s))
	for i, g := range s {
		all[i] = g.Reached
	}
	return all
}

// Positions returns, for each of n partitions, the position of the group that is furthest behind;
// nil without groups.
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

// Received returns the counts of all groups together.
func (s Standings) Received() (sum snapshot.Received) {
	for _, g := range s {
		sum.Add(g.Received)
	}
	return sum
}

// Received returns the current counts of all groups together.
func (gs Groups) Received() snapshot.Received { return gs.Stand(Want{Fresh: true}).Received() }

// Counts returns the client activity of the members of each group.
func (s Standings) Counts() []snapshot.MemberCounts {
	all := make([]snapshot.MemberCounts, len(s))
	for i, g := range s {
		all[i] = g.Counts
	}
	return all
}

// Err returns the first error that ended a consumer early; nil if there is none.
func (gs Groups) Err() error {
	for _, g := range gs {
		if err := g.Err(); err != nil {
			return err
		}
	}
	return nil
}

// Working reports whether a consumer processes a record.
func (gs Groups) Working() bool {
	return slices.ContainsFunc(gs.Stand(Want{Fresh: true}), func(g snapshot.Group) bool { return g.Working })
}

// Release lets held consumers fetch.
func (gs Groups) Release() {
	for _, g := range gs {
		g.Release()
	}
}

// Stop ends the consumers of all groups in parallel.
func (gs Groups) Stop(ctx context.Context) {
	var stopping sync.WaitGroup
	for _, g := range gs {
		stopping.Go(func() { g.Stop(ctx) })
	}
	stopping.Wait()
}

// Awaited returns, by partition and producer, the records that the group which is furthest behind
// waits for. It compares only Next: Gaps exist only in a queue, and a queue is always the only
// group.
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

// Begin sends the axis, or the new end of its window, to the groups.
func (gs Groups) Begin() {
	for _, g := range gs {
		g.Begin()
	}
}

// Dead returns why a process of a group ended unexpectedly; nil if none did.
func (gs Groups) Dead() error {
	for _, g := range gs {
		if err := g.Dead(); err != nil {
			return err
		}
	}
	return nil
}

// Processes returns all processes of all groups so far.
func (gs Groups) Processes() (all Children) {
	for _, g := range gs {
		all = append(all, g.Children()...)
	}
	return all
}
