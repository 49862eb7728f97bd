package compared_test

import (
	"slices"
	"strings"
	"testing"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/show/analysis"
	"kafkabench.example/kafka-bench/internal/show/report"
	"kafkabench.example/kafka-bench/internal/show/showtest"
)

// byAgents returns four runs: of one process, of two agents, and two runs of three agents with
// placement apart, one with one sender and one with two.
func byAgents(t *testing.T) (all []*result.Recorded) {
	m := showtest.NewMaker(t, 3)
	for _, change := range []func(*result.Run){
		nil, showtest.MadeBy(2, 0, "any"), showtest.MadeBy(3, 1, "apart"), showtest.MadeBy(3, 2, "apart"),
	} {
		all = append(all, m.Run("q", 1, change))
	}
	return all
}

func TestAgentsAreConfiguration(t *testing.T) {
	one, any2, apart1, apart2 := 0, 1, 2, 3
	for _, pair := range []struct {
		a, b int
		want []analysis.Difference
	}{
		{one, any2, []analysis.Difference{{Name: "agents", B: "2"}, {Name: "agents.placement", B: "any"}}},
		{any2, apart1, []analysis.Difference{
			{Name: "agents", A: "2", B: "3"}, {Name: "agents.placement", A: "any", B: "apart"}, {Name: "agents.senders", B: "1"}}},
		{apart1, apart2, []analysis.Difference{{Name: "agents.senders", A: "1", B: "2"}}},
	} {
		runs := byAgents(t)
		c := compare(t, []analysis.Set{{Label: "a", Runs: runs[pair.a : pair.a+1]}, {Label: "b", Runs: runs[pair.b : pair.b+1]}},
			analysis.CompareOptions{})
		if got := c.Against[0].Configuration; !slices.Equal(got, pair.want) {
			t.Errorf("the configurations %d and %d differ in %v; want %v", pair.a, pair.b, got, pair.want)
		}
		text := string(showtest.Written(t, writing(c), report.Options{}))
		if strings.Contains(text, "was asked for the same") || !strings.Contains(text, pair.want[0].Name+"  ") {
			t.Errorf("the text does not show %s:\n%s", pair.want[0].Name, text)
		}
	}
	runs := byAgents(t)
	c := compare(t, []analysis.Set{{Label: "a", Runs: runs[:2]}, {Label: "b", Runs: runs[2:3]}}, analysis.CompareOptions{})
	if text := strings.Join(c.Warnings, "\n"); !strings.Contains(text, "agents (2, not set)") {
		t.Errorf("a set of one process and of agents has the warnings %s", text)
	}
}

func TestHistoryOfAgents(t *testing.T) {
	h := history(t, byAgents(t), analysis.HistoryOptions{})
	if len(h.Runs) != 1 || len(h.Others) != 3 {
		t.Fatalf("%d runs of %s, and beside it %+v", len(h.Runs), h.Configuration, h.Others)
	}
	if d := h.Others[2].Differences; len(d) != 3 || d[0] != (analysis.Difference{Name: "agents", B: "3"}) {
		t.Errorf("the runs of one process differ in %v", d)
	}
}
