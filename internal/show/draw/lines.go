package draw

import (
	"math"
	"slices"
)

// crowded is the number of points from which a column of pixels keeps only its
// extremes.
const crowded = 5

// extremes keeps the first, the lowest, the highest and the last point of each column of pixels, so
// the line covers the same pixels. In a crowded column it keeps only the lowest and the highest,
// and the ends of the line.
func extremes(line []Point) []Point {
	var kept []Point
	for start := 0; start < len(line); {
		column := math.Floor(line[start].X)
		last, low, high := start, start, start
		for last+1 < len(line) && math.Floor(line[last+1].X) == column {
			last++
			if line[last].Y < line[low].Y {
				low = last
			}
			if line[last].Y > line[high].Y {
				high = last
			}
		}
		before := -1
		for _, i := range []int{start, min(low, high), max(low, high), last} {
			between := i != low && i != high && i > 0 && i < len(line)-1
			if i > before && !(between && last-start+1 >= crowded) {
				kept = appendPoint(kept, line[i])
				before = i
			}
		}
		start = last + 1
	}
	return kept
}

// appendPoint replaces the last point if that is in the middle of a horizontal line.
func appendPoint(line []Point, p Point) []Point {
	n := len(line)
	if n > 0 && line[n-1] == p {
		return line
	}
	if n > 1 && line[n-2].Y == line[n-1].Y && line[n-1].Y == p.Y && line[n-2].X <= line[n-1].X && line[n-1].X <= p.X {
		line[n-1] = p
		return line
	}
	return append(line, p)
}

func clipLines(lines [][]Point, left, top, right, bottom float64) [][]Point {
	var clipped [][]Point
	for _, line := range lines {
		if !slices.ContainsFunc(line, func(p Point) bool { return !inside(p, left, top, right, bottom) }) {
			clipped = append(clipped, line)
			continue
		}
		var part []Point
		flush := func() {
			if len(part) > 0 {
				clipped = append(clipped, part)
			}
			part = nil
		}
		for i := 1; i < len(line); i++ {
			from, to, visible := clipSegment(line[i-1], line[i], left, top, right, bottom)
			if !visible {
				flush()
				continue
			}
			if len(part) == 0 || part[len(part)-1] != from {
				flush()
				part = append(part, from)
			}
			part = append(part, to)
		}
		flush()
	}
	return clipped
}

func inside(p Point, left, top, right, bottom float64) bool {
	return p.X >= left && p.X <= right && p.Y >= top && p.Y <= bottom
}

// clipSegment uses the method of Liang and Barsky.
func clipSegment(from, to Point, left, top, right, bottom float64) (Point, Point, bool) {
	if inside(from, left, top, right, bottom) && inside(to, left, top, right, bottom) {
		return from, to, true
	}
	start, end := 0.0, 1.0
	dx, dy := to.X-from.X, to.Y-from.Y
	for _, side := range [...]struct{ towards, room float64 }{
		{-dx, from.X - left}, {dx, right - from.X}, {-dy, from.Y - top}, {dy, bottom - from.Y},
	} {
		switch {
		case side.towards == 0 && side.room < 0:
			return from, to, false
		case side.towards < 0:
			start = max(start, side.room/side.towards)
		case side.towards > 0:
			end = min(end, side.room/side.towards)
		}
	}
	if !(start < end) {
		return from, to, false
	}
	along := func(share float64) Point {
		return Point{
			max(left, min(right, from.X+float64(share*dx))),
			max(top, min(bottom, from.Y+float64(share*dy))),
		}
	}
	a, b := along(start), along(end)
	if start == 0 {
		a = from
	}
	if end == 1 {
		b = to
	}
	return a, b, true
}

// clipArea returns the part of a polygon within a rectangle, by the method of
// Sutherland and Hodgman.
func clipArea(area []Point, left, top, right, bottom float64) []Point {
	x, y := func(p Point) float64 { return p.X }, func(p Point) float64 { return p.Y }
	cutAt := func(in []Point, coordinate func(Point) float64, bound, sign float64) []Point {
		var out []Point
		for i, p := range in {
			q := in[(i+len(in)-1)%len(in)]
			pIn, qIn := sign*(coordinate(p)-bound) >= 0, sign*(coordinate(q)-bound) >= 0
			if pIn != qIn {
				share := (bound - coordinate(q)) / (coordinate(p) - coordinate(q))
				out = append(out, Point{q.X + float64(share*(p.X-q.X)), q.Y + float64(share*(p.Y-q.Y))})
			}
			if pIn {
				out = append(out, p)
			}
		}
		return out
	}
	area = cutAt(area, x, left, 1)
	area = cutAt(area, x, right, -1)
	area = cutAt(area, y, top, 1)
	return cutAt(area, y, bottom, -1)
}
