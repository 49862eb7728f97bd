package send

import "sort"

// A timeline remembers when the records of one lane were due, in bounded memory. A pause of at
// least a period's length never lies inside a period.
type timeline struct {
	periods []period
	length  int64 // longest period, in ns; 0: periodLength
}

// period is a range of sequences up to last; due is its first due time, end its last.
type period struct {
	last     uint64
	due, end int64
}

const (
	// longest period at first, in ns
	periodLength = 5_000_000
	// A full timeline doubles the longest length of a period, and joins neighbours that fit into
	// one.
	maxPeriods = 1024
)

// add requires rising due times.
func (t *timeline) add(sequence uint64, due int64) {
	if n := len(t.periods); n > 0 && due-t.periods[n-1].due < max(t.length, periodLength) {
		t.periods[n-1].last, t.periods[n-1].end = sequence, due
		return
	}
	for len(t.periods) >= maxPeriods {
		t.thin()
	}
	t.periods = append(t.periods, period{sequence, due, due})
}

func (t *timeline) thin() {
	t.length = 2 * max(t.length, periodLength)
	kept := t.periods[:1]
	for _, s := range t.periods[1:] {
		if last := &kept[len(kept)-1]; s.end-last.due < t.length {
			last.last, last.end = s.last, s.end
		} else {
			kept = append(kept, s)
		}
	}
	t.periods = kept
}

// oldest returns the due time of the first record from sequence next on, and forgets the records
// before it. The result may be early by a period's length, never late.
func (t *timeline) oldest(next uint64) (due int64, ok bool) {
	i := sort.Search(len(t.periods), func(i int) bool { return t.periods[i].last >= next })
	t.periods = append(t.periods[:0], t.periods[i:]...)
	if len(t.periods) == 0 {
		t.length = 0
		return 0, false
	}
	return t.periods[0].due, true
}
