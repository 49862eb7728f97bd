package bench

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"kafkabench.example/kafka-bench/internal/measure/snapshot"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/remote"
)

// turn is a time of the measured window at which the consumers begin to work
// otherwise.
type turn struct {
	at    int64
	what  string
	reads bool // they were held until then
}

// turns are the changes of a scenario in the measured window, in the order of their
// times.
func turns(c scenario.Consume) []turn {
	var all []turn
	for _, change := range c.Changes {
		all = append(all, turn{at: int64(change.At), what: "work " + workWord(change.Work)})
	}
	held := turn{at: int64(c.Hold.Until), what: "fetching", reads: true}
	if held.at == 0 {
		return all
	}
	i := 0
	for i < len(all) && all[i].at < held.at {
		i++
	}
	return append(all[:i:i], append([]turn{held}, all[i:]...)...)
}

// workWord says what the work is, shortly.
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

// changePoll is how often the backlog is looked at after a change: what was added
// up until the look that finds it drained is exact at that moment, so that the
// period only says how closely the moment is found.
const changePoll = 10 * time.Millisecond

// idlePoll is how often it is looked whether the window has ended, after a change
// that found nothing to be drained, and at all where looking costs the consumers.
const idlePoll = 100 * time.Millisecond

// normalWait is for how long the records of a group wait that keeps up: a fetch and
// a round of work.
const normalWait = 50 * time.Millisecond

// watchChanges makes the changes of the consumers known, which their own clocks bring
// about, lets them go where they were held, and follows what becomes of the backlog.
func (r *run) watchChanges(all []turn) {
	for i, t := range all {
		until := int64(math.MaxInt64)
		if i+1 < len(all) {
			until = all[i+1].at
		}
		if r.waitForInterval(t.at) || t.at >= r.axis.End() {
			return
		}
		if r.endless() { // nobody knows the backlog that is to be followed
			r.journal.event(result.Event{AtNs: r.axis.Now(), Kind: "consumer", What: t.what})
			continue
		}
		r.note(r.follow(t, until))
	}
}

// note keeps a change for the result.
func (r *run) note(c result.Change) {
	r.noting.Lock()
	defer r.noting.Unlock()
	at := func(a, b result.Change) int { return cmp.Compare(a.AtNs, b.AtNs) }
	r.changes = append(r.changes, c)
	slices.SortStableFunc(r.changes, at)
}

// standing is how the load and the groups stand at one moment.
type standing struct {
	at        int64
	scheduled int64
	received  []snapshot.Received // by group
	backlogs  []snapshot.Backlog
}

func (r *run) standing() standing {
	s := standing{at: r.axis.Now(), scheduled: r.scheduled()}
	groups := r.groups.stand(remote.Want{Books: true, Fresh: true})
	for _, g := range groups {
		s.received = append(s.received, g.Received)
	}
	s.backlogs = r.backlogs(groups.reached())
	return s
}

// scheduled is what came due so far, in both phases.
func (r *run) scheduled() int64 {
	sent := r.producers.Snapshot(remote.Want{}).Sent
	return sent[0].Scheduled + sent[1].Scheduled
}

// follow watches the backlog from a change on, until it is back to normal, until
// the next change, or to the end.
func (r *run) follow(t turn, until int64) result.Change {
	before := r.standing()
	if t.reads {
		r.letGoNs = r.axis.Now()
		r.groups.release()
	}
	lead := snapshot.Slowest(before.backlogs)
	c := result.Change{
		AtNs: before.at, What: t.what,
		BacklogRecords: before.backlogs[lead].Records, NormalRecords: r.normalBacklog(before),
	}
	r.journal.event(result.Event{AtNs: c.AtNs, Kind: "consumer", What: t.what,
		Data: map[string]any{"backlog_records": c.BacklogRecords, "normal_records": c.NormalRecords}})

	behind, poll := c.BacklogRecords > c.NormalRecords, changePoll
	// Nothing is to be drained, and the rates are those of the window; or each look has
	// all processes of the consumers send their books.
	if !behind || r.consumersApart() {
		poll = idlePoll
	}
	after, drained := r.standing(), false
	for !drained {
		if !behind {
			until = min(until, r.axis.End())
		}
		stopped := r.waitForInterval(min(after.at+int64(poll), until))
		after = r.standing()
		drained = behind && after.backlogs[snapshot.Slowest(after.backlogs)].Records <= c.NormalRecords
		if stopped || after.at >= until {
			break
		}
	}
	if seconds := time.Duration(after.at - before.at).Seconds(); seconds > 0 {
		c.OfferedPerS = float64(after.scheduled-before.scheduled) / seconds
		c.DeliveredPerS = float64(after.received[lead].Unique-before.received[lead].Unique) / seconds
		if drained {
			c.DrainedAtNs, c.DrainTimeS = &after.at, &seconds
			r.journal.event(result.Event{AtNs: after.at, Kind: "consumer", What: "the backlog is back to normal",
				Reason: fmt.Sprintf("%s records or fewer, %.3f s after the change", unit.Count(c.NormalRecords), seconds)})
		}
	}
	return c
}

// normalBacklog is the backlog of a group that keeps up: by Little's law the rate
// at which records come times how long they wait, and no less than one record for
// each that can be worked on at once.
func (r *run) normalBacklog(now standing) int64 {
	perS := float64(now.scheduled) / time.Duration(max(1, now.at-r.startedNs)).Seconds()
	return max(int64(perS*normalWait.Seconds()), int64(r.groups[0].Workers()))
}
