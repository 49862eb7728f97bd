package draw

// Scene is a laid-out chart: groups of shapes in CSS pixels, with the origin at the
// upper left corner. Later shapes cover earlier ones.
type Scene struct {
	Width, Height float64
	Title, Alt    string
	Groups        []Group
}

// Group is the shapes of one panel, or the marks or words of all panels.
type Group struct {
	// Class is "panel", "marks" or "words". A panel's Data are the scale of each axis, its ends as
	// raw values and in pixels, and the place of 0 on a logarithmic axis. A reader can compute the
	// place of a value from them, except if several series in one category have their markers side
	// by side.
	Class  string
	Data   []Datum
	Shapes []Shape
}

// Datum is an attribute data-Name of a shape or group, and its value.
type Datum struct{ Name, Value string }

// Point is a place in the picture, in CSS pixels.
type Point struct{ X, Y float64 }

// Form says which fields of a Shape are used.
type Form int

const (
	Path      Form = iota // Lines, Closed, Dash
	Rectangle             // At is the upper left corner; Width, Height
	Circle                // At is the centre; Radius
	Words                 // At is on the base line; Text
)

// Shape is one element of the picture.
type Shape struct {
	Role          Role
	Colour        int // of its series, 1 to 5; 0 if the role has its own colour
	Form          Form
	Lines         [][]Point
	Closed        bool
	Dash          []float64
	At            Point
	Width, Height float64
	Radius        float64
	Text          Text
	Data          []Datum
}

// Text is a line of words.
type Text struct {
	Words  string
	Full   string // the words before they were cut; else ""
	Size   float64
	Anchor Anchor
	Angle  float64 // degrees, clockwise, about At
}

// Anchor is the part of a text that is at its point.
type Anchor int

const (
	Start Anchor = iota
	Middle
	End
)

// TextWidth is the width of the text in CSS pixels.
func (t Text) TextWidth() float64 { return textWidth(t.Words, t.Size) }

const (
	titleSize  = 16.0
	textSize   = 12.0
	lineHeight = 15.0
)

func path(role Role, colour int, lines ...[]Point) Shape {
	return Shape{Role: role, Colour: colour, Form: Path, Lines: lines}
}

func segment(role Role, x1, y1, x2, y2 float64) Shape {
	return path(role, 0, []Point{{x1, y1}, {x2, y2}})
}

func text(role Role, at Point, words string, anchor Anchor) Shape {
	return Shape{Role: role, Form: Words, At: at, Text: Text{Words: words, Size: textSize, Anchor: anchor}}
}

func fitted(role Role, at Point, words string, anchor Anchor, width float64) Shape {
	s := text(role, at, cut(words, textSize, width), anchor)
	if s.Text.Words != words {
		s.Text.Full = words
	}
	return s
}
