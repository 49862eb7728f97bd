package tracker

import (
	"slices"
	"sort"
)

// ended remembers which records have ended, so that a start that a removed member writes late opens
// none of them again. It keeps the highest offsets, in endedAtMost ranges or up to twice as many; a late start below them
// causes a duplicate.
type ended struct{ ranges []endedRange }

// endedRange is a range of offsets of one leader epoch; to is excluded.
type endedRange struct {
	from, to int64
	epoch    int32
}

const endedAtMost = 1024

func (e *ended) add(from, to int64, epoch int32) {
	first := sort.Search(len(e.ranges), func(i int) bool { return e.ranges[i].to >= from })
	behind := first
	if first == len(e.ranges) { // most are behind all others
		e.ranges = append(e.ranges, endedRange{from, to, epoch})
		e.forget()
		return
	}
	var left, right []endedRange // rests of ranges of other epochs
	for ; behind < len(e.ranges) && e.ranges[behind].from <= to; behind++ {
		r := e.ranges[behind]
		if r.epoch == epoch {
			from, to = min(from, r.from), max(to, r.to)
			continue
		}
		if r.from < from {
			left = append(left, endedRange{r.from, min(r.to, from), r.epoch})
		}
		if r.to > to {
			right = append(right, endedRange{max(r.from, to), r.to, r.epoch})
		}
	}
	with := append(append(left, endedRange{from, to, epoch}), right...)
	e.ranges = slices.Replace(e.ranges, first, behind, with...)
	e.forget()
}

// forget moves the ranges rarely: they are many.
func (e *ended) forget() {
	if n := len(e.ranges); n > 2*endedAtMost {
		e.ranges = slices.Delete(e.ranges, 0, n-endedAtMost)
	}
}

// has reports whether the record at an offset has ended. A record of a later epoch is another one.
func (e *ended) has(offset int64, epoch int32) bool {
	i := sort.Search(len(e.ranges), func(i int) bool { return e.ranges[i].to > offset })
	return i < len(e.ranges) && e.ranges[i].from <= offset && epoch <= e.ranges[i].epoch
}
