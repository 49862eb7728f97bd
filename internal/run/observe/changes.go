package observe

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/remote"
)

// Planned is a change of the consumers that the scenario plans.
type Planned struct {
	AtNs  int64
	What  string
	Reads bool // held consumers begin to fetch
}

func (p Planned) data() map[string]any {
	if p.Reads {
		return map[string]any{"state": Fetching}
	}
	return map[string]any{"state": "work"}
}

// PlannedChanges returns the changes of the measured window, ordered by time.
func PlannedChanges(c scenario.Consume) []Planned {
	var all []Planned
	for _, change := range c.Changes {
		all = append(all, Planned{AtNs: int64(change.At), What: "work " + workWord(change.Work)})
	}
	held := Planned{AtNs: int64(c.Hold.Until), What: Fetching, Reads: true}
	if held.AtNs == 0 {
		return all
	}
	i := 0
	for i < len(all) && all[i].AtNs < held.AtNs {
		i++
	}
	return append(all[:i:i], append([]Planned{held}, all[i:]...)...)
}

func workWord(w scenario.Work) string {
	switch {
	case w.Median > 0:
		return fmt.Sprintf("%s with a median of %s and a sigma of %g", w.Distribution, w.Median, w.Sigma)
	case w.P50 > 0:
		return fmt.Sprintf("%s with a p50 of %s and a p99 of %s", w.Distribution, w.P50, w.P99)
	}
	switch w.Distribution {
	case "fixed":
		return w.Time.String()
	case "exponential":
		return "exponential " + w.Time.String()
	default:
		return fmt.Sprintf("%s %s, %s", w.Distribution, w.Time, w.Jitter)
	}
}

// changePoll is the time between readings of the backlog. It bounds the error of the drained time;
// the counts are exact.
const changePoll = 10 * time.Millisecond

// idlePoll replaces changePoll after a change without a backlog, and if readings are costly.
const idlePoll = 100 * time.Millisecond

// normalWait is how long a record waits if its group keeps up: for a fetch, and for the work on
// earlier records.
const normalWait = 50 * time.Millisecond

// Fetching is the change at which held consumers begin to fetch.
const Fetching = "fetching"

// Changes reports the changes of the consumers, releases held consumers, and follows the backlog
// after each change.
type Changes struct {
	Axis      *load.Axis
	Journal   *Journal
	Producers *remote.Producers
	Groups    remote.Groups
	Backlogs  func(reached [][]snapshot.Reached) []snapshot.Backlog
	// Endless reports that no backlog exists, because others go on writing.
	Endless bool
	// Costly reports that each reading makes all consumer processes send their books.
	Costly    bool
	StartedNs int64 // start of the load

	mu      sync.Mutex
	seen    []result.Change
	letGoNs int64
}

// Watch follows each change until the next.
func (c *Changes) Watch(o *Observer, all []Planned) {
	for i, change := range all {
		until := int64(math.MaxInt64)
		if i+1 < len(all) {
			until = all[i+1].AtNs
		}
		if o.WaitUntil(change.AtNs) || change.AtNs >= c.Axis.End() {
			return
		}
		if c.Endless {
			c.Journal.Event(result.Event{AtNs: c.Axis.Now(), Kind: "consumer", What: change.What, Data: change.data()})
			continue
		}
		c.Follow(o, change, until)
	}
}

// Seen returns the changes that were followed to their end, ordered by time, and when held
// consumers began to fetch; 0 if they did not.
func (c *Changes) Seen() (changes []result.Change, letGoNs int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.seen), c.letGoNs
}

func (c *Changes) note(change result.Change) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := func(a, b result.Change) int { return cmp.Compare(a.AtNs, b.AtNs) }
	c.seen = append(c.seen, change)
	slices.SortStableFunc(c.seen, at)
}

type standing struct {
	at        int64
	scheduled int64
	received  []snapshot.Received
	backlogs  []snapshot.Backlog
}

func (c *Changes) standing() standing {
	s := standing{at: c.Axis.Now()}
	sent := c.Producers.Snapshot(remote.Want{}).Sent
	s.scheduled = sent[0].Scheduled + sent[1].Scheduled
	groups := c.Groups.Stand(remote.Want{Books: true, Fresh: true})
	for _, g := range groups {
		s.received = append(s.received, g.Received)
	}
	s.backlogs = c.Backlogs(groups.Reached())
	return s
}

// Follow follows the backlog after a change, until it is back to normal, until a time on the axis,
// or until the observer stops.
func (c *Changes) Follow(o *Observer, planned Planned, until int64) {
	before := c.standing()
	if planned.Reads {
		c.mu.Lock()
		c.letGoNs = c.Axis.Now()
		c.mu.Unlock()
		c.Groups.Release()
	}
	lead := snapshot.Slowest(before.backlogs)
	change := result.Change{
		AtNs: before.at, What: planned.What,
		BacklogRecords: before.backlogs[lead].Records, NormalRecords: c.normalBacklog(before),
	}
	data := planned.data()
	data["backlog_records"], data["normal_records"] = change.BacklogRecords, change.NormalRecords
	c.Journal.Event(result.Event{AtNs: change.AtNs, Kind: "consumer", What: planned.What, Data: data})

	behind, poll := change.BacklogRecords > change.NormalRecords, changePoll
	if !behind || c.Costly { // without a backlog, the rates are those of the window
		poll = idlePoll
	}
	after, drained := c.standing(), false
	for !drained {
		if !behind {
			until = min(until, c.Axis.End())
		}
		stopped := o.WaitUntil(min(after.at+int64(poll), until))
		after = c.standing()
		drained = behind && after.backlogs[snapshot.Slowest(after.backlogs)].Records <= change.NormalRecords
		if stopped || after.at >= until {
			break
		}
	}
	if seconds := time.Duration(after.at - before.at).Seconds(); seconds > 0 {
		change.OfferedPerS = float64(after.scheduled-before.scheduled) / seconds
		change.DeliveredPerS = float64(after.received[lead].Unique-before.received[lead].Unique) / seconds
		if drained {
			change.DrainedAtNs, change.DrainTimeS = &after.at, &seconds
			c.Journal.Event(result.Event{AtNs: after.at, Kind: "consumer", What: "the backlog is back to normal",
				Reason: fmt.Sprintf("%s records or fewer, %.3f s after the change", unit.Count(change.NormalRecords),
					seconds),
				Data: map[string]any{
					"state": "drained", "backlog_records": after.backlogs[snapshot.Slowest(after.backlogs)].Records,
				}})
		}
	}
	c.note(change)
}

// By Little's law the normal backlog is the arrival rate times normalWait, but at least one record
// for each worker.
func (c *Changes) normalBacklog(now standing) int64 {
	perS := float64(now.scheduled) / time.Duration(max(1, now.at-c.StartedNs)).Seconds()
	return max(int64(perS*normalWait.Seconds()), int64(c.Groups[0].Workers()))
}
