package campaign_test

import (
	"slices"
	"testing"

	"kafka-bench/internal/campaign"
	"kafka-bench/internal/scenario"
)

func TestPlanInterleavesRepeats(t *testing.T) {
	named := func(name string, repeat int) scenario.Scenario { return scenario.Scenario{Name: name, Repeat: repeat} }
	plan := campaign.Plan([]scenario.Scenario{named("a", 3), named("b", 1), named("c", 2)})
	var names []string
	for _, s := range plan {
		names = append(names, s.Name)
	}
	if want := []string{"a", "b", "c", "a", "c", "a"}; !slices.Equal(names, want) {
		t.Errorf("plan %v, want %v", names, want)
	}
}
