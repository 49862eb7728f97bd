package main

import (
	"slices"
	"strings"
	"testing"

	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/resulttest"
	"kafkabench.example/kafka-bench/internal/run/campaign"
)

func TestOutdated(t *testing.T) {
	set := func(path string, value any) func(*result.Campaign) {
		return func(c *result.Campaign) { resulttest.Set(&c.Cells[1].Scenario, path, value) }
	}
	for what, c := range map[string]struct {
		name, quick string
		change      func(*result.Campaign)
		want        string
	}{
		"as it is":                   {"sweep-acks", "", set("name", "sweep-acks-1"), ""},
		"by sarama":                  {bySarama, "", func(*result.Campaign) {}, ""},
		"quick":                      {"drivers", quickForm, func(*result.Campaign) {}, ""},
		"the whole form named quick": {"drivers", "", func(c *result.Campaign) { c.Campaign.Name += quickForm }, "it has no drivers-quick-"},
		"another rate": {"sweep-acks", "", set("load.rate", "9k/s"),
			`sweep-acks-1 was recorded with load.rate "9k/s", which is now "10k/s"`},
		"another description":          {"sweep-acks", "", set("description", "other words"), ""},
		"fewer repeats":                {"sweep-acks", "", set("repeat", 2), ""},
		"a newer setting, its default": {"sweep-acks", "", set("sampling.replicas", nil), ""},
		"newer settings of a section":  {"sweep-acks", "", set("backpressure", nil), ""},
		"a newer setting, another":     {"sweep-acks", "", set("phases.measure", nil), "sweep-acks-1 was recorded with phases.measure"},
		"a setting that is not there":  {"sweep-acks", "", set("load.haste", 3), "load.haste"},
		"a cell less":                  {"sweep-acks", "", func(c *result.Campaign) { c.Cells = c.Cells[1:] }, "it has 2 configurations, and the preset has 3"},
		"another cell":                 {"sweep-acks", "", func(c *result.Campaign) { c.Cells[0].Name = "sweep-acks-2" }, "it has no sweep-acks-0"},
		"a driver was not built": {"drivers", quickForm, func(c *result.Campaign) {
			c.Campaign.Notes, c.Cells = []string{"3 cells of drivers left out"}, without(c.Cells, "librdkafka")
		}, ""},
		"a driver was not in the preset": {"drivers", quickForm, func(c *result.Campaign) { c.Cells = without(c.Cells, "librdkafka") },
			"it has 9 configurations, and the preset has 12"},
	} {
		recorded := planned(t, c.name, c.quick != "")
		c.change(&recorded)
		if err := outdated(c.name, &recorded); c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", what, err, c.want)
		}
	}
}

// planned is the campaign that the page would record.
func planned(t *testing.T, name string, quick bool) result.Campaign {
	t.Helper()
	suite, err := scenario.ReadSuite(presetNamed(name), formOf(name, quick))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	plan, err := campaign.NewPlan([]scenario.Suite{suite}, campaign.PlanOptions{})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	c, err := plan.Campaign(result.Tool{})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return c
}

func without(cells []result.Cell, driver string) (others []result.Cell) {
	for _, c := range cells {
		if c.Scenario.Get("driver") != driver {
			others = append(others, c)
		}
	}
	return others
}

func TestCommands(t *testing.T) {
	for name, want := range map[string]string{
		"sweep-acks":      "run sweep-acks --repeat 5",
		bySarama:          "run sweep-compression --driver sarama --set name=sweep-compression-sarama --repeat 5",
		"kmq-study":       "run kmq-study --quick --repeat 5",
		"search-baseline": "search baseline --curve",
		"kmq-drops-silent": "run kmq-drops-silent --set variants=[50-2s-markers,50-2s-offsetmap,50-cap4-2s-markers," +
			"50-cap4-2s-offsetmap,50-cap4-2s-share,50-cap4-15s-markers,50-cap4-15s-offsetmap," +
			"50-cap4-15s-share] --set phases.measure=10s --repeat 5",
	} {
		if got := strings.Join(command(name), " "); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestRecordedFormsHaveTheGoals(t *testing.T) {
	all, err := goals()
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range all {
		recorded := planned(t, g.Study, slices.Contains(long, g.Study))
		for _, variant := range []string{g.Variant, g.Of, g.Above} {
			if variant != "" && !slices.ContainsFunc(recorded.Cells, func(c result.Cell) bool { return valueOf(c) == variant }) {
				t.Errorf("%s (%s): the recorded form of %s has no %s", g.What, g.Figure, g.Study, variant)
			}
		}
	}
}
