package tracker

import (
	"math"
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
	var left, right endedRange // rests of ranges of other epochs
	for ; behind < len(e.ranges) && e.ranges[behind].from <= to; behind++ {
		r := e.ranges[behind]
		if r.epoch == epoch {
			from, to = min(from, r.from), max(to, r.to)
			continue
		}
		if r.from < from {
			left = endedRange{r.from, min(r.to, from), r.epoch}
		}
		if r.to > to {
			right = endedRange{max(r.from, to), r.to, r.epoch}
		}
	}
	with := make([]endedRange, 0, 3)
	if left.to > 0 {
		with = append(with, left)
	}
	with = append(with, endedRange{from, to, epoch})
	if right.to > 0 {
		with = append(with, right)
	}
	e.ranges = slices.Replace(e.ranges, first, behind, with...)
	e.forget()
}

// forget moves the ranges rarely: they are many.
func (e *ended) forget() {
	if n := len(e.ranges); n > 2*endedAtMost {
		e.ranges = slices.Delete(e.ranges, 0, n-endedAtMost)
	}
}

// has reports whether the record at an offset has ended, and up to which offset the answer is the same. A record of a
// later epoch is another one.
func (e *ended) has(offset int64, epoch int32) (ended bool, until int64) {
	i := sort.Search(len(e.ranges), func(i int) bool { return e.ranges[i].to > offset })
	switch {
	case i == len(e.ranges):
		return false, math.MaxInt64
	case e.ranges[i].from > offset:
		return false, e.ranges[i].from
	default:
		return epoch <= e.ranges[i].epoch, e.ranges[i].to
	}
}
