package report

import (
	"fmt"
	"slices"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/figure"
	"kafkabench.example/kafka-bench/internal/show/layout"
)

// references finds for the valid runs of variants what the same consumers delivered
// without backpressure. What an invalid run delivered is nothing to hold others
// against.
func references(compared []variant) map[*result.Run]figure.Reference {
	var sets [][]*result.Run
	for _, v := range compared {
		var set []*result.Run
		for _, r := range v.runs {
			if v.valid > 0 {
				set = append(set, &r.Run)
			}
		}
		sets = append(sets, set)
	}
	return figure.References(sets)
}

// underBackpressure tells whether some variant was.
func underBackpressure(compared []variant) bool { return slices.ContainsFunc(compared, variant.held) }

// held tells whether a controller was there to hold load back.
func (v variant) held() bool {
	return slices.ContainsFunc(v.runs, func(r *result.Recorded) bool { return r.Run.Backpressure != nil })
}

// referenceNotes say what each variant under backpressure was held against, and of
// which there was nothing: a footnote of the table.
func referenceNotes(compared []variant) (notes []string) {
	if !underBackpressure(compared) {
		return nil
	}
	found := references(compared)
	against := map[string][]string{}
	var order, without []string
	for _, v := range compared {
		if !v.held() || v.valid == 0 {
			continue
		}
		reference, known := found[&v.runs[0].Run]
		if !known {
			without = append(without, v.name)
			continue
		}
		text := fmt.Sprintf("%s (%s), which differs in %s", called(compared, reference.Name), unit.PerSecond(reference.DeliveredPerS),
			layout.Enumerate(append([]string{"backpressure"}, reference.Differs...)))
		if len(reference.Differs) == 0 {
			text += " alone"
		}
		if against[text] == nil {
			order = append(order, text)
		}
		against[text] = append(against[text], v.name)
	}
	for _, text := range order {
		notes = append(notes, "÷ without backpressure: "+layout.Enumerate(against[text])+" against "+text+".")
	}
	if len(without) > 0 {
		notes = append(notes, "÷ without backpressure: no valid run here offered the same to the same consumers as "+layout.Enumerate(without)+" and let it through.")
	}
	return notes
}

// called is what sentences call the variant whose runs have a name.
func called(compared []variant, name string) string {
	for _, other := range compared {
		if len(other.runs) > 0 && other.runs[0].Run.Run.Name == name {
			return other.name
		}
	}
	return name
}
