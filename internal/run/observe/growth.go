package observe

import (
	"math"
)

// growth fits a line by least squares, by Welford's method, which keeps small differences of large
// numbers.
type growth struct {
	n                   float64
	meanX, meanY        float64
	sumXX, sumXY, sumYY float64
}

func (g *growth) add(x, y float64) {
	g.n++
	dx, dy := x-g.meanX, y-g.meanY
	g.meanX += dx / g.n
	g.meanY += dy / g.n
	g.sumXX += dx * (x - g.meanX)
	g.sumXY += dx * (y - g.meanY)
	g.sumYY += dy * (y - g.meanY)
}

// Known is false with fewer than three values.
func (g *growth) slope() (slope, standardError float64, known bool) {
	if g.n < 3 || g.sumXX == 0 {
		return 0, 0, false
	}
	slope = g.sumXY / g.sumXX
	left := max(0, g.sumYY-slope*g.sumXY)
	return slope, math.Sqrt(left / (g.n - 2) / g.sumXX), true
}
