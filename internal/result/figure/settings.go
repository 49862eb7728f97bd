package figure

import (
	"slices"
	"strings"

	"kafkabench.example/kafka-bench/internal/result"
)

// notOfTheRun are the keys of a scenario that change nothing in a run: what it
// is called, and how often and in which order it is repeated.
var notOfTheRun = []string{"name", "description", "repeat", "order", "seed", "question", "answer", "quick", "matrix"}

// Settings are what a scenario, as a run has recorded it, asks of the run, by their
// paths: load.record.size is 512B. What changes nothing in a run is left out.
func Settings(scenario result.Settings) map[string]string {
	asked := map[string]string{}
	for name, value := range scenario.All() {
		root, _, _ := strings.Cut(name, ".")
		if root, _, _ = strings.Cut(root, "["); !slices.Contains(notOfTheRun, root) {
			asked[name] = value
		}
	}
	return asked
}
