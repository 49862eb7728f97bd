package report

import (
	"fmt"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/show/analysis"
	"kafkabench.example/kafka-bench/internal/show/layout"
)

// referenceNotes say what each variant under backpressure was held against, and of
// which there was nothing: a footnote of the table.
func referenceNotes(compared []analysis.Variant) (notes []string) {
	if !analysis.UnderBackpressure(compared) {
		return nil
	}
	found := analysis.References(compared)
	against := map[string][]string{}
	var order, without []string
	for _, v := range compared {
		if !v.Held() || v.Valid == 0 {
			continue
		}
		reference, known := found[&v.Runs[0].Run]
		if !known {
			without = append(without, v.Name)
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
		against[text] = append(against[text], v.Name)
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
func called(compared []analysis.Variant, name string) string {
	for _, other := range compared {
		if len(other.Runs) > 0 && other.Runs[0].Run.Run.Name == name {
			return other.Name
		}
	}
	return name
}
