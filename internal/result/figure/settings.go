package figure

import (
	"slices"
	"strings"

	"kafkabench.example/kafka-bench/internal/result"
)

var notOfTheRun = []string{"name", "description", "repeat", "order", "seed", "question", "answer", "quick", "matrix"}

// Settings returns the settings that affect a run, by path: load.record.size is 512B.
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
