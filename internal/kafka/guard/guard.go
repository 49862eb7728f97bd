// Package guard decides from readings of a cluster whether a run has to end before it does harm.
//
// A Watch takes observations and returns the reason to end the run, or none. Times are durations on
// any one clock.
//
// Files to know: guard.go, disk.go.
package guard

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"kafkabench.example/kafka-bench/internal/plan/unit"
)

const (
	// maxUnder is how long a partition may lack replicas.
	maxUnder = 5 * time.Second
	// maxSilence is how long a broker may leave requests unanswered.
	maxSilence = 10 * time.Second
	// throttleOver is the time over which the share of throttled time is taken, and maxThrottled
	// bounds the share.
	throttleOver = 5 * time.Second
	maxThrottled = 0.1
)

// Observation is what one look at a cluster has seen. A part that was not asked is nil.
type Observation struct {
	At time.Duration
	// Brokers are the IDs of the brokers in the cluster's metadata. Unhealthy names the partitions
	// that lack replicas or a leader; it has a meaning only with Brokers.
	Brokers   []int32
	Unhealthy []string
	// Answered and Refused are the brokers that answered a request, and those that refused or
	// closed the connection. A broker that is in neither was not asked, or is slow.
	Answered, Refused []int32
	Disks             []Disk
	Lag               map[string]int64 // by group
	Throttled         *Throttled
}

// Throttled is what brokers held the run's clients back because of quotas, since the clients were
// opened. Producers and consumers are apart: a quota may throttle only one kind.
type Throttled struct {
	Produce, Fetch Held
}

// Held is the sum of the throttle times of one kind of request, and the connections that carry it.
type Held struct {
	Sum         time.Duration
	Connections int
}

// Limits says what ends a run.
type Limits struct {
	// Floors are the bytes that the disk of each broker keeps free, by the broker's ID. See FloorOf.
	Floors map[int32]int64
	// Brokers ends the run if a broker is gone, Health if partitions lack replicas or quotas
	// throttle the run.
	Brokers, Health bool
	// Lag is the most lag that each group may have.
	Lag map[string]int64
}

// Watch is not safe for concurrent use.
type Watch struct {
	limits    Limits
	known     []int32                 // brokers before the load
	unhealthy []string                // partitions before the load
	answered  map[int32]time.Duration // when each broker last answered
	refused   map[int32]bool          // at the last look
	under     map[string]time.Duration
	throttled []throttling
}

type throttling struct {
	at time.Duration
	Throttled
}

// New returns a watch of the cluster that looked like before when the run had no load yet.
func New(before Observation, l Limits) *Watch {
	w := &Watch{limits: l, known: before.Brokers, unhealthy: before.Unhealthy, answered: map[int32]time.Duration{},
		refused: map[int32]bool{}, under: map[string]time.Duration{}}
	for _, id := range before.Brokers {
		w.answered[id] = before.At
	}
	return w
}

// Look returns why the run has to end; "" if it may go on.
func (w *Watch) Look(o Observation) string {
	for _, look := range []func(Observation) string{w.disks, w.brokers, w.partitions, w.groups, w.quotas} {
		if reason := look(o); reason != "" {
			return reason
		}
	}
	return ""
}

func (w *Watch) disks(o Observation) string {
	for _, d := range o.Disks {
		if floor := FloorOf(d, w.limits.Floors); d.UsableBytes < floor {
			return fmt.Sprintf("%s has %s free, and %s must stay free (--min-free)", d.Name, unit.Bytes(d.UsableBytes),
				unit.Bytes(floor))
		}
	}
	return ""
}

// A refused connection counts only if the next look finds it refused too: brokers may close idle
// connections.
func (w *Watch) brokers(o Observation) string {
	if !w.limits.Brokers {
		return ""
	}
	for _, id := range o.Answered {
		w.answered[id] = o.At
		delete(w.refused, id)
	}
	for _, id := range w.known {
		switch {
		case o.Brokers != nil && !slices.Contains(o.Brokers, id):
			return fmt.Sprintf("broker %d has left the cluster", id)
		case o.At-w.answered[id] >= maxSilence:
			return fmt.Sprintf("broker %d has not answered for %v", id, maxSilence)
		case !slices.Contains(o.Refused, id):
		case w.refused[id]:
			return fmt.Sprintf("broker %d accepts no connections", id)
		default:
			w.refused[id] = true
		}
	}
	return ""
}

func (w *Watch) partitions(o Observation) string {
	if !w.limits.Health || o.Brokers == nil {
		return ""
	}
	under := make(map[string]time.Duration)
	var lasting []string
	for _, p := range o.Unhealthy {
		if slices.Contains(w.unhealthy, p) {
			continue
		}
		since, before := w.under[p]
		if !before {
			since = o.At
		}
		if under[p] = since; o.At-since >= maxUnder {
			lasting = append(lasting, p)
		}
	}
	w.under = under
	if len(lasting) == 0 {
		return ""
	}
	return fmt.Sprintf("%s without all replicas for %v: %s", unit.Things(int64(len(lasting)), "partition"), maxUnder,
		Some(lasting))
}

func (w *Watch) groups(o Observation) string {
	for group, lag := range o.Lag {
		if most, watched := w.limits.Lag[group]; watched && lag > most {
			return fmt.Sprintf("group %s has a lag of %s, above its limit of %s (--watch-group)", group,
				unit.Things(lag, "record"), unit.Count(most))
		}
	}
	return ""
}

func (w *Watch) quotas(o Observation) string {
	if !w.limits.Health || o.Throttled == nil {
		return ""
	}
	w.throttled = append(w.throttled, throttling{o.At, *o.Throttled})
	for len(w.throttled) > 1 && w.throttled[1].at <= o.At-throttleOver {
		w.throttled = w.throttled[1:]
	}
	first := w.throttled[0]
	over := max(throttleOver, o.At-first.at)
	share := max(o.Throttled.Produce.share(first.Produce, over), o.Throttled.Fetch.share(first.Fetch, over))
	if share <= maxThrottled {
		return ""
	}
	return fmt.Sprintf("quotas of the cluster throttled the run for %s of the last %v", unit.Percent(min(1, share)),
		over.Round(time.Second))
}

// share returns the part of the connections' time that h has been held since before.
func (h Held) share(before Held, over time.Duration) float64 {
	return (h.Sum - before.Sum).Seconds() / (over.Seconds() * float64(max(1, h.Connections)))
}

const maxNamed = 5

// Some returns the first names of a list, and how many more there are.
func Some(names []string) string {
	text := strings.Join(names[:min(len(names), maxNamed)], ", ")
	if more := len(names) - maxNamed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
