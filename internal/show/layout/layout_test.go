package layout

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestWrap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.StringOfN(rapid.RuneFrom([]rune("aµ→")), 1, 12, -1), 1, 30).Draw(t, "words")
		text := words[0]
		for _, word := range words[1:] {
			text += rapid.SampledFrom([]string{" ", separator}).Draw(t, "between") + word
		}
		width := rapid.IntRange(1, 40).Draw(t, "width")
		lines := Wrap(text, width)
		for _, line := range lines {
			if Columns(line) > width && strings.Contains(line, " ") {
				t.Fatalf("%q is wider than %d", line, width)
			}
		}
		flat := func(s string) string { return strings.Join(strings.Fields(strings.ReplaceAll(s, "·", " ")), " ") }
		if got := flat(strings.Join(lines, " ")); got != flat(text) {
			t.Fatalf("%q became %q", text, got)
		}
	})
}

// All cells are printed in their order, within the width if no word is longer.
func TestFit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		columns := rapid.IntRange(1, 5).Draw(t, "columns")
		cell := rapid.StringMatching(`[a-zµ]{1,8}( [a-zµ]{1,8}){0,12}`)
		table := Table{Gap: 2, Left: map[int]bool{1: true, 2: true, 3: true, 4: true}}
		first, all := rapid.StringMatching(`[a-z]{1,20}`), ""
		for range rapid.IntRange(1, 4).Draw(t, "rows") {
			row := append([]string{first.Draw(t, "first")}, rapid.SliceOfN(cell, columns-1, columns-1).Draw(t, "row")...)
			table.Add(row...)
			all += strings.Join(row, "")
		}
		width := rapid.IntRange(40, 120).Draw(t, "width")
		lines := table.Fit(width)
		for _, line := range lines {
			if Columns(line) > width {
				t.Fatalf("%q has %d columns, and not %d", line, Columns(line), width)
			}
		}
		letters := func(s string) string {
			runes := []rune(strings.ReplaceAll(s, " ", ""))
			slices.Sort(runes)
			return string(runes)
		}
		if got := strings.Join(lines, ""); letters(got) != letters(all) {
			t.Fatalf("%q became %q", table.Rows, lines)
		}
	})
}

func TestFold(t *testing.T) {
	const head = "  time   offered     total"
	for width, want := range map[int]string{26: head, 25: "  time   offered\n                    total"} {
		if got := Fold(head, width); got != want {
			t.Errorf("%d columns: %q, want %q", width, got, want)
		}
	}
	if got := Fold(strings.Repeat("a", 30), 20); got != strings.Repeat("a", 30) {
		t.Errorf("a word became %q", got)
	}
	if got := Hang("one two three", 2, 9); got != "one two\n  three" {
		t.Errorf("it is wrapped as %q", got)
	}
}

func TestRoundTick(t *testing.T) {
	for n, want := range map[int64]int64{1: 1, 4: 1, 5: 2, 8: 2, 9: 5, 21: 10, 75: 20, 253: 100, 400: 100, 401: 200, 168_887: 50_000, 99_999: 50_000} {
		if got := roundTick(n); got != want {
			t.Errorf("roundTick(%d) is %d, want %d", n, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(1, 1<<60).Draw(t, "n")
		if tick := roundTick(n); 4*tick < n || tick > 1 && tick >= n {
			t.Fatalf("roundTick(%d) is %d", n, tick)
		}
	})
}

func TestBars(t *testing.T) {
	f := Chart{tick: 16, top: 64, each: 2, start: 0, end: 64}
	rapid.Check(t, func(t *rapid.T) {
		h := rapid.Int64Range(0, 64).Draw(t, "height")
		var eighths int64
		for row := range chartRows {
			eighths += int64(bytes.IndexRune([]byte(string(BlocksOf)), f.block(h, row)) / 3)
			if f.block(h, row) != ' ' {
				eighths++ // a space is one byte, a block three
			}
		}
		if h > 0 && eighths != h {
			t.Fatalf("a bar for %d of 64 is %d eighths high", h, eighths)
		}
	})
}
