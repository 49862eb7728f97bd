// Package window keeps which offsets of a partition are done. It is pure.
//
// A partition is read from front to back and its records are finished in any order. A
// window holds what lies between: the records that were taken and are not done, and from
// them everything else follows. What is below the first open one may be committed; what
// is above it and not open is done beyond the commit. Offsets that hold no record (the
// markers of transactions, what compaction removed) can't be told from done ones and
// need not be.
//
// Open records are kept as bits, 64 offsets to a block, and only blocks with an open
// record are kept: since offsets are taken in rising order, a block is only ever added at
// the end, and the memory is that of the open records however long ago the first of them
// was taken. A window has no lock; its owner has.
//
// Files to know: window.go.
package window

import (
	"math/bits"
	"slices"
)

// Range is the offsets from From up to but not including To.
type Range struct{ From, To int64 }

// Len is how many offsets are in the range.
func (r Range) Len() int64 { return r.To - r.From }

// blockBits is the binary logarithm of the offsets in a block.
const blockBits = 6

// block is the 64 offsets from base<<blockBits on; open has a bit for each that was taken
// and is not done.
type block struct {
	base int64
	open uint64
}

// Window is which offsets of a partition are done. Make one with [New] or [Restore].
type Window struct {
	next   int64   // everything below was taken, or is no record, or was done before
	blocks []block // rising; the first has an open record, others may have none any more
	head   int     // where blocks begins: those before are spent
	empty  int     // of blocks[head:], those without an open record
	open   int
	ahead  []Range // done by an earlier owner, above next: rising, with gaps between them
}

// New returns the window of a partition that is read from the committed offset on. An
// offset below 0, Kafka's word for no commit, counts as 0: the first record that is taken
// says where the partition begins.
func New(committed int64) *Window { return &Window{next: max(committed, 0)} }

// Restore returns the window of a partition of which an earlier owner had committed an
// offset and done more beyond it. The ranges may come in any order and may overlap; what
// they say of offsets below the committed one is known already.
func Restore(committed int64, done []Range) *Window {
	w := New(committed)
	w.ahead = normal(done)
	w.absorb()
	return w
}

// normal returns the ranges in rising order, joined where they touch.
func normal(ranges []Range) []Range {
	sorted := slices.Clone(ranges)
	slices.SortFunc(sorted, func(a, b Range) int {
		switch {
		case a.From < b.From:
			return -1
		case a.From > b.From:
			return 1
		}
		return 0
	})
	out := sorted[:0]
	for _, r := range sorted {
		if r.From < r.To {
			out = join(out, r)
		}
	}
	return out
}

// join appends a range that begins no lower than those before, joined to the last where
// they touch.
func join(ranges []Range, r Range) []Range {
	if last := len(ranges) - 1; last >= 0 && r.From <= ranges[last].To {
		ranges[last].To = max(ranges[last].To, r.To)
		return ranges
	}
	return append(ranges, r)
}

// absorb moves next over what an earlier owner had done there.
func (w *Window) absorb() {
	for len(w.ahead) > 0 && w.ahead[0].From <= w.next {
		w.next = max(w.next, w.ahead[0].To)
		w.ahead = w.ahead[1:]
	}
}

// Take says that the record at offset was fetched, and opens it. Offsets rise; those
// jumped over are no records and count as done. It returns false, and does nothing, where
// the offset is done already, was done by an earlier owner, or is below Next.
func (w *Window) Take(offset int64) bool {
	if offset < w.next {
		return false
	}
	w.Pass(offset)
	if offset < w.next {
		return false // done by an earlier owner
	}
	base, bit := offset>>blockBits, uint64(1)<<(offset&(1<<blockBits-1))
	if n := len(w.blocks); n > w.head && w.blocks[n-1].base == base {
		if w.blocks[n-1].open == 0 {
			w.empty--
		}
		w.blocks[n-1].open |= bit
	} else {
		w.blocks = append(w.blocks, block{base, bit})
	}
	w.open++
	w.next++
	w.absorb()
	return true
}

// Pass says that nothing below next that was not taken is a record: the fetch position is
// there. It never goes back.
func (w *Window) Pass(next int64) {
	if next > w.next {
		w.next = next
		w.absorb()
	}
}

// Cut forgets everything from offset on: what is taken there from now on are other
// records. [Window.Committable] and [Window.Next] go back to it at most.
func (w *Window) Cut(offset int64) {
	for n := len(w.ahead); n > 0 && w.ahead[n-1].To > offset; n = len(w.ahead) {
		w.ahead[n-1].To = offset
		if w.ahead[n-1].From < offset {
			break
		}
		w.ahead = w.ahead[:n-1]
	}
	w.next = min(w.next, offset)
	for i := len(w.blocks) - 1; i >= w.head && (w.blocks[i].base+1)<<blockBits > offset; i-- {
		b := &w.blocks[i]
		kept := uint64(0)
		if from := b.base << blockBits; from < offset {
			kept = b.open & (1<<(offset-from) - 1)
		}
		w.open -= bits.OnesCount64(b.open &^ kept)
		if b.open != 0 && kept == 0 {
			w.empty++
		}
		b.open = kept
	}
	// A block without an open record at the end would be in the way of those to come.
	for n := len(w.blocks); n > w.head && w.blocks[n-1].open == 0; n = len(w.blocks) {
		w.blocks = w.blocks[:n-1]
		w.empty--
	}
	w.shrink()
}

// Unknown is how many offsets of a range that is not below Next are not known to be done.
func (w *Window) Unknown(r Range) int64 {
	n := r.Len()
	for _, a := range w.ahead {
		n -= max(0, min(a.To, r.To)-max(a.From, r.From))
	}
	return n
}

// Done closes an open record and returns whether it was one.
func (w *Window) Done(offset int64) bool {
	i, found := w.find(offset >> blockBits)
	if !found {
		return false
	}
	b, bit := &w.blocks[i], uint64(1)<<(offset&(1<<blockBits-1))
	if b.open&bit == 0 {
		return false
	}
	b.open &^= bit
	w.open--
	if b.open == 0 {
		w.empty++
		w.shrink()
	}
	return true
}

// find is where the block of a base is.
func (w *Window) find(base int64) (int, bool) {
	blocks := w.blocks[w.head:]
	if len(blocks) == 0 {
		return 0, false
	}
	// Where every block has an open record, which is the rule, its place is known.
	if i := base - blocks[0].base; i >= 0 && i < int64(len(blocks)) && blocks[i].base == base {
		return w.head + int(i), true
	}
	low, high := 0, len(blocks)
	for low < high {
		mid := int(uint(low+high) >> 1)
		if blocks[mid].base < base {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return w.head + low, low < len(blocks) && blocks[low].base == base
}

// shrink gives back the blocks without an open record: at the front at once, further on
// when they are the greater part, so that a block is moved O(1) times on average.
func (w *Window) shrink() {
	for w.head < len(w.blocks) && w.blocks[w.head].open == 0 {
		w.head++
		w.empty--
	}
	live := len(w.blocks) - w.head
	if w.head <= live && w.empty*2 <= live {
		return
	}
	kept := w.blocks[:0]
	for _, b := range w.blocks[w.head:] {
		if b.open != 0 {
			kept = append(kept, b)
		}
	}
	w.blocks, w.head, w.empty = kept, 0, 0
	if cap(w.blocks) > 64 && len(w.blocks) < cap(w.blocks)/8 {
		w.blocks = slices.Clone(w.blocks)
	}
}

// IsDone says whether nothing is to be done at offset: the record there is done, or there
// is none. Above Next that is known only of what an earlier owner had done.
func (w *Window) IsDone(offset int64) bool {
	if offset >= w.next {
		for _, r := range w.ahead {
			if offset < r.To {
				return offset >= r.From
			}
		}
		return false
	}
	i, found := w.find(offset >> blockBits)
	return !found || w.blocks[i].open&(1<<(offset&(1<<blockBits-1))) == 0
}

// Committable is the offset below which everything is done: the commit that loses
// nothing. Only Cut makes it go back.
func (w *Window) Committable() int64 {
	if offset, any := w.Oldest(); any {
		return offset
	}
	return w.next
}

// Next is the offset from which records are taken; everything below was taken, is done,
// or is no record.
func (w *Window) Next() int64 { return w.next }

// End is the offset above which nothing is known: that of Next, or where an earlier owner
// had done something beyond it, the end of that.
func (w *Window) End() int64 {
	if n := len(w.ahead); n > 0 {
		return w.ahead[n-1].To
	}
	return w.next
}

// Ahead is how many ranges above Next an earlier owner had done.
func (w *Window) Ahead() int { return len(w.ahead) }

// Open is how many records were taken and are not done.
func (w *Window) Open() int { return w.open }

// Oldest is the lowest offset that was taken and is not done; false if there is none.
func (w *Window) Oldest() (int64, bool) {
	if w.open == 0 {
		return 0, false
	}
	b := w.blocks[w.head]
	return b.base<<blockBits + int64(bits.TrailingZeros64(b.open)), true
}

// Opens calls f with every open offset in rising order until it returns false.
func (w *Window) Opens(f func(offset int64) bool) {
	for _, b := range w.blocks[w.head:] {
		for open := b.open; open != 0; open &= open - 1 {
			if !f(b.base<<blockBits + int64(bits.TrailingZeros64(open))) {
				return
			}
		}
	}
}

// Beyond is what is done above Committable, in rising order with gaps between.
func (w *Window) Beyond() []Range { return w.AppendBeyond(nil) }

// AppendBeyond appends to ranges what [Window.Beyond] returns.
func (w *Window) AppendBeyond(ranges []Range) []Range {
	if w.open > 0 {
		from := w.Committable()
		w.Opens(func(offset int64) bool {
			if offset > from {
				ranges = append(ranges, Range{from, offset})
			}
			from = offset + 1
			return true
		})
		if w.next > from {
			ranges = append(ranges, Range{from, w.next})
		}
	}
	return append(ranges, w.ahead...)
}
