package send

import "sort"

// A timeline remembers when the records of one lane were due, coarsely and in
// bounded memory, so that the age of its oldest undelivered record can be told
// at any moment. It holds stretches of consecutive sequences that were due
// within a short time of each other. The times are exact to the length of a
// stretch, and a silence between two records is never inside one.
type timeline struct {
	stretches []stretch
	length    int64 // the longest stretch, in nanoseconds
}

// stretch is a run of sequences up to last; the first of them was due at due, the
// last at end.
type stretch struct {
	last     uint64
	due, end int64
}

const (
	// stretchLength is what a stretch spans at first, in nanoseconds.
	stretchLength = 5_000_000
	// maxStretches bounds a timeline; when it is full, two and two become one,
	// and from then on a stretch may be twice as long.
	maxStretches = 1024
)

// add notes that the lane's next sequence is due at a time, which is not before
// the one of the sequence before it.
func (t *timeline) add(sequence uint64, due int64) {
	if n := len(t.stretches); n > 0 && due-t.stretches[n-1].due < max(t.length, stretchLength) {
		t.stretches[n-1].last, t.stretches[n-1].end = sequence, due
		return
	}
	for len(t.stretches) >= maxStretches {
		t.thin()
	}
	t.stretches = append(t.stretches, stretch{sequence, due, due})
}

// thin doubles the length that a stretch may have and joins what fits.
func (t *timeline) thin() {
	t.length = 2 * max(t.length, stretchLength)
	kept := t.stretches[:1]
	for _, s := range t.stretches[1:] {
		if last := &kept[len(kept)-1]; s.end-last.due < t.length {
			last.last, last.end = s.last, s.end
		} else {
			kept = append(kept, s)
		}
	}
	t.stretches = kept
}

// oldest tells when the oldest record of the lane was due that is not delivered,
// given that all sequences below next are. It may be early by the length of a
// stretch, never late; ok is false if there is none. What is delivered is
// forgotten.
func (t *timeline) oldest(next uint64) (due int64, ok bool) {
	i := sort.Search(len(t.stretches), func(i int) bool { return t.stretches[i].last >= next })
	t.stretches = append(t.stretches[:0], t.stretches[i:]...)
	if len(t.stretches) == 0 {
		t.length = 0
		return 0, false
	}
	return t.stretches[0].due, true
}
