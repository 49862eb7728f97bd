// Package draw turns the description of a chart into shapes, and shapes into SVG. It knows nothing
// of runs: a [Spec] has series of numbers, axes and words. It is pure: the same spec gives the same
// bytes. It uses neither a clock nor the order of a map.
//
// To add a kind of series, write its constant in spec.go, its checks, its shapes in series.go, and a
// chart in goldens of the tests. A scale of an axis has its forward in axis.go and its ticks.
//
// Files to know: spec.go (what a chart is), check.go; layout.go (from the top down), columns.go,
// axis.go and ticks.go, series.go, lines.go (what each pixel column keeps), names.go (where words
// go), look.go (dashes, markers, hatches), text.go (widths); scene.go (the shapes), paint.go
// (colours and CSS), svg.go; table.go (the chart as text), moments.go (what a text describes).
package draw
