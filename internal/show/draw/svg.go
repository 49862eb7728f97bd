package draw

import (
	"bytes"
	"io"
	"math"
	"strconv"
	"strings"
)

// SVGOptions say where the drawing will be used.
type SVGOptions struct {
	// Standalone writes a file with a background and the style. Otherwise the page must include
	// Style.
	Standalone bool
	// ID begins the identifiers in the drawing, and must be unique in a page. Only its letters,
	// digits, hyphens and underscores are kept. Default: chart.
	ID string
}

// SVG writes the scene. Coordinates have at most two decimals. Colours are classes, so that a page
// may forbid style attributes. Errors are those of w.
func (s Scene) SVG(w io.Writer, o SVGOptions) error {
	id := strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return -1
	}, o.ID)
	if id == "" {
		id = "chart"
	}
	var e element
	e.open("svg", "xmlns", "http://www.w3.org/2000/svg", "class", "chart", "role", "img",
		"aria-labelledby", id+"-title "+id+"-desc", "viewBox", "0 0 "+decimals(s.Width)+" "+decimals(s.Height),
		"width", decimals(s.Width), "height", decimals(s.Height),
		"font-family", "Arial, 'Liberation Sans', Helvetica, sans-serif")
	e.leaf("title", s.Title, "id", id+"-title")
	e.leaf("desc", s.Alt, "id", id+"-desc")
	if o.Standalone {
		e.leaf("style", "\n"+Style())
		e.leaf("rect", "", "class", "paper", "width", decimals(s.Width), "height", decimals(s.Height))
	}
	for _, g := range s.Groups {
		e.open("g", append([]string{"class", g.Class}, attributes(g.Data)...)...)
		for _, shape := range g.Shapes {
			e.shape(shape)
		}
		e.close("g")
	}
	e.close("svg")
	_, err := w.Write(e.Bytes())
	return err
}

func attributes(data []Datum) []string {
	var all []string
	for _, d := range data {
		if d.Value != "" {
			all = append(all, "data-"+d.Name, d.Value)
		}
	}
	return all
}

type element struct{ bytes.Buffer }

func (e *element) begin(name string, attributes []string) {
	e.WriteString("<" + name)
	for i := 0; i < len(attributes); i += 2 {
		e.WriteString(" " + attributes[i] + "=\"" + escape(attributes[i+1]) + "\"")
	}
}

func (e *element) open(name string, attributes ...string) {
	e.begin(name, attributes)
	e.WriteString(">\n")
}

func (e *element) close(name string) { e.WriteString("</" + name + ">\n") }

func (e *element) leaf(name, content string, attributes ...string) {
	e.begin(name, attributes)
	if content == "" {
		e.WriteString("/>\n")
		return
	}
	e.WriteString(">" + escape(content) + "</" + name + ">\n")
}

func (e *element) shape(s Shape) {
	class := paints[s.Role].class
	if s.Colour > 0 {
		class += " c" + strconv.Itoa(s.Colour)
	}
	all := append([]string{"class", class}, attributes(s.Data)...)
	switch s.Form {
	case Path:
		all = append(all, "d", pathData(s.Lines, s.Closed))
		if len(s.Dash) > 0 {
			all = append(all, "stroke-dasharray", joined(s.Dash))
		}
		e.leaf("path", "", all...)
	case Rectangle:
		e.leaf("rect", "", append(all, "x", decimals(s.At.X), "y", decimals(s.At.Y),
			"width", decimals(s.Width), "height", decimals(s.Height))...)
	case Circle:
		e.leaf("circle", "", append(all, "cx", decimals(s.At.X), "cy", decimals(s.At.Y), "r", decimals(s.Radius))...)
	case Words:
		e.words(s, all)
	}
}

func (e *element) words(s Shape, all []string) {
	all = append(all, "x", decimals(s.At.X), "y", decimals(s.At.Y), "font-size", decimals(s.Text.Size))
	if s.Text.Anchor != Start {
		all = append(all, "text-anchor", [...]string{"start", "middle", "end"}[s.Text.Anchor])
	}
	if s.Text.Angle != 0 {
		all = append(all, "transform", "rotate("+decimals(s.Text.Angle)+" "+decimals(s.At.X)+" "+decimals(s.At.Y)+")")
	}
	if s.Text.Full == "" {
		e.leaf("text", s.Text.Words, all...)
		return
	}
	e.begin("text", all)
	e.WriteString("><title>" + escape(s.Text.Full) + "</title>" + escape(s.Text.Words) + "</text>\n")
}

// pathData writes each line as its first point and relative steps, which halves the bytes. Steps
// are differences of rounded places, so rounding errors do not add up.
func pathData(lines [][]Point, closed bool) string {
	var b strings.Builder
	for _, line := range lines {
		parts := 100.0 // of a pixel
		if len(line) > manyPoints {
			parts = 10
		}
		place := func(v float64) float64 { return math.Round(v*parts) / parts }
		for i, p := range line {
			if i == 0 {
				b.WriteString("M" + decimals(place(p.X)) + " " + decimals(place(p.Y)))
				continue
			}
			dx := short(place(p.X) - place(line[i-1].X))
			dy := short(place(p.Y) - place(line[i-1].Y))
			switch {
			case dx == "0" && dy == "0" && len(line) > 2:
			case dy == "0":
				b.WriteString("h" + dx)
			case dx == "0":
				b.WriteString("v" + dy)
			case dy[0] == '-':
				b.WriteString("l" + dx + dy)
			default:
				b.WriteString("l" + dx + " " + dy)
			}
		}
		if closed {
			b.WriteString("Z")
		}
	}
	return b.String()
}

// manyPoints is the number of points above which a line is rounded to a tenth of a
// pixel.
const manyPoints = 500

func short(v float64) string {
	text := decimals(v)
	if rest, below := strings.CutPrefix(text, "0."); below {
		return "." + rest
	}
	if rest, below := strings.CutPrefix(text, "-0."); below {
		return "-." + rest
	}
	return text
}

func joined(values []float64) string {
	all := make([]string, len(values))
	for i, v := range values {
		all[i] = decimals(v)
	}
	return strings.Join(all, " ")
}

func decimals(v float64) string {
	v = math.Round(v*100) / 100
	if v == 0 {
		return "0"
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

// exact is "" if the value is not known.
func exact(v float64) string {
	if !known(v) {
		return ""
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// escape makes words safe as a text or an attribute of XML, and omits characters that XML forbids.
func escape(words string) string {
	var b strings.Builder
	for _, r := range words {
		switch {
		case r == '&':
			b.WriteString("&amp;")
		case r == '<':
			b.WriteString("&lt;")
		case r == '>':
			b.WriteString("&gt;")
		case r == '"':
			b.WriteString("&#34;")
		case r == '\'':
			b.WriteString("&#39;")
		case r == '\n', r >= ' ' && r != 0xFFFE && r != 0xFFFF:
			b.WriteRune(r)
		}
	}
	return b.String()
}
