package snapshot

import (
	"cmp"
	"slices"
)

// Backlog is how many records one group has still to read, in all and by partition.
type Backlog struct {
	Records    int64
	Partitions []int64
}

// Backlogs returns the groups' backlogs of acked records. acked counts acks by partition. Read reached before acked:
// then a record may count as backlog for too long, but never for too short a time.
func Backlogs(reached [][]Reached, acked []int64) []Backlog {
	return backlogs(reached, func(p int, at Reached) int64 { return acked[p] - at.Arrived })
}

// Unread returns the groups' backlogs up to an offset of each partition.
func Unread(reached [][]Reached, readTo []int64) []Backlog {
	return backlogs(reached, func(p int, at Reached) int64 { return readTo[p] - at.Position })
}

func backlogs(reached [][]Reached, behind func(p int, at Reached) int64) []Backlog {
	all := make([]Backlog, len(reached))
	for i := range reached {
		for p, at := range reached[i] {
			n := max(0, behind(p, at)) // records can arrive before their acks are counted
			all[i].Partitions = append(all[i].Partitions, n)
			all[i].Records += n
		}
	}
	return all
}

// Slowest returns the index of the greatest backlog; of equal backlogs, the first.
func Slowest(all []Backlog) int {
	at, most := 0, int64(-1)
	for i, b := range all {
		if b.Records > most {
			at, most = i, b.Records
		}
	}
	return at
}

// ReachedAll reports whether a group has reached an offset of each partition.
func ReachedAll(reached []Reached, ends []int64) bool {
	for p, at := range reached {
		if at.Position < ends[p] {
			return false
		}
	}
	return true
}

// LastDelivery returns when a record was last delivered to any group.
func LastDelivery(reached [][]Reached) int64 {
	at := func(a, b Reached) int { return cmp.Compare(a.At, b.At) }
	return slices.MaxFunc(slices.Concat(reached...), at).At
}
