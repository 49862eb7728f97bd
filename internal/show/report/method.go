package report

import (
	"fmt"
	"slices"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/show/layout"
)

// method is "" if the run was imported.
func method(r *result.Run) string {
	if r.Method() == 0 {
		return ""
	}
	return fmt.Sprintf("method %d", r.Method())
}

// Methods names the methods of several runs, oldest first; "" if all were imported.
func Methods(runs []*result.Run) string {
	var numbers []int
	for _, r := range runs {
		if m := r.Method(); m > 0 && !slices.Contains(numbers, m) {
			numbers = append(numbers, m)
		}
	}
	slices.Sort(numbers)
	var names []string
	for _, m := range numbers {
		names = append(names, fmt.Sprintf("method %d", m))
	}
	return layout.Enumerate(names)
}

func mixture(recorded []*result.Recorded) (notes []string) {
	older, ours, newer := 0, 0, 0
	for _, r := range recorded {
		if r == nil {
			continue
		}
		switch m := r.Run.Method(); {
		case m == 0:
		case m < result.Method:
			older++
		case m == result.Method:
			ours++
		default:
			newer++
		}
	}
	if older > 0 && ours > 0 {
		notes = append(notes,
			fmt.Sprintf("%s of method 1: figures that were measured otherwise before method %d are of the other %d.",
				unit.Things(int64(older), "run"), result.Method, ours))
	}
	if newer > 0 && len(recorded) > 1 {
		notes = append(notes,
			fmt.Sprintf("%s of a later method than %d, which this kafka-bench does not know: they compare with none.",
				unit.Things(int64(newer), "run"), result.Method))
	}
	return notes
}
