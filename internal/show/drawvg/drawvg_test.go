package drawvg

import (
	"bytes"
	"compress/zlib"
	"image/png"
	"io"
	"math"
	"regexp"
	"testing"

	"kafkabench.example/kafka-bench/internal/show/draw"
)

func chart() draw.Scene {
	format := func(float64) string { return "1 ÷ 2" }
	return draw.Spec{
		Title: "p99 ÷ p50 (100 µs)", X: draw.Free("x", draw.Linear, format),
		Panels: []draw.Panel{{Y: draw.Free("rate", draw.Linear, format), Series: []draw.Series{
			{Name: "a", Kind: draw.Line, X0: []float64{0, 1, 2}, Y: []float64{1, 3, 2}},
			{Name: "b", Kind: draw.Points, X0: []float64{0, 1, 2}, Y: []float64{2, 1, 0}},
		}}},
	}.Layout(400)
}

func TestAdvances(t *testing.T) {
	face, err := sans()
	if err != nil {
		t.Fatal(err)
	}
	face.Font.Size = 2048
	characters := 0
	for r := rune(0); r < 0x2500; r++ {
		if _, has := draw.Windows1252(r); !has {
			continue
		}
		characters++
		want := face.Width(string(r)).Points()
		if got := (draw.Text{Words: string(r), Size: 2048}).TextWidth(); math.Abs(got-want) > 1e-6 {
			t.Errorf("%q is %g wide, in the font %g", r, got, want)
		}
	}
	if characters != 95+27+96 {
		t.Errorf("%d characters", characters)
	}
}

var stream = regexp.MustCompile(`(?s)stream\r?\n(.*?)\r?\nendstream`)

func TestPDFWordsReadBack(t *testing.T) {
	var b bytes.Buffer
	if err := PDF(&b, chart(), draw.Light); err != nil {
		t.Fatal(err)
	}
	var page []byte
	for _, found := range stream.FindAllSubmatch(b.Bytes(), -1) {
		r, err := zlib.NewReader(bytes.NewReader(found[1]))
		if err != nil {
			continue
		}
		if content, err := io.ReadAll(r); err == nil && bytes.Contains(content, []byte("Tj")) {
			page = append(page, content...)
		}
	}
	for _, want := range []string{"(p99 \xf7 p50 \\(100 \xb5s\\))Tj", "(1 \xf7 2)Tj"} {
		if !bytes.Contains(page, []byte(want)) {
			t.Errorf("no %q in the page:\n%.2000q", want, page)
		}
	}
	if !bytes.Contains(b.Bytes(), []byte("/WinAnsiEncoding")) {
		t.Error("the font has another encoding")
	}
}

func TestPNG(t *testing.T) {
	s := chart()
	for scheme, paper := range map[draw.Scheme]uint32{draw.Light: 0xFFFF, draw.Dark: 0x1111} {
		var b bytes.Buffer
		if err := PNG(&b, s, scheme, 2); err != nil {
			t.Fatal(err)
		}
		picture, err := png.Decode(&b)
		if err != nil {
			t.Fatal(err)
		}
		size := picture.Bounds().Size()
		if size.X != int(2*s.Width) || size.Y != int(2*s.Height) {
			t.Errorf("%v, want twice %g, %g", size, s.Width, s.Height)
		}
		if r, _, _, _ := picture.At(0, 0).RGBA(); r != paper {
			t.Errorf("scheme %d: the paper's red is %x, want %x", scheme, r, paper)
		}
		want := colorOf(scheme.Hex(draw.SeriesInk, 1), 1)
		if !has(s, func(at draw.Point) bool {
			r, g, b, _ := picture.At(int(2*at.X), int(2*at.Y)).RGBA()
			return uint8(r>>8) == want.R && uint8(g>>8) == want.G && uint8(b>>8) == want.B
		}) {
			t.Errorf("scheme %d: the line is not in its colour", scheme)
		}
	}
}

func has(s draw.Scene, so func(draw.Point) bool) bool {
	for _, g := range s.Groups {
		for _, shape := range g.Shapes {
			if shape.Role == draw.DataLine {
				line := shape.Lines[0]
				return so(draw.Point{X: (line[0].X + line[1].X) / 2, Y: (line[0].Y + line[1].Y) / 2})
			}
		}
	}
	return false
}
