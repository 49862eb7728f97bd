// Package window records which offsets of a partition are done. It is pure.
//
// Records are taken in offset order and finished in any order. A window keeps the open records:
// taken and not done. Everything below the first open record may be committed. Above it, what was
// taken and is not open, or what an earlier owner finished, is done beyond the commit. Offsets
// without a record (transaction markers, compaction) count as done.
//
// Open records are bits in blocks of 64 offsets, and only blocks with an open record are kept. So
// memory depends on the number of open records, not on the age of the first. A Window is not safe
// for concurrent use.
//
// Files to know: window.go.
package window

import (
	"math/bits"
	"slices"
)

// Range is the offsets from From to To, which is excluded.
type Range struct{ From, To int64 }

// Len returns the number of offsets in the range.
func (r Range) Len() int64 { return r.To - r.From }

const blockBits = 6

type block struct {
	base int64
	open uint64
}

// Window records which offsets of a partition are done. Use [New] or [Restore].
type Window struct {
	next   int64   // everything below is taken, done, or no record
	blocks []block // rising; the first has an open record
	head   int
	empty  int // how many of blocks[head:] are empty
	open   int
	ahead  []Range // above next, finished by an earlier owner; rising, with gaps between
}

// New returns the window of a partition that is read from the committed offset. A negative offset (no commit)
// counts as 0: the first record taken marks the start.
func New(committed int64) *Window { return &Window{next: max(committed, 0)} }

// Restore returns the window of a partition with a committed offset and ranges done beyond it. The ranges may
// overlap, in any order; parts below committed are ignored.
func Restore(committed int64, done []Range) *Window {
	w := New(committed)
	w.ahead = normal(done)
	w.absorb()
	return w
}

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

func join(ranges []Range, r Range) []Range {
	if last := len(ranges) - 1; last >= 0 && r.From <= ranges[last].To {
		ranges[last].To = max(ranges[last].To, r.To)
		return ranges
	}
	return append(ranges, r)
}

func (w *Window) absorb() {
	for len(w.ahead) > 0 && w.ahead[0].From <= w.next {
		w.next = max(w.next, w.ahead[0].To)
		w.ahead = w.ahead[1:]
	}
}

// Take opens the record at offset. Offsets must rise; skipped ones have no record and count as
// done. It returns false if the offset is below Next or already done.
func (w *Window) Take(offset int64) bool {
	if offset < w.next {
		return false
	}
	w.Pass(offset)
	if offset < w.next {
		return false
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

// Pass moves Next to the fetch position: offsets below it that were not taken have no record.
func (w *Window) Pass(next int64) {
	if next > w.next {
		w.next = next
		w.absorb()
	}
}

// Cut forgets everything from offset on, where the log now holds other records. Afterwards
// [Window.Committable] and [Window.Next] are at most offset.
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
	// Trailing blocks must have an open record.
	for n := len(w.blocks); n > w.head && w.blocks[n-1].open == 0; n = len(w.blocks) {
		w.blocks = w.blocks[:n-1]
		w.empty--
	}
	w.shrink()
}

// Unknown returns how many offsets of a range at or above Next are not known to be done.
func (w *Window) Unknown(r Range) int64 {
	n := r.Len()
	for _, a := range w.ahead {
		n -= max(0, min(a.To, r.To)-max(a.From, r.From))
	}
	return n
}

// Done closes an open record; it returns false if the record was not open.
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

func (w *Window) find(base int64) (int, bool) {
	blocks := w.blocks[w.head:]
	if len(blocks) == 0 {
		return 0, false
	}
	// Usually every block is present.
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

// shrink skips empty first blocks at once. It removes empty blocks only when they are the majority,
// so that a block moves O(1) times on average.
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

// IsDone reports whether the record at offset is done or does not exist. Above Next it knows only
// what an earlier owner finished.
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

// Committable returns the offset below which everything is done. Only Cut moves it back.
func (w *Window) Committable() int64 {
	if offset, any := w.Oldest(); any {
		return offset
	}
	return w.next
}

// Next returns the offset from which records are taken; everything below is taken or done, or has
// no record.
func (w *Window) Next() int64 { return w.next }

// End returns the offset above which nothing is known: Next, or the end of what an earlier owner
// finished beyond it.
func (w *Window) End() int64 {
	if n := len(w.ahead); n > 0 {
		return w.ahead[n-1].To
	}
	return w.next
}

// Ahead returns the number of ranges above Next that an earlier owner finished.
func (w *Window) Ahead() int { return len(w.ahead) }

// Open returns the number of open records.
func (w *Window) Open() int { return w.open }

// Oldest returns the lowest open offset; false if there is none.
func (w *Window) Oldest() (int64, bool) {
	if w.open == 0 {
		return 0, false
	}
	b := w.blocks[w.head]
	return b.base<<blockBits + int64(bits.TrailingZeros64(b.open)), true
}

// Opens calls f with every open offset in rising order until f returns false.
func (w *Window) Opens(f func(offset int64) bool) {
	for _, b := range w.blocks[w.head:] {
		for open := b.open; open != 0; open &= open - 1 {
			if !f(b.base<<blockBits + int64(bits.TrailingZeros64(open))) {
				return
			}
		}
	}
}

// Beyond returns the ranges that are done above Committable, in rising order with gaps between.
func (w *Window) Beyond() []Range { return w.AppendBeyond(nil) }

// AppendBeyond appends the result of [Window.Beyond] to ranges.
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
