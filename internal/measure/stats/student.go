package stats

import "math"

// StudentQuantile returns the value that Student's |t| exceeds with a chance of tail, in (0, 1);
// degrees is at least 1.
func StudentQuantile(tail float64, degrees int) float64 {
	low, high := 0.0, 1.0
	for studentTail(high, degrees) > tail {
		low, high = high, 2*high
	}
	for range 60 {
		middle := low + (high-low)/2
		if studentTail(middle, degrees) > tail {
			low = middle
		} else {
			high = middle
		}
	}
	return high
}

// studentTail sums M. Abramowitz and I. A. Stegun, Handbook of Mathematical Functions, 1964, 26.7.3
// and 26.7.4. Above manyDegrees it uses the normal distribution.
func studentTail(t float64, degrees int) float64 {
	const manyDegrees = 10_000
	if degrees > manyDegrees {
		return math.Erfc(t / math.Sqrt2)
	}
	theta := math.Atan(t / math.Sqrt(float64(degrees)))
	sine, cosine := math.Sincos(theta)
	term, sum, first := 1.0, 0.0, 2
	if degrees%2 == 1 {
		term, first = cosine, 3
	}
	for k := first; k <= degrees; k += 2 {
		sum += term
		term *= cosine * cosine * float64(k-1) / float64(k)
	}
	if degrees%2 == 1 {
		return max(0, 1-2/math.Pi*(theta+sine*sum))
	}
	return max(0, 1-sine*sum)
}
