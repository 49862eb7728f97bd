package figure

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Regression is by how much a figure may become worse between two sets of runs.
type Regression struct {
	Figure Figure
	Ratio  float64 // 0.1 is 10 %
}

const worseBy = " worse by "

// ParseRegression reads "e2e_response_time_p99 worse by 10%". The figure must have a good side. 0%
// is any significant worsening.
func ParseRegression(text string) (Regression, error) {
	fault := func(err error) (Regression, error) {
		return Regression{}, fmt.Errorf("condition %q: %w", text, err)
	}
	name, by, found := strings.Cut(strings.TrimSpace(text), worseBy)
	if !found {
		return fault(errors.New("write a figure and by how much it may not be worse, as in e2e_response_time_p99 worse by 10%"))
	}
	f, err := Named(strings.TrimSpace(name))
	if err != nil {
		return fault(err)
	}
	if f.Better == Neither {
		return fault(fmt.Errorf("neither more nor less of %s is worse", f.Name))
	}
	by = strings.TrimSpace(by)
	number, percent := strings.CutSuffix(by, "%")
	if !percent {
		return fault(fmt.Errorf("%q is not in per cent; write worse by 10%%", by))
	}
	ratio, _, err := Ratio.parseDecimal(number + "%")
	switch {
	case err != nil:
		return fault(fmt.Errorf("%q is not a number of per cent; write worse by 10%%", by))
	case ratio < 0:
		return fault(fmt.Errorf("%q is less than nothing; write worse by %s", by, strings.TrimPrefix(by, "-")))
	}
	return Regression{Figure: f, Ratio: ratio}, nil
}

// Worsening converts a relative increase to a relative worsening; below 0 it is better.
func (r Regression) Worsening(difference float64) float64 {
	if r.Figure.Better == Higher {
		return -difference
	}
	return difference
}

// Exceeded reports whether a relative difference is worse by at least Ratio; a difference of 0
// never is.
func (r Regression) Exceeded(difference float64) bool {
	worse := r.Worsening(difference)
	return worse > 0 && worse >= r.Ratio
}

// String returns r as ParseRegression reads it.
func (r Regression) String() string {
	return r.Figure.Name + worseBy + percentOf(r.Ratio) + "%"
}

func percentOf(ratio float64) string {
	for digits := 1; digits < 18; digits++ {
		text := strconv.FormatFloat(ratio*100, 'g', digits, 64)
		plain, err := strconv.ParseFloat(text, 64)
		if err != nil {
			break
		}
		text = strconv.FormatFloat(plain, 'f', -1, 64)
		if v, _, err := Ratio.parseDecimal(text + "%"); err == nil && v == ratio {
			return text
		}
	}
	return strconv.FormatFloat(ratio*100, 'f', -1, 64)
}
