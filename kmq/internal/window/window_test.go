package window

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

type model struct {
	next int64
	open map[int64]bool
	done map[int64]bool
}

const modelEnd = 700

func (m *model) absorb() {
	for m.done[m.next] {
		m.next++
	}
}

func (m *model) take(offset int64) bool {
	if offset < m.next {
		return false
	}
	m.next = offset
	if m.done[offset] {
		m.absorb()
		return false
	}
	m.open[offset] = true
	m.next++
	m.absorb()
	return true
}

func (m *model) isDone(offset int64) bool {
	if offset >= m.next {
		return m.done[offset]
	}
	return !m.open[offset]
}

func (m *model) committable() int64 {
	for offset := int64(0); offset < m.next; offset++ {
		if m.open[offset] {
			return offset
		}
	}
	return m.next
}

func (m *model) beyond() []Range {
	var out []Range
	for offset := m.committable(); offset < modelEnd; offset++ {
		if m.isDone(offset) {
			out = join(out, Range{offset, offset + 1})
		}
	}
	return out
}

func (m *model) check(t interface{ Fatalf(string, ...any) }, w *Window) {
	oldest, any := w.Oldest()
	switch {
	case w.Next() != m.next:
		t.Fatalf("next %d, the model has %d", w.Next(), m.next)
	case w.Open() != len(m.open):
		t.Fatalf("%d open, the model has %d", w.Open(), len(m.open))
	case w.Committable() != m.committable():
		t.Fatalf("committable %d, the model has %d", w.Committable(), m.committable())
	case any != (len(m.open) > 0) || any && oldest != m.committable():
		t.Fatalf("oldest %d, %t; the model has %d of %d", oldest, any, m.committable(), len(m.open))
	case !slices.Equal(w.Beyond(), m.beyond()):
		t.Fatalf("beyond %v, the model has %v", w.Beyond(), m.beyond())
	}
	var opens []int64
	w.Opens(func(offset int64) bool { opens = append(opens, offset); return true })
	if len(opens) != len(m.open) || !slices.IsSorted(opens) {
		t.Fatalf("open %v, the model has %v", opens, m.open)
	}
	end := m.next
	for offset := int64(0); offset < modelEnd; offset++ {
		if w.IsDone(offset) != m.isDone(offset) {
			t.Fatalf("offset %d done: %t, the model has %t", offset, w.IsDone(offset), m.isDone(offset))
		}
		if m.done[offset] {
			end = max(end, offset+1)
		}
	}
	if w.End() != end {
		t.Fatalf("end %d, the model has %d", w.End(), end)
	}
	empty := 0
	for _, b := range w.blocks[w.head:] {
		if b.open == 0 {
			empty++
		}
	}
	if empty != w.empty {
		t.Fatalf("%d blocks are empty, counted are %d", empty, w.empty)
	}
	if blocks := len(w.blocks) - w.head; blocks > 2*w.Open() || w.head > blocks {
		t.Fatalf("%d open records are kept in %d blocks after %d spent ones", w.Open(), blocks, w.head)
	}
}

func TestModel(t *testing.T) { rapid.Check(t, agrees) }

func FuzzModel(f *testing.F) { f.Fuzz(rapid.MakeFuzz(agrees)) }

func agrees(t *rapid.T) {
	committed := rapid.Int64Range(-1, 200).Draw(t, "committed")
	w, m := draw(t, committed)
	floor := w.Committable()
	t.Repeat(map[string]func(*rapid.T){
		"take": func(t *rapid.T) {
			offset := m.next + rapid.Int64Range(-2, 1).Draw(t, "jump")
			if rapid.IntRange(0, 9).Draw(t, "far") == 0 {
				offset += rapid.Int64Range(0, 150).Draw(t, "further")
			}
			if offset < 0 || offset >= modelEnd-1 {
				t.Skip("beyond the model")
			}
			if got, want := w.Take(offset), m.take(offset); got != want {
				t.Fatalf("take %d: %t, the model has %t", offset, got, want)
			}
		},
		"many": func(t *rapid.T) {
			for range rapid.IntRange(1, 100).Draw(t, "n") {
				if m.next >= modelEnd-1 {
					return
				}
				offset := m.next
				if got, want := w.Take(offset), m.take(offset); got != want {
					t.Fatalf("take %d: %t, the model has %t", offset, got, want)
				}
			}
		},
		"done": func(t *rapid.T) {
			offset := rapid.Int64Range(0, modelEnd).Draw(t, "offset")
			want := m.open[offset]
			delete(m.open, offset)
			if got := w.Done(offset); got != want {
				t.Fatalf("done %d: %t, the model has %t", offset, got, want)
			}
		},
		"done range": func(t *rapid.T) {
			from := rapid.Int64Range(0, modelEnd).Draw(t, "from")
			for offset := from; offset < from+rapid.Int64Range(0, 200).Draw(t, "length"); offset++ {
				want := m.open[offset]
				delete(m.open, offset)
				if got := w.Done(offset); got != want {
					t.Fatalf("done %d: %t, the model has %t", offset, got, want)
				}
			}
		},
		"pass": func(t *rapid.T) {
			next := min(m.next+rapid.Int64Range(-5, 30).Draw(t, "next"), modelEnd-1)
			m.next = max(m.next, next)
			m.absorb()
			w.Pass(next)
		},
		"cut": func(t *rapid.T) {
			offset := max(0, m.next+rapid.Int64Range(-200, 100).Draw(t, "offset"))
			if rapid.IntRange(0, 4).Draw(t, "seldom") > 0 {
				t.Skip("not this time")
			}
			m.next = min(m.next, offset)
			for at := offset; at < modelEnd; at++ {
				delete(m.open, at)
				delete(m.done, at)
			}
			w.Cut(offset)
			floor = min(floor, offset)
		},
		"unknown": func(t *rapid.T) {
			r := Range{From: m.next + rapid.Int64Range(0, 20).Draw(t, "from")}
			r.To = r.From + rapid.Int64Range(0, 200).Draw(t, "length")
			want := int64(0)
			for offset := r.From; offset < r.To; offset++ {
				if !m.isDone(offset) {
					want++
				}
			}
			if got := w.Unknown(r); got != want {
				t.Fatalf("%d of %v unknown, the model has %d", got, r, want)
			}
		},
		"restore": func(t *rapid.T) {
			// A restored window loses only the open records.
			w2 := Restore(w.Committable(), w.Beyond())
			for offset := w.Committable(); offset < modelEnd; offset++ {
				if got, want := w2.IsDone(offset), w.IsDone(offset); got != want {
					t.Fatalf("restored, offset %d done: %t, was %t", offset, got, want)
				}
			}
		},
		"": func(t *rapid.T) {
			m.check(t, w)
			if w.Committable() < floor {
				t.Fatalf("committable went back from %d to %d", floor, w.Committable())
			}
			floor = w.Committable()
		},
	})
}

func draw(t *rapid.T, committed int64) (*Window, *model) {
	m := &model{next: max(committed, 0), open: map[int64]bool{}, done: map[int64]bool{}}
	if !rapid.Bool().Draw(t, "restored") {
		return New(committed), m
	}
	var done []Range
	for range rapid.IntRange(0, 8).Draw(t, "ranges") {
		from := rapid.Int64Range(0, 500).Draw(t, "from")
		r := Range{from, from + rapid.Int64Range(-1, 90).Draw(t, "length")}
		done = append(done, r)
		for offset := max(r.From, m.next); offset < r.To; offset++ {
			m.done[offset] = true
		}
	}
	given := slices.Clone(done)
	w := Restore(committed, done)
	if !slices.Equal(given, done) {
		t.Fatalf("the ranges given were changed from %v to %v", given, done)
	}
	m.absorb()
	return w, m
}

// A record that is never done does not make the window grow.
func TestStuck(t *testing.T) {
	w := New(0)
	w.Take(0)
	for offset := int64(1); offset < 1_000_000; offset++ {
		w.Take(offset)
		w.Done(offset)
	}
	if w.Committable() != 0 || !slices.Equal(w.Beyond(), []Range{{1, 1_000_000}}) {
		t.Fatalf("committable %d, beyond %v", w.Committable(), w.Beyond())
	}
	if n := cap(w.blocks); n > 64 {
		t.Fatalf("one open record is kept in %d blocks", n)
	}
	w.Done(0)
	if w.Committable() != 1_000_000 || len(w.Beyond()) != 0 {
		t.Fatalf("committable %d, beyond %v", w.Committable(), w.Beyond())
	}
}

func TestShrinks(t *testing.T) {
	w := New(0)
	for offset := int64(0); offset < 1<<20; offset += 1 << blockBits {
		w.Take(offset)
	}
	for _, i := range rand.New(rand.NewPCG(1, 2)).Perm(1 << 14) {
		w.Done(int64(i) << blockBits)
	}
	if w.Open() != 0 || cap(w.blocks) > 64 {
		t.Fatalf("%d open, room for %d blocks", w.Open(), cap(w.blocks))
	}
}

func BenchmarkInOrder(b *testing.B) {
	const inFlight = 1000
	w := New(0)
	b.ReportAllocs()
	for offset := int64(0); offset < int64(b.N); offset++ {
		w.Take(offset)
		w.Done(offset - inFlight)
	}
}

func BenchmarkRandom(b *testing.B) {
	for _, inFlight := range []int{1000, 100_000} {
		b.Run(fmt.Sprint(inFlight), func(b *testing.B) {
			r := rand.New(rand.NewPCG(1, 2))
			w := New(0)
			open := make([]int64, inFlight)
			for i := range open {
				open[i] = int64(i)
				w.Take(int64(i))
			}
			b.ReportAllocs()
			b.ResetTimer()
			for range b.N {
				i := r.IntN(inFlight)
				w.Done(open[i])
				open[i] = w.Next()
				w.Take(w.Next())
			}
		})
	}
}

func BenchmarkBeyond(b *testing.B) {
	w := New(0)
	r := rand.New(rand.NewPCG(1, 2))
	for offset := int64(0); offset < 4000; offset++ {
		w.Take(offset)
	}
	for _, i := range r.Perm(4000)[:3000] {
		w.Done(int64(i))
	}
	var ranges []Range
	b.ReportAllocs()
	for range b.N {
		ranges = w.AppendBeyond(ranges[:0])
	}
}
