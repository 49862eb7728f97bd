package bench

import (
	"context"
	"slices"
	"time"

	"kafkabench.example/kafka-bench/internal/run/remote"
)

// The end of a partition, as a consumer may read it, is its high watermark: what all
// replicas in sync have. With acks 0 and 1 the leader has acknowledged more than it tells
// of until its followers have fetched it, and with acks all a new leader knows less of
// it than the one before. A follower that has died stays in sync by name until its
// session expires, and for so long the high watermark stands still. A drain that took
// the first answer for the end, or any that stood still, would leave the last records
// behind and call them lost, though the leader has every one of them.

const (
	// endsPatience is for how long ends that do not move, and are short of what was
	// acknowledged, are doubted at the least: longer than an old leader that comes back
	// takes to learn that it leads no more.
	endsPatience = 3 * time.Second
	// endsLooks is how many looks in a row must have shown them.
	endsLooks = 5
)

// seenEnds are ends that were read, since when and in how many looks they have been
// so, without one between them that failed.
type seenEnds struct {
	ends    []int64
	sinceNs int64
	looks   int
	have    []int64 // how far the leaders' logs went at the look before; nil where that is not known
}

// missed discards what earlier looks have shown, after one that failed.
func (s *seenEnds) missed() { *s = seenEnds{} }

// stand takes in what a look showed, and tells whether it has stood still for long.
func (s *seenEnds) stand(ends []int64, now int64) bool {
	if s.looks == 0 || !slices.Equal(ends, s.ends) {
		*s = seenEnds{ends: ends, sinceNs: now, have: s.have}
	}
	s.looks++
	return s.looks >= endsLooks && now-s.sinceNs >= int64(endsPatience)
}

// final tells whether ends are the last ones: all that was acknowledged lies before
// them, or they stand still; and they have come to where the leaders' logs ended, now or
// at the look before, behind which in a topic that others write to there is always
// something. Where the leaders don't tell, all has to be there.
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
	s.missed() // what is behind them may take a broker's session to be told of
	s.have = have
	return false
}

// reached tells whether ends have come to where logs ended; nil is not known.
func reached(ends, have []int64) bool {
	for p := range have {
		if ends[p] < have[p] {
			return false
		}
	}
	return have != nil
}

// final tells whether the ends that were read are the last ones.
func (r *run) final(ctx context.Context, ends []int64) bool {
	all := readable(ends, r.from, r.acked())
	return r.seen.final(ends, r.axis.Now(), all, func() ([]int64, error) { return r.lagReader.LogEnds(ctx) })
}

// acked returns how many records were acknowledged in each partition that the consumers
// are to read, those of the fill included; as soon as it is known by all parts of the run.
func (r *run) acked() []int64 {
	if r.part != nil && r.part.total != nil {
		return r.part.total
	}
	return r.withFill(r.producers.Snapshot(remote.Want{Fresh: true}).Behind.AckedIn)
}

// withFill adds the records of a fill that the consumers read to those that were
// acknowledged in each partition. It takes nil for none.
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

// readable tells whether each partition has as many records between from and its end
// as were acknowledged in it; a nil from is zero. What one partition has too many, be it
// of others or twice, does not make up for what another lacks.
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
