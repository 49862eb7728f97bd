package draw

import (
	"errors"
	"fmt"
)

// Check returns all mistakes of the spec. Layout draws a spec with mistakes as far as possible, and
// does not panic.
func (s Spec) Check() error {
	var faults []error
	fault := func(format string, values ...any) { faults = append(faults, fmt.Errorf(format, values...)) }
	if s.X.Format == nil && len(s.X.Categories) == 0 {
		fault("the x axis has neither a format nor categories")
	}
	for i, p := range s.Panels {
		if p.Y.Format == nil && len(p.Y.Categories) == 0 {
			fault("the y axis of panel %d (%s) has neither a format nor categories", i, p.Y.Label)
		}
		for _, one := range p.Series {
			if err := one.check(len(p.Y.Categories) > 0); err != nil {
				fault("panel %d (%s), series %q: %w", i, p.Y.Label, one.Name, err)
			}
		}
	}
	return errors.Join(faults...)
}

func (s Series) check(rows bool) error {
	slices := map[string][]float64{"X0": s.X0, "X1": s.X1, "Y": s.Y, "Low": s.Low, "High": s.High}
	var needs []string
	switch s.Kind {
	case Steps:
		needs = []string{"X1", "Y"}
	case Line, Points:
		needs = []string{"Y"}
	case Whiskers:
		needs = []string{"Y", "Low", "High"}
	case Band:
		needs = []string{"Low", "High"} // a band without X1 joins its points
	case Bars:
		needs = []string{"X1", "Y"}
		if !rows {
			return errors.New("bars need rows: give the y axis categories")
		}
	default:
		return fmt.Errorf("there is no kind %d", s.Kind)
	}
	for _, name := range needs {
		if len(slices[name]) != len(s.X0) {
			return fmt.Errorf("%s has %d values, X0 has %d", name, len(slices[name]), len(s.X0))
		}
	}
	return nil
}
