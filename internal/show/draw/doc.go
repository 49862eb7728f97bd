// Package draw turns the description of a chart into shapes, and shapes into SVG. It knows
// nothing of runs: a [Spec] has series of numbers, axes and words. It is pure: the same
// spec gives the same bytes, without a clock and without the order of a map.
//
// Files to know: spec.go.
package draw
