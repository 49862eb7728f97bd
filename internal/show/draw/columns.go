package draw

import (
	"fmt"
	"math"
)

// Names of categories slant at 45 degrees if their columns are too narrow for three lines.
const (
	nameLines  = 3
	longest    = 150.0 // of a slanted name
	slant      = -45.0
	leastSlant = 18.0 // the distance between two slanted names
)

func (l *layout) upright(width float64) bool {
	for _, name := range l.x.Categories {
		lines := wrap(name, textSize, width-8, nameLines+1)
		if len(lines) > nameLines {
			return false
		}
		for _, part := range breakable(name) {
			if textWidth(part, textSize) > width-8 {
				return false
			}
		}
	}
	return true
}

func (l *layout) slantedMargin(columns int) float64 {
	width := (l.right - l.left) / float64(columns)
	if l.upright(width) {
		return 0
	}
	need := 0.0
	for i, name := range l.x.Categories {
		reach := min(textWidth(name, textSize), longest)*math.Sqrt2/2 + edge
		need = max(need, reach-(float64(i)+0.5)*width)
	}
	return min(need, 0.35*l.width)
}

func (l *layout) columnNames(bottom float64) {
	width := (l.right - l.left) / float64(len(l.x.Categories))
	if l.upright(width) {
		most := 0
		for i, name := range l.x.Categories {
			lines := wrap(name, textSize, width-8, nameLines)
			most = max(most, len(lines))
			for j, line := range lines {
				at := Point{l.x.at(float64(i)), bottom + 16 + float64(j)*lineHeight}
				l.words.Shapes = append(l.words.Shapes, text(NameText, at, line, Middle))
			}
		}
		l.y += 6 + float64(most)*lineHeight
		return
	}
	every := max(1, int(math.Ceil(leastSlant/width)))
	deepest := 0.0
	for i := 0; i < len(l.x.Categories); i += every {
		x := l.x.at(float64(i))
		room := min(longest, (x-edge)*math.Sqrt2)
		s := fitted(NameText, Point{x + 4, bottom + 12}, l.x.Categories[i], End, room)
		s.Text.Angle = slant
		deepest = max(deepest, s.Text.TextWidth()*math.Sqrt2/2)
		l.words.Shapes = append(l.words.Shapes, s)
	}
	l.y += 16 + deepest
	if every > 1 {
		l.notes = append(l.notes, fmt.Sprintf("Of the columns, every %s is named.", ordinal(every)))
	}
}
