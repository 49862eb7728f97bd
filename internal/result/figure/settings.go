package figure

import (
	"slices"
	"strconv"
	"strings"

	"kafkabench.example/kafka-bench/internal/result"
)

var notOfTheRun = []string{"name", "description", "repeat", "order", "seed", "question", "answer", "agents", "quick", "matrix"}

// payloadPath does not affect a run: the file's checksum does.
const payloadPath = "load.record.payload.file"

// Settings returns the settings that affect a run, by path: load.record.size is 512B.
func Settings(scenario result.Settings) map[string]string {
	asked := map[string]string{}
	for name, value := range scenario.All() {
		if name == payloadPath {
			continue
		}
		root, _, _ := strings.Cut(name, ".")
		if root, _, _ = strings.Cut(root, "["); !slices.Contains(notOfTheRun, root) {
			asked[name] = value
		}
	}
	return asked
}

// Configuration returns what makes runs repeats of each other: the settings of the scenario and, of
// a run of agents, how many agents there were and how they divided the load.
func Configuration(r *result.Run) map[string]string {
	all := Settings(r.Scenario)
	f := r.Fleet()
	if f.Agents > 0 {
		all["agents"], all["agents.placement"] = strconv.Itoa(f.Agents), f.Placement
	}
	if f.Senders > 0 {
		all["agents.senders"] = strconv.Itoa(f.Senders)
	}
	return all
}
