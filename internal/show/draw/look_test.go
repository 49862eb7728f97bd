package draw

import (
	"fmt"
	"math"
	"testing"
)

// Any two of 35 series that have the same colour differ in dash, marker and hatch. The first seven all
// differ in these three.
func TestNoTwoSeriesLookAlike(t *testing.T) {
	all := newStyles().of(make([]Series, 35))
	for i, a := range all {
		for j, b := range all[:i] {
			looks := map[string][2]string{
				"dash":   {fmt.Sprint(a.dash()), fmt.Sprint(b.dash())},
				"marker": {fmt.Sprint(a.marker(Point{}, nil).Lines), fmt.Sprint(b.marker(Point{}, nil).Lines)},
				"hatch":  {fmt.Sprint(a.hatch(0, 0, 40, 40)), fmt.Sprint(b.hatch(0, 0, 40, 40))},
			}
			for what, look := range looks {
				if look[0] == look[1] && (i < 7 || a.colour == b.colour) {
					t.Errorf("series %d and %d have one %s: %s", j, i, what, look[0])
				}
			}
		}
	}
}

func TestOneNameHasOneStyle(t *testing.T) {
	all := newStyles()
	first := all.of([]Series{{Name: "a"}, {Name: "b"}, {Name: "c", Colour: 5}})
	second := all.of([]Series{{Name: "x"}, {Name: "b"}, {Name: "b"}})
	if second[1] != first[1] || first[2].colour != 5 {
		t.Errorf("%v, then %v", first, second)
	}
	x, b, other := second[0].number, second[1].number, second[2].number
	if x == b || other == b || other == x {
		t.Errorf("two of %v are alike", second)
	}
}

func TestRunsAndTheirMedianHaveOneMark(t *testing.T) {
	all := newStyles().of([]Series{{Name: "runs of a", With: "a"}, {Name: "a"}, {Name: "runs of b", With: "b"}, {Name: "b", Colour: 4}})
	if all[0] != all[1] || all[2] != all[3] || all[1] == all[3] || all[1].number != 0 || all[3].number != 1 {
		t.Errorf("the styles are %v", all)
	}
	if p := new(panel); p.isNamed(Series{Name: "runs of a", With: "a"}) || !p.isNamed(Series{Name: "a"}) {
		t.Error("the legend does not have only the median")
	}
}

// WCAG requires 3:1 for lines and areas, 4.5:1 for text.
func TestContrast(t *testing.T) {
	for _, scheme := range []Scheme{Light, Dark} {
		paper := luminance(scheme.Hex(PaperInk, 0))
		check := func(hex string, least float64) {
			a, b := luminance(hex), paper
			if ratio := (max(a, b) + 0.05) / (min(a, b) + 0.05); ratio < least {
				t.Errorf("scheme %d: %s has %.2f:1, want %g:1", scheme, hex, ratio, least)
			}
		}
		for colour := 1; colour <= Colours; colour++ {
			check(scheme.Hex(SeriesInk, colour), 3)
		}
		check(scheme.Hex(TextInk, 0), 4.5)
		check(scheme.Hex(MutedInk, 0), 4.5)
		check(scheme.Hex(AxisInk, 0), 3)
	}
}

func luminance(hex string) float64 {
	var rgb [3]uint8
	fmt.Sscanf(hex, "#%02x%02x%02x", &rgb[0], &rgb[1], &rgb[2])
	sum := 0.0
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		c := float64(rgb[i]) / 255
		if c <= 0.03928 {
			c /= 12.92
		} else {
			c = math.Pow((c+0.055)/1.055, 2.4)
		}
		sum += weight * c
	}
	return sum
}
