package scenario

import (
	"fmt"
	"math"
	"time"

	"kafkabench.example/kafka-bench/internal/plan/unit"
)

// Longer work would cost the consumer its group membership.
const maxWork = unit.Duration(time.Hour)

// With 4, one record in a hundred takes ten thousand times the median.
const maxSigma = 4

// z99 is the 99th percentile of the standard normal distribution.
const z99 = 2.3263478740408408

func (w Work) byTail() bool { return w.Median != 0 || w.Sigma != 0 || w.P50 != 0 || w.P99 != 0 }

func (w Work) lognormal() (median, sigma float64) {
	if w.P50 != 0 || w.P99 != 0 {
		return float64(w.P50), math.Log(float64(w.P99)/float64(w.P50)) / z99
	}
	return float64(w.Median), w.Sigma
}

// Mean returns the expected work for one record.
func (w Work) Mean() time.Duration {
	mean, _ := w.Moments()
	return mean
}

// Moments returns the mean work for one record, and its deviation: the standard deviation for
// lognormal, else Jitter. Both are at most the longest duration.
func (w Work) Moments() (mean, deviation time.Duration) {
	switch {
	case w.Distribution == "uniform":
		return time.Duration(w.Time + w.Jitter/2), time.Duration(w.Jitter)
	case !w.byTail():
		return time.Duration(w.Time), time.Duration(w.Jitter)
	}
	median, sigma := w.lognormal()
	m := median * math.Exp(sigma*sigma/2)
	return bounded64(m), bounded64(m * math.Sqrt(math.Expm1(sigma*sigma)))
}

func bounded64(ns float64) time.Duration {
	if !(ns < math.MaxInt64) { // NaN included
		return math.MaxInt64
	}
	return time.Duration(ns)
}

func (c *checker) work(path string, w Work) {
	if w.byTail() {
		c.tail(path, w)
		return
	}
	c.duration(path+".time", w.Time, 0, maxWork)
	jitters := c.duration(path+".jitter", w.Jitter, 0, maxWork) && w.Jitter > 0
	c.choice(path+".distribution", w.Distribution, workings)
	random := w.Distribution == "exponential" || w.Distribution == "lognormal"
	if random && w.Time == 0 {
		c.mistake(path+".time", w.Distribution+" work needs a mean above 0", "give one, as in 4ms",
			path+".distribution")
	}
	if jitters && (w.Distribution == "fixed" || w.Distribution == "exponential") {
		c.mistake(path+".jitter", w.Distribution+" work has no jitter",
			"leave it out, or choose uniform or lognormal", path+".distribution")
	}
}

func (c *checker) tail(path string, w Work) {
	const examples = "write {median: 5ms, sigma: 1}, or {p50: 5ms, p99: 100ms}"
	byMedian, byPercentiles := w.Median != 0 || w.Sigma != 0, w.P50 != 0 || w.P99 != 0
	switch {
	case w.Distribution != "lognormal":
		c.choice(path+".distribution", w.Distribution, workings)
		c.mistake(path, "only lognormal work has a median and percentiles, and the distribution is "+w.Distribution,
			"set distribution: lognormal, or leave it out", path+".distribution")
	case w.Time != 0 || w.Jitter != 0 || byMedian && byPercentiles:
		c.mistake(path, "its distribution is given in two ways",
			"give time and jitter, or median and sigma, or p50 and p99",
			path+".time", path+".jitter", path+".median", path+".sigma", path+".p50", path+".p99")
	case byMedian && (w.Median <= 0 || w.Sigma <= 0 || w.Sigma > maxSigma):
		c.mistake(path, fmt.Sprintf("it has a median of %s and a sigma of %v", w.Median, w.Sigma),
			fmt.Sprintf("give both, a sigma of up to %d: %s", maxSigma, examples), path+".median", path+".sigma")
	case byPercentiles && (w.P50 <= 0 || w.P99 <= w.P50):
		c.mistake(path, fmt.Sprintf("it has a p50 of %s and a p99 of %s", w.P50, w.P99),
			"give both, the p99 above the p50: "+examples, path+".p50", path+".p99")
	default:
		if _, sigma := w.lognormal(); sigma > maxSigma {
			c.mistake(path, fmt.Sprintf("the p99 is %.0f times the p50", float64(w.P99)/float64(w.P50)),
				fmt.Sprintf("give at most %.0f times", math.Exp(z99*maxSigma)))
			return
		}
		mean, _ := w.Moments()
		c.duration(path, unit.Duration(mean), 0, maxWork)
	}
}

// Works reports whether the consumers ever have work.
func (c Consume) Works() bool {
	if c.Work.Mean() > 0 {
		return true
	}
	for _, change := range c.Changes {
		if change.Work.Mean() > 0 {
			return true
		}
	}
	return false
}
