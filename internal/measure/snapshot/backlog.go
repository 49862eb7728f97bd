package snapshot

import (
	"cmp"
	"slices"
)

// Backlog is how far one group is behind: what there is to read and it was not handed.
type Backlog struct {
	Records    int64
	Partitions []int64
}

// Backlogs returns the backlogs of groups that have come so far, by how many records were
// acknowledged in each partition. Read reached before acked: a record then counts as
// backlog a moment too long rather than too short.
func Backlogs(reached [][]Reached, acked []int64) []Backlog {
	return backlogs(reached, func(p int, at Reached) int64 { return acked[p] - at.Arrived })
}

// Unread returns the backlogs of groups that are to read up to an offset of each partition.
func Unread(reached [][]Reached, readTo []int64) []Backlog {
	return backlogs(reached, func(p int, at Reached) int64 { return readTo[p] - at.Position })
}

func backlogs(reached [][]Reached, behind func(p int, at Reached) int64) []Backlog {
	all := make([]Backlog, len(reached))
	for i := range reached {
		for p, at := range reached[i] {
			n := max(0, behind(p, at)) // a record can arrive before its acknowledgement is counted
			all[i].Partitions = append(all[i].Partitions, n)
			all[i].Records += n
		}
	}
	return all
}

// Slowest returns the position of the greatest backlog, the first of equals.
func Slowest(all []Backlog) int {
	at, most := 0, int64(-1)
	for i, b := range all {
		if b.Records > most {
			at, most = i, b.Records
		}
	}
	return at
}

// ReachedAll reports whether a group has come to an offset of each partition.
func ReachedAll(reached []Reached, ends []int64) bool {
	for p, at := range reached {
		if at.Position < ends[p] {
			return false
		}
	}
	return true
}

// LastDelivery returns when the last record was handed over, to any group.
func LastDelivery(reached [][]Reached) int64 {
	at := func(a, b Reached) int { return cmp.Compare(a.At, b.At) }
	return slices.MaxFunc(slices.Concat(reached...), at).At
}
