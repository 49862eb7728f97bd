package send

import "sort"

// A timeline remembers when the records of one lane were due, coarsely and in
// bounded memory, so that the age of its oldest undelivered record can be told
// at any moment. It holds periods of consecutive sequences that were due
// within a short time of each other. The times are exact to the length of a
// period, and a silence between two records is never inside one.
type timeline struct {
	periods []period
	length  int64 // the longest period, in nanoseconds
}

// period is a run of sequences up to last; the first of them was due at due, the
// last at end.
type period struct {
	last     uint64
	due, end int64
}

const (
	// periodLength is what a period spans at first, in nanoseconds.
	periodLength = 5_000_000
	// maxPeriods bounds a timeline; when it is full, two and two become one,
	// and from then on a period may be twice as long.
	maxPeriods = 1024
)

// add notes that the lane's next sequence is due at a time, which is not before
// the one of the sequence before it.
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

// thin doubles the length that a period may have and joins what fits.
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

// oldest tells when the oldest record of the lane was due that is not delivered,
// given that all sequences below next are. It may be early by the length of a
// period, never late; ok is false if there is none. What is delivered is
// forgotten.
func (t *timeline) oldest(next uint64) (due int64, ok bool) {
	i := sort.Search(len(t.periods), func(i int) bool { return t.periods[i].last >= next })
	t.periods = append(t.periods[:0], t.periods[i:]...)
	if len(t.periods) == 0 {
		t.length = 0
		return 0, false
	}
	return t.periods[0].due, true
}
