package draw

import "math"

// Spec is a chart before its layout: panels one below the other over one x axis. Values are raw, as
// in their files (ns, bytes, records/s); an Axis formats them.
type Spec struct {
	Title string
	Alt   string // what the chart shows, in one or two sentences, for people who cannot see it
	X     Axis
	// Panels have one unit each.
	Panels []Panel
	// Marks are moments on the x axis. At most MaxMarks are drawn; a note counts the others.
	Marks []Mark
	Notes []string // sentences below the chart
}

// MaxMarks is the maximum number of marks in a chart.
const MaxMarks = 12

// Panel is one plot.
type Panel struct {
	// Y is the vertical axis. If it has categories, they are rows from the top down; a series' Y is
	// then its row, and its values are along the x axis.
	Y       Axis
	Height  float64 // of the plot, in CSS pixels; 0 means the default height
	Series  []Series
	Stripes []Stripe
}

// Scale says how values become positions.
type Scale int

const (
	Linear Scale = iota
	// Log draws 0 below the other values, labelled 0.
	Log
	// Percentile is -log10(1 - p) of a share p in [0, 1): 0.9, 0.99 and 0.999 are
	// equally far apart.
	Percentile
)

// Axis is one direction of a plot.
type Axis struct {
	Label string
	Scale Scale
	// Min and Max fix an end; NaN takes it from the values. A linear axis contains
	// 0 unless Min excludes it.
	Min, Max float64
	// Second is the length of a second in the axis' values, such as 1e9 for ns; 0 if the values are
	// not times. Ticks over more than two minutes are multiples of 15 s, a minute or an hour.
	Second float64
	// Format formats a value with its unit; nil only for an axis of categories.
	Format func(v float64) string
	// Categories are the names of the values 0, 1, 2 ….
	Categories []string
}

// Free returns an axis whose ends come from the values.
func Free(label string, scale Scale, format func(float64) string) Axis {
	return Axis{Label: label, Scale: scale, Min: math.NaN(), Max: math.NaN(), Format: format}
}

// Kind is how a series is drawn.
type Kind int

const (
	// Steps are values that held from X0 to X1, as a line.
	Steps Kind = iota
	// Line joins points (X0, Y).
	Line
	// Points are marks at (X0, Y).
	Points
	// Whiskers are marks at (X0, Y) with a bar from Low to High along the value's
	// axis.
	Whiskers
	// Band fills the space between Low and High from X0 to X1.
	Band
	// Bars are filled from X0 to X1 in the row Y of an axis with categories.
	Bars
)

// Series is the values under one name. Its slices have the same length; those that
// its Kind does not use are nil. NaN is an unknown value: it breaks a line, and is
// not drawn.
type Series struct {
	Name string
	// Figure is the name of the values in run.json or intervals.ndjson. It is also the value of the
	// attribute data-figure.
	Figure    string
	Kind      Kind
	X0, X1, Y []float64
	Low, High []float64
	// Colour is 1 to 5; 0 takes the next one.
	Colour int
	// With names the series of the panel whose style this one has; the legend shows only that one. ""
	// is a style of its own.
	With string
}

// Stripe is a named range of the x axis of one panel.
type Stripe struct {
	From, To float64
	Words    string
}

// Mark is a moment, drawn as a vertical rule through all panels.
type Mark struct {
	At    float64
	Words string
}
