package report

import (
	"fmt"
	"slices"
	"strings"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/show/analysis"
	"kafkabench.example/kafka-bench/internal/show/layout"
)

// leftOut says how many runs figures are not taken from though they were tried; "" of
// none.
func leftOut(s analysis.Sample) string {
	if !s.Survivors() {
		return ""
	}
	tried := len(s.Runs) + s.Missing
	verb := "are"
	if tried-s.Valid == 1 {
		verb = "is"
	}
	text := fmt.Sprintf("%d of %s %s invalid", tried-s.Valid, unit.Things(int64(tried), "run"), verb)
	if s.Missing > 0 {
		text += fmt.Sprintf(" or missing (%d)", s.Missing)
	}
	return text + " and left out"
}

// described is the state, after what the runs are called where that is not what the
// set is.
func described(s analysis.Sample) string {
	var names []string
	for _, r := range s.Runs {
		if name := r.Run.Run.Name; name != s.Label && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return layout.List(strings.Join(names, ", "), state(s))
}

// state says in words how many runs there are, and how many count.
func state(s analysis.Sample) string {
	all := unit.Things(int64(len(s.Runs)), "run")
	switch {
	case s.Valid == len(s.Runs) && s.Valid == 1:
		return "1 run, valid"
	case s.Valid == len(s.Runs):
		return all + ", all valid"
	case s.Valid == 0 && len(s.Taken) > 0:
		return all + ", NONE VALID: their figures are shown, and are not to be relied on"
	case s.Valid == 0:
		return all + ", NONE VALID and none finished"
	}
	return fmt.Sprintf("%s, %d valid, the others left out", all, s.Valid)
}
