package tracker

import (
	"slices"
	"sort"
	"time"
)

// span is a range of records with one lock; every open record is in a span.
type span struct {
	from, to int64
	src      *source
	loan
	taken       bool
	undelivered bool
	postponed   uint8
	place       int // from 1; 0: not in the deadlines
}

const blockSpans = 128

// Blocks keep a search or an insertion cheap.
type spans struct {
	blocks [][]*span // none is empty
	n      int
}

type spot struct{ block, index int }

// seek returns the first span that ends above offset and its spot; or nil and the spot behind the last.
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

func (l *spans) endsBefore(offset int64) bool {
	if len(l.blocks) == 0 {
		return true
	}
	last := l.blocks[len(l.blocks)-1]
	return last[len(last)-1].to <= offset
}

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

func (l *spans) join(b int) {
	if b+1 == len(l.blocks) || len(l.blocks[b])+len(l.blocks[b+1]) > blockSpans/2 {
		return
	}
	l.blocks[b] = append(l.blocks[b], l.blocks[b+1]...)
	l.blocks = slices.Delete(l.blocks, b+1, b+2)
}

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

func (d *deadlines) fix(sp *span) {
	if sp.place > 0 && !d.down(sp.place-1) {
		d.up(sp.place - 1)
	}
}

func (d *deadlines) put(i int, sp *span) {
	d.heap[i] = sp
	sp.place = i + 1
}

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

type source struct {
	offset     int64
	appended   time.Time
	uses       int
	prev, next *source
}

// linked list by offset
type sources struct{ head, tail *source }

func (l *sources) first() *source { return l.head }

// The caller of add must drop the use that add counts.
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
