package offsetmap

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"kafkabench.example/kafka-bench/kmq/internal/member"
	"kafkabench.example/kafka-bench/kmq/internal/window"
)

// Clusters store this metadata: another string needs a new version. (A deflated body can always be read, but Go may
// change how it deflates.)
var goldens = []struct {
	name     string
	floor    int64
	progress progress
	metadata string
}{
	{"nothing", 17, progress{}, ""},
	{"one run", 1_000_000, progress{done: []window.Range{{From: 1_000_001, To: 1_000_900}}}, "AQB3bVguAQGDBw"},
	{"two runs", 5, progress{done: []window.Range{{From: 6, To: 300}, {From: 1000, To: 1001}}}, "AQCw2XrCAgGmArwFAQ"},
	{"every other", 0, progress{done: everyOther(0, 24)}, "AQEphS3RA6qqqg"},
	{"delivered", 5, progress{
		done:      []window.Range{{From: 7, To: 300}},
		delivered: []delivered{{5, 1, false}, {6, 1, false}, {302, 300, false}},
	}, "AQBTASCGAQKlAgIBAgABrAI"},
	{"delivered alone", 5, progress{delivered: []delivered{{7, 2, false}}}, "AQAe0syTAAIAAQI"},
	{"epochs", 120, progress{
		done:   []window.Range{{From: 125, To: 130}},
		epochs: member.Epochs{{Number: 5, From: 40}, {Number: 6, From: 120}, {Number: 9, From: 128}},
	}, "AgS8YPp/AwVRAQADCAEFBQ"},
	{"epochs of unknown begin", 5, progress{
		done: []window.Range{{From: 6, To: 300}}, epochs: member.Epochs{{Number: 70_000, From: -1}},
	}, "AgTEcAM8AfCiBAABAaYC"},
	{"open", 17, progress{open: true}, "AghMizzIAA"},
	{"open, with a map", 5, progress{done: []window.Range{{From: 6, To: 300}}, open: true}, "AgjR23VCAQGmAg"},
	{"deflated", 1 << 40, progress{done: everyOther(1<<40, 2000)}, "AQMhjXvx+sW4asQCQAAAAP//"},
}

func everyOther(floor int64, n int64) []window.Range {
	var done []window.Range
	for i := int64(1); i < n; i += 2 {
		done = append(done, window.Range{From: floor + i, To: floor + i + 1})
	}
	return done
}

func TestGolden(t *testing.T) {
	for _, g := range goldens {
		var c coder
		if got := c.encode(g.floor, g.progress); got != g.metadata && g.name != "deflated" {
			t.Errorf("%s: encoded as\n%q, was\n%q", g.name, got, g.metadata)
		}
		got, err := c.decode(g.floor, g.metadata)
		if err != nil || !same(got, g.progress) {
			t.Errorf("%s: decoded as %.200v, %v; want %.200v", g.name, got, err, g.progress)
		}
	}
}

func same(a, b progress) bool {
	return slices.Equal(a.done, b.done) && slices.Equal(a.delivered, b.delivered) && slices.Equal(a.epochs, b.epochs) &&
		a.open == b.open
}

func drawProgress(t *rapid.T) (int64, progress) {
	floor := rapid.OneOf(rapid.Int64Range(0, 300), rapid.Int64Range(0, 1<<60)).Draw(t, "floor")
	length := rapid.OneOf(rapid.Int64Range(1, 3), rapid.Int64Range(1, 200), rapid.Int64Range(1, 1<<40))
	p := progress{open: rapid.Bool().Draw(t, "open")}
	at := floor
	for range rapid.IntRange(0, 200).Draw(t, "runs") {
		from := at + length.Draw(t, "pending")
		at = from + length.Draw(t, "done")
		p.done = append(p.done, window.Range{From: from, To: at})
	}
	done := p.done
	for offset := floor; offset < floor+int64(rapid.IntRange(0, 100).Draw(t, "known")); offset++ {
		if len(done) > 0 && offset == done[0].From {
			offset, done = done[0].To, done[1:]
		}
		if times := rapid.IntRange(0, 3).Draw(t, "times"); times > 0 {
			p.delivered = append(p.delivered, delivered{offset, times, p.open && times%2 == 0})
		}
	}
	if len(p.done) > 0 && rapid.Bool().Draw(t, "epochs") {
		number, from := int32(-1), int64(0)
		for range rapid.IntRange(1, 5).Draw(t, "turns") {
			number += rapid.Int32Range(1, 1<<20).Draw(t, "epoch")
			from += rapid.OneOf(rapid.Int64Range(1, 10), rapid.Int64Range(1, 1<<50)).Draw(t, "from")
			p.epochs = append(p.epochs, member.Epoch{Number: number, From: from - 2})
		}
		p.epochs = p.epochs.Within(floor, p.done[len(p.done)-1].To)
		if len(p.epochs) > 0 {
			p.epochs[0].From = min(p.epochs[0].From, floor)
		}
	}
	return floor, p
}

func TestRoundTrip(t *testing.T) {
	var c coder // shared, as in the engine
	rapid.Check(t, func(t *rapid.T) {
		floor, p := drawProgress(t)
		metadata := c.encode(floor, p)
		if got, err := c.decode(floor, metadata); err != nil || !same(got, p) {
			t.Fatalf("%q decoded as %v, %v; want %v", metadata, got, err, p)
		}
		if metadata == "" {
			return
		}
		other := floor + rapid.Int64Range(1, 1<<30).Draw(t, "moved")
		if _, err := c.decode(other, metadata); !errors.Is(err, errMetadata) {
			t.Fatalf("a map of offset %d was read at %d: %v", floor, other, err)
		}
		i := rapid.IntRange(0, len(metadata)-1).Draw(t, "damaged")
		with := rapid.SampledFrom([]byte("AQgwz019+/ é\x00")).Draw(t, "with")
		if metadata[i] == with {
			return
		}
		damaged := metadata[:i] + string(with) + metadata[i+1:]
		if got, err := c.decode(floor, damaged); !errors.Is(err, errMetadata) {
			t.Fatalf("damaged at %d, decoded as %v, %v", i, got, err)
		}
	})
}

func TestForeign(t *testing.T) {
	var c coder
	ours := goldens[1]
	raw, _ := base64.RawStdEncoding.DecodeString(ours.metadata)
	sum := func(b []byte) string {
		binary.BigEndian.PutUint32(b[2:], c.checksum(ours.floor, b))
		return base64.RawStdEncoding.EncodeToString(b)
	}
	newer := slices.Clone(raw)
	newer[0] = version + 1
	kind := slices.Clone(raw)
	kind[1] = 1 << 7
	for name, metadata := range map[string]string{
		"a word":         "metadata",
		"a note":         "committed by host-1",
		"newer":          sum(newer),
		"of other kind":  sum(kind),
		"padded":         ours.metadata + "==",
		"cut":            ours.metadata[:len(ours.metadata)-1],
		"longer":         ours.metadata + "AAAA",
		"zero run":       sum([]byte{version, 0, 0, 0, 0, 0, 1, 0, 5}),
		"run too long":   sum(append([]byte{version, 0, 0, 0, 0, 0, 1, 1}, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f)),
		"too many":       sum([]byte{version, 0, 0, 0, 0, 0, 100, 1, 1}),
		"floor done":     sum([]byte{version, kindBitset, 0, 0, 0, 0, 1, 1}),
		"bitset cut":     sum([]byte{version, kindBitset, 0, 0, 0, 0, 100, 1}),
		"not deflated":   sum([]byte{version, kindDeflate, 0, 0, 0, 0, 0xff, 0xff}),
		"run of nothing": sum([]byte{version, 0, 0, 0, 0, 0, 0, 0, 5}),
		"a bomb":         sum(append([]byte{version, kindDeflate, 0, 0, 0, 0}, bomb()...)),
		"a crowd":        sum(append([]byte{version, 0, 0, 0, 0, 0, 0}, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0f, 1)),
	} {
		if got, err := c.decode(ours.floor, metadata); !errors.Is(err, errMetadata) {
			t.Errorf("%s: decoded as %v, %v", name, got, err)
		}
	}
	if _, err := c.decode(-1, ours.metadata); !errors.Is(err, errMetadata) {
		t.Errorf("without a commit: %v", err)
	}
}

func bomb() []byte {
	var c coder
	return slices.Clone(c.compress(make([]byte, 2*maxBody)))
}

// The newest records' deliveries are dropped first, and never the map.
func TestFit(t *testing.T) {
	var c coder
	p := progress{done: everyOther(0, 40)}
	bare := len(c.encode(0, p))
	for i := int64(0); i < 40; i += 2 {
		p.delivered = append(p.delivered, delivered{i, 1 + int(i/2)%2*4, false})
	}
	whole := len(c.encode(0, p))
	kept := map[int]bool{}
	for limit := whole; limit >= bare; limit-- {
		metadata, ok := c.fit(0, p, limit)
		if !ok || len(metadata) > limit {
			t.Fatalf("%d characters for a limit of %d, %t", len(metadata), limit, ok)
		}
		got, err := c.decode(0, metadata)
		if err != nil || !slices.Equal(got.done, p.done) {
			t.Fatalf("limit %d: %v, %v", limit, got, err)
		}
		n := len(got.delivered)
		if !slices.Equal(got.delivered, p.delivered[:n]) {
			t.Fatalf("limit %d: kept %v", limit, got.delivered)
		}
		kept[n] = true
	}
	if !kept[20] || !kept[10] || !kept[0] {
		t.Errorf("so many deliveries were kept: %v; want 20, 10, … 0", kept)
	}
	if _, ok := c.fit(0, p, bare-1); ok {
		t.Error("a map above the limit was taken to fit")
	}
}

// Records are done in random orders: no map is longer than the bound.
func TestWorst(t *testing.T) {
	var c coder
	rapid.Check(t, func(t *rapid.T) {
		var earlier []window.Range
		for at := int64(1); rapid.IntRange(0, 3).Draw(t, "earlier") > 0; {
			from := at + rapid.Int64Range(1, 40).Draw(t, "gap")
			at = from + rapid.Int64Range(1, 300).Draw(t, "done")
			earlier = append(earlier, window.Range{From: from, To: at})
		}
		w := window.Restore(0, earlier)
		var open []int64
		jump := rapid.SampledFrom([]int64{1, 1, 3, 200, 20_000}).Draw(t, "jump")
		for range rapid.IntRange(1, 120).Draw(t, "records") {
			offset := w.Next() + rapid.Int64Range(0, jump-1).Draw(t, "gap")
			if w.Take(offset) {
				open = append(open, offset)
			}
		}
		worst := worstOf(w)
		for len(open) > 0 {
			if n := len(c.encode(w.Committable(), progress{done: w.Beyond()})); int64(n) > worst {
				t.Fatalf("a map of %d characters, at worst were %d: from %d, %v", n, worst, w.Committable(), w.Beyond())
			}
			i := rapid.IntRange(0, len(open)-1).Draw(t, "ack")
			w.Done(open[i])
			open = slices.Delete(open, i, i+1)
		}
	})
}

func worstOf(w *window.Window) int64 {
	span, groups := w.End()-w.Committable(), w.Open()+w.Ahead()
	limit := 0
	for !worstFits(span, groups, limit, 0) {
		limit++
	}
	return int64(limit)
}

// If a partition says that a record fits, any later map fits.
func TestFits(t *testing.T) {
	var c coder
	rapid.Check(t, func(t *rapid.T) {
		p, _ := restore(0, member.Offset{At: 0}, &c, newPool(runSlots))
		limit := rapid.IntRange(0, 200).Draw(t, "limit")
		jump := rapid.SampledFrom([]int64{0, 1, 10, 200, 20_000}).Draw(t, "jump")
		var open []int64
		for range rapid.IntRange(1, 500).Draw(t, "steps") {
			offset := p.window.Next() + jump
			if !p.fits(offset, limit) || rapid.IntRange(0, 5).Draw(t, "ack") == 0 && len(open) > 0 {
				i := rapid.IntRange(0, len(open)-1).Draw(t, "which")
				p.window.Done(open[i])
				open = slices.Delete(open, i, i+1)
			} else {
				p.window.Take(offset)
				open = append(open, offset)
			}
			p.begun = true
			at, progress := p.progress()
			if metadata, fits := c.fit(at, progress, limit); !fits {
				t.Fatalf("a map of %d characters, the limit is %d: %v", len(metadata), limit, progress)
			}
		}
	})
}

// The bound is at most twice as long as a possible map.
func TestWorstIsNear(t *testing.T) {
	var c coder
	for _, n := range []int64{16, 100, 1000, 10_000} {
		w := window.New(0)
		for i := range n {
			w.Take(i)
		}
		for i := int64(1); i < n; i += 2 {
			w.Done(i)
		}
		c.bitset = appendBitset(nil, 0, w.Beyond())
		is, worst := int64(base64.RawStdEncoding.EncodedLen(headerBytes+len(c.bitset))), worstOf(w)
		if is > worst || is*2 < worst {
			t.Errorf("%d records: %d characters, at worst %d", n, is, worst)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, g := range goldens {
		raw, _ := base64.RawStdEncoding.DecodeString(g.metadata)
		if len(raw) > headerBytes {
			f.Add(g.floor, raw[1], raw[headerBytes:])
		}
	}
	f.Add(int64(math.MaxInt64), byte(0), []byte{1, 1, 1})
	f.Add(int64(math.MaxInt64)-6, byte(0), []byte{1, 1, 1}) // is written as a bitset of more bits than offsets
	var c coder
	f.Fuzz(func(t *testing.T, floor int64, kind byte, body []byte) {
		raw := append([]byte{version, kind, 0, 0, 0, 0}, body...)
		binary.BigEndian.PutUint32(raw[2:], c.checksum(floor, raw))
		p, err := c.decode(floor, base64.RawStdEncoding.EncodeToString(raw))
		if err != nil {
			if !errors.Is(err, errMetadata) || !same(p, progress{}) {
				t.Fatalf("%v, %v", p, err)
			}
			return
		}
		checkProgress(t, floor, p)
		if len(p.done) > 0 && p.done[len(p.done)-1].To-floor > 1<<24 {
			return
		}
		again, err := c.decode(floor, c.encode(floor, p))
		if err != nil || !reflect.DeepEqual(normal(again), normal(p)) {
			t.Fatalf("read %v, written and read again %v, %v", p, again, err)
		}
	})
}

func FuzzMetadata(f *testing.F) {
	for _, g := range goldens {
		f.Add(g.floor, g.metadata)
		f.Add(g.floor+1, strings.ToLower(g.metadata))
	}
	var c coder
	f.Fuzz(func(t *testing.T, floor int64, metadata string) {
		if p, err := c.decode(floor, metadata); err == nil && metadata != "" {
			checkProgress(t, floor, p)
		}
	})
}

func checkProgress(t *testing.T, floor int64, p progress) {
	at := floor
	for _, r := range p.done {
		if r.From <= at || r.To <= r.From {
			t.Fatalf("done %v beyond %d", p.done, floor)
		}
		at = r.To
	}
	w := window.Restore(floor, p.done)
	last := floor - 1
	for _, d := range p.delivered {
		if d.offset <= last || d.times < 1 || w.IsDone(d.offset) {
			t.Fatalf("delivered %v, done %v beyond %d", p.delivered, p.done, floor)
		}
		last = d.offset
	}
}

func normal(p progress) progress {
	if len(p.done) == 0 {
		p.done = nil
	}
	if len(p.delivered) == 0 {
		p.delivered = nil
	}
	return p
}

func BenchmarkEncode(b *testing.B) {
	w := window.New(0)
	for i := int64(0); i < 4000; i++ {
		w.Take(i)
	}
	for i := int64(0); i < 4000; i++ {
		if (i*2654435761)>>7%4 != 0 {
			w.Done(i)
		}
	}
	var c coder
	p := progress{done: w.Beyond()}
	w.Opens(func(offset int64) bool { p.delivered = append(p.delivered, delivered{offset, 1, false}); return true })
	b.ReportAllocs()
	for range b.N {
		c.encode(w.Committable(), p)
	}
	b.ReportMetric(float64(len(c.encode(w.Committable(), p))), "chars")
	b.ReportMetric(float64(worstOf(w)), "worst-chars")
}

func BenchmarkDecode(b *testing.B) {
	var c coder
	metadata := c.encode(0, progress{done: everyOther(0, 4000)})
	b.ReportAllocs()
	for range b.N {
		if _, err := c.decode(0, metadata); err != nil {
			b.Fatal(err)
		}
	}
}
