package tracker

import (
	"slices"
	"sort"
	"time"
)

// span is a range of records that were lent together. Every open record is in one span.
type span struct {
	from, to int64
	src      *source
	loan
	taken       bool // given out as due
	undelivered bool
	postponed   uint8 // how often
	place       int   // in the deadlines, from 1 on; 0: not there
}

// blockSpans is the most that a block has: large enough that blocks are few, small enough
// that moving one to make room is cheap.
const blockSpans = 128

// spans are the spans by offset: blocks of them, so that neither a search nor an insertion
// touches more than a few hundred words, however many there are.
type spans struct {
	blocks [][]*span // none is empty
	n      int
}

// spot is a place in the blocks.
type spot struct{ block, index int }

// seek finds the first span that ends above offset; nil if there is none, with the spot
// behind the last.
func (l *spans) seek(offset int64) (spot, *span) {
	b := sort.Search(len(l.blocks), func(i int) bool {
		block := l.blocks[i]
		return block[len(block)-1].to > offset
	})
	if b == len(l.blocks) {
		return spot{block: b}, nil
	}
	block := l.blocks[b]
	i := sort.Search(len(block), func(i int) bool { return block[i].to > offset })
	return spot{b, i}, block[i]
}

// endsBefore is whether every span ends at offset or below.
func (l *spans) endsBefore(offset int64) bool {
	if len(l.blocks) == 0 {
		return true
	}
	last := l.blocks[len(l.blocks)-1]
	return last[len(last)-1].to <= offset
}

// insert puts a span before the one at the spot.
func (l *spans) insert(at spot, sp *span) {
	l.n++
	if at.block == len(l.blocks) {
		if at.block == 0 || len(l.blocks[at.block-1]) == blockSpans {
			l.blocks = append(l.blocks, append(make([]*span, 0, blockSpans), sp))
			return
		}
		at = spot{at.block - 1, len(l.blocks[at.block-1])}
	}
	block := l.blocks[at.block]
	if len(block) == blockSpans {
		half := append(make([]*span, 0, blockSpans), block[blockSpans/2:]...)
		clear(block[blockSpans/2:])
		block = block[:blockSpans/2]
		l.blocks[at.block] = block
		l.blocks = slices.Insert(l.blocks, at.block+1, half)
		if at.index > len(block) {
			at = spot{at.block + 1, at.index - len(block)}
			block = half
		}
	}
	l.blocks[at.block] = slices.Insert(block, at.index, sp)
}

func (l *spans) remove(at spot) {
	l.n--
	block := slices.Delete(l.blocks[at.block], at.index, at.index+1)
	l.blocks[at.block] = block
	if len(block) == 0 {
		l.blocks = slices.Delete(l.blocks, at.block, at.block+1)
		return
	}
	l.join(at.block)
}

// join puts a block that has become small together with the next, so that the blocks stay
// as few as the spans allow.
func (l *spans) join(b int) {
	if b+1 == len(l.blocks) || len(l.blocks[b])+len(l.blocks[b+1]) > blockSpans/2 {
		return
	}
	l.blocks[b] = append(l.blocks[b], l.blocks[b+1]...)
	l.blocks = slices.Delete(l.blocks, b+1, b+2)
}

// deadlines are the spans that are not given out, as a heap: the earliest deadline first.
type deadlines struct{ heap []*span }

func (d *deadlines) first() *span {
	if len(d.heap) == 0 {
		return nil
	}
	return d.heap[0]
}

func (d *deadlines) add(sp *span) {
	d.heap = append(d.heap, sp)
	sp.place = len(d.heap)
	d.up(len(d.heap) - 1)
}

func (d *deadlines) remove(sp *span) {
	if sp.place == 0 {
		return
	}
	i, last := sp.place-1, len(d.heap)-1
	moved := d.heap[last]
	d.heap[last] = nil
	d.heap = d.heap[:last]
	sp.place = 0
	if i < last {
		d.put(i, moved)
		d.fix(moved)
	}
	if cap(d.heap) > 1024 && len(d.heap) < cap(d.heap)/8 {
		d.heap = slices.Clone(d.heap)
	}
}

// fix moves a span to where its deadline belongs.
func (d *deadlines) fix(sp *span) {
	if sp.place > 0 && !d.down(sp.place-1) {
		d.up(sp.place - 1)
	}
}

func (d *deadlines) put(i int, sp *span) {
	d.heap[i] = sp
	sp.place = i + 1
}

// less is by deadline; of equal ones, the record that is first goes first.
func less(a, b *span) bool {
	return a.deadline < b.deadline || a.deadline == b.deadline && a.from < b.from
}

func (d *deadlines) up(i int) {
	sp := d.heap[i]
	for i > 0 {
		parent := (i - 1) / 2
		if !less(sp, d.heap[parent]) {
			break
		}
		d.put(i, d.heap[parent])
		i = parent
	}
	d.put(i, sp)
}

func (d *deadlines) down(i int) (moved bool) {
	sp, from := d.heap[i], i
	for {
		child := 2*i + 1
		if child >= len(d.heap) {
			break
		}
		if child+1 < len(d.heap) && less(d.heap[child+1], d.heap[child]) {
			child++
		}
		if !less(d.heap[child], sp) {
			break
		}
		d.put(i, d.heap[child])
		i = child
	}
	d.put(i, sp)
	return i != from
}

// source is a start marker of which something is open.
type source struct {
	offset     int64
	appended   time.Time
	uses       int // spans, and who is about to add some
	prev, next *source
}

// sources are the start markers of which something is open, by offset: a list, out of the
// middle of which those go that have ended.
type sources struct{ head, tail *source }

func (l *sources) first() *source { return l.head }

// add appends a start. It is kept until it was dropped as often as it is used, and once
// for this.
func (l *sources) add(offset int64, appended time.Time) *source {
	src := &source{offset: offset, appended: appended, uses: 1, prev: l.tail}
	if l.tail == nil {
		l.head = src
	} else {
		l.tail.next = src
	}
	l.tail = src
	return src
}

func (l *sources) drop(src *source) {
	if src.uses--; src.uses > 0 {
		return
	}
	if src.prev == nil {
		l.head = src.next
	} else {
		src.prev.next = src.next
	}
	if src.next == nil {
		l.tail = src.prev
	} else {
		src.next.prev = src.prev
	}
}
