package bench

import (
	"context"
	"slices"
	"time"

	"kafkabench.example/kafka-bench/internal/run/remote"
)

// Consumers read up to a partition's high watermark: what all in-sync replicas have. With acks 0
// and 1, the leader acknowledges records before its followers fetch them. With acks all, a new
// leader may know a lower watermark than the old leader, and the watermark stands still while a
// dead follower's session lasts. A drain that trusted the first watermark, or one that stands
// still, would count records as lost that the leader has.

const (
	// endsPatience is longer than a former leader, after its return, needs to learn of the new one.
	endsPatience = 3 * time.Second
	endsLooks    = 5
)

type seenEnds struct {
	ends    []int64
	sinceNs int64
	looks   int
	have    []int64 // the ends of the leaders' logs at the previous read; nil if unknown
}

func (s *seenEnds) missed() { *s = seenEnds{} }

func (s *seenEnds) stand(ends []int64, now int64) bool {
	if s.looks == 0 || !slices.Equal(ends, s.ends) {
		*s = seenEnds{ends: ends, sinceNs: now, have: s.have}
	}
	s.looks++
	return s.looks >= endsLooks && now-s.sinceNs >= int64(endsPatience)
}

// final reports whether no end will move. All acked records must lie before the ends (all), or the
// ends must stand still. The ends must also have reached the leaders' log ends of this read or,
// since others may keep writing, of the previous read. If logEnds fails, final returns all.
func (s *seenEnds) final(ends []int64, now int64, all bool, logEnds func() ([]int64, error)) bool {
	if stand := s.stand(ends, now); !stand && !all {
		return false
	}
	have, err := logEnds()
	if err != nil {
		s.missed()
		return all
	}
	if reached(ends, have) || reached(ends, s.have) {
		return true
	}
	s.missed() // the watermark may move only after a broker's session expires
	s.have = have
	return false
}

// A nil have means unknown.
func reached(ends, have []int64) bool {
	for p := range have {
		if ends[p] < have[p] {
			return false
		}
	}
	return have != nil
}

func (r *run) final(ctx context.Context, ends []int64) bool {
	all := readable(ends, r.from, r.acked())
	return r.seen.final(ends, r.axis.Now(), all, func() ([]int64, error) { return r.lagReader.LogEnds(ctx) })
}

// acked returns how many acked records, with the fill, the consumers must read in each partition.
// In an agent they are those of all parts, once it knows them.
func (r *run) acked() []int64 {
	if r.ackedByAll != nil {
		return r.ackedByAll
	}
	return r.withFill(r.producers.Snapshot(remote.Want{Fresh: true}).Behind.AckedIn)
}

// withFill adds the fill to ackedIn if consumers read the fill; a nil ackedIn is zero.
func (r *run) withFill(ackedIn []int64) []int64 {
	acked := make([]int64, r.topic.Partitions)
	copy(acked, ackedIn)
	if readsFill(r.cfg.Scenario) {
		for p, n := range r.filledIn {
			acked[p] += n
		}
	}
	return acked
}

// readable reports whether each partition has its acked records between from and its end; a nil
// from is zero.
func readable(ends, from, acked []int64) bool {
	for p, n := range acked {
		if from != nil {
			n += from[p]
		}
		if ends[p] < n {
			return false
		}
	}
	return true
}
