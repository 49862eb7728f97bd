package draw

import (
	"fmt"
	"slices"
	"strings"
)

// Role is the meaning of a shape. It selects the Paint, and is the class in SVG.
type Role int

const (
	Grid Role = iota
	Zero
	Tick
	StripeArea
	BandArea
	BandEdge
	Bar
	Hatch // over a bar
	DataLine
	Whisker
	Dot
	Rule // of a mark
	TitleText
	NameText // of a series or a category
	NoteText
	TickText
	roles
)

// Ink is a colour by its use; its value depends on the scheme.
type Ink int

const (
	NoInk Ink = iota
	SeriesInk
	TextInk
	MutedInk
	GridInk
	AxisInk
	PaperInk
)

// Paint is how a role is painted.
type Paint struct {
	class        string
	Fill, Stroke Ink
	Width        float64 // of the stroke
	Opacity      float64 // of the fill
}

var paints = [roles]Paint{
	Grid:       {"grid", NoInk, GridInk, 1, 1},
	Zero:       {"zero", NoInk, AxisInk, 1, 1},
	Tick:       {"tick", NoInk, AxisInk, 1, 1},
	StripeArea: {"stripe", MutedInk, NoInk, 0, 0.13},
	BandArea:   {"band", SeriesInk, NoInk, 0, 0.18},
	BandEdge:   {"edge", NoInk, SeriesInk, 0.75, 1},
	Bar:        {"bar", SeriesInk, NoInk, 0, 1},
	Hatch:      {"hatch", NoInk, PaperInk, 1.5, 1},
	DataLine:   {"line", NoInk, SeriesInk, 1.75, 1},
	Whisker:    {"whisker", NoInk, SeriesInk, 1.5, 1},
	Dot:        {"dot", PaperInk, SeriesInk, 1.5, 1},
	Rule:       {"rule", NoInk, MutedInk, 1, 1},
	TitleText:  {"title", TextInk, NoInk, 0, 1},
	NameText:   {"name", TextInk, NoInk, 0, 1},
	NoteText:   {"note", MutedInk, NoInk, 0, 1},
	TickText:   {"label", MutedInk, NoInk, 0, 1},
}

// Scheme is for a light or a dark background.
type Scheme int

const (
	Light Scheme = iota
	Dark
)

// seriesInks have a contrast of at least 3:1 with the background. The text colours of otherInks
// have at least 4.5:1.
var (
	seriesInks = [2][Colours]string{
		{"#3C3C87", "#009696", "#2D001E", "#B4870F", "#781E0F"},
		{"#0069D2", "#00FFD2", "#965A69", "#D2E14B", "#C34B1E"},
	}
	otherInks = [2]map[Ink]string{
		{TextInk: "#1F2328", MutedInk: "#57606A", GridInk: "#E6E8EB", AxisInk: "#8C959F", PaperInk: "#FFFFFF"},
		{TextInk: "#E6E8EB", MutedInk: "#A9B1BC", GridInk: "#2A2E36", AxisInk: "#6E7681", PaperInk: "#111318"},
	}
)

// Colours is the number of colours for series.
const Colours = 5

// Hex returns a colour as #RRGGBB; "" for none. Only SeriesInk uses the number of the colour.
func (s Scheme) Hex(ink Ink, colour int) string {
	if ink == SeriesInk {
		return seriesInks[s][(max(colour, 1)-1)%Colours]
	}
	return otherInks[s][ink]
}

// Style returns the CSS for all charts of a page; a standalone SVG contains it.
func Style() string {
	var b strings.Builder
	b.WriteString(".chart{font-family:Arial,\"Liberation Sans\",Helvetica,sans-serif}\n.chart path{stroke-linejoin:round}\n")
	for _, p := range paints {
		var rules []string
		if p.Fill == NoInk {
			rules = append(rules, "fill:none")
		} else if p.Opacity != 1 {
			rules = append(rules, "fill-opacity:"+decimals(p.Opacity))
		}
		if p.Stroke != NoInk {
			rules = append(rules, "stroke-width:"+decimals(p.Width))
		}
		if rules != nil {
			fmt.Fprintf(&b, ".chart .%s{%s}\n", p.class, strings.Join(rules, ";"))
		}
	}
	b.WriteString(".chart .bar{shape-rendering:crispEdges}\n")
	b.WriteString(inks(Light.Hex))
	dark := inks(Dark.Hex)
	// Paper is white in both schemes.
	fmt.Fprintf(&b, "@media screen and (prefers-color-scheme:dark){\n%s}\n", dark)
	fmt.Fprintf(&b, "@media (forced-colors:active){\n%s}\n", inks(func(ink Ink, _ int) string {
		switch ink {
		case PaperInk:
			return "Canvas"
		case GridInk:
			return "GrayText"
		}
		return "CanvasText"
	}))
	return b.String()
}

func inks(of func(ink Ink, colour int) string) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".chart .paper{fill:%s}\n", of(PaperInk, 0))
	for _, kind := range []string{"fill", "stroke"} {
		for ink := SeriesInk; ink <= PaperInk; ink++ {
			var classes []string
			for _, p := range paints {
				if kind == "fill" && p.Fill == ink || kind == "stroke" && p.Stroke == ink {
					classes = append(classes, p.class)
				}
			}
			if len(classes) == 0 {
				continue
			}
			if ink != SeriesInk {
				fmt.Fprintf(&b, ".chart .%s{%s:%s}\n", strings.Join(classes, ",.chart ."), kind, of(ink, 0))
				continue
			}
			for colour := 1; colour <= Colours; colour++ {
				own := slices.Clone(classes)
				for i := range own {
					own[i] += fmt.Sprintf(".c%d", colour)
				}
				fmt.Fprintf(&b, ".chart .%s{%s:%s}\n", strings.Join(own, ",.chart ."), kind, of(ink, colour))
			}
		}
	}
	return b.String()
}
