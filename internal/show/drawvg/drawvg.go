// Package drawvg writes a chart as PDF and as PNG: the shapes of a scene of package
// draw, in Liberation Sans.
//
// Files to know: write.go (formats by name), drawvg.go, canvas.go.
package drawvg

import (
	"fmt"
	"image/color"
	"io"

	"codeberg.org/go-fonts/liberation/liberationsansregular"
	"golang.org/x/image/font/opentype"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgpdf"

	"kafkabench.example/kafka-bench/internal/show/draw"
)

const pixel = vg.Inch / 96

// PDF writes the scene as one page that has the size of the scene.
func PDF(w io.Writer, s draw.Scene, scheme draw.Scheme) error {
	face, err := sans()
	if err != nil {
		return err
	}
	c := vgpdf.New(length(s.Width), length(s.Height))
	p := painter{to: c, face: face, scheme: scheme, height: s.Height, encode: windows1252}
	if scheme != draw.Light {
		p.colour(draw.PaperInk, 0, 1)
		c.Fill(p.rectangle(draw.Point{}, s.Width, s.Height))
	}
	p.scene(s)
	_, err = c.WriteTo(w)
	return err
}

// PNG writes the scene with the given number of dots for a CSS pixel, at least 1.
func PNG(w io.Writer, s draw.Scene, scheme draw.Scheme, dots int) error {
	face, err := sans()
	if err != nil {
		return err
	}
	p := painter{face: face, scheme: scheme, height: s.Height, encode: func(words string) string { return words }}
	paper := p.ink(draw.PaperInk, 0, 1)
	c := vgimg.NewWith(
		vgimg.UseWH(length(s.Width), length(s.Height)), vgimg.UseDPI(96*max(dots, 1)), vgimg.UseBackgroundColor(paper),
	)
	p.to = c
	p.scene(s)
	_, err = vgimg.PngCanvas{Canvas: c}.WriteTo(w)
	return err
}

func length(pixels float64) vg.Length { return vg.Length(pixels) * pixel }

func sans() (font.Face, error) {
	parsed, err := opentype.Parse(liberationsansregular.TTF)
	if err != nil {
		return font.Face{}, fmt.Errorf("the font Liberation Sans: %w", err)
	}
	return font.Face{Font: font.Font{Typeface: "Liberation", Variant: "Sans"}, Face: parsed}, nil
}

func windows1252(words string) string {
	var encoded []byte
	for _, r := range words {
		code, has := draw.Windows1252(r)
		if !has {
			code = '?'
		}
		encoded = append(encoded, code)
	}
	return string(encoded)
}

func colorOf(hex string, opacity float64) color.NRGBA {
	c := color.NRGBA{A: uint8(opacity*255 + 0.5)}
	_, _ = fmt.Sscanf(hex, "#%02x%02x%02x", &c.R, &c.G, &c.B) // "" is no colour, which is not drawn
	return c
}
