//go:build full

package chart

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"kafkabench.example/kafka-bench/internal/result"
)

func TestRecordedRuns(t *testing.T) {
	const folder = "../../../results"
	drawnOf := map[string]int{}
	check := func(what string, in Input) {
		for _, c := range All() {
			spec, err := c.Draw(in)
			var missing *Missing
			switch {
			case err == nil:
				drawnOf[c.Name]++
				for _, fault := range faultsOf(spec) {
					t.Errorf("%s, chart %s: %s", what, c.Name, fault)
				}
			case !errors.As(err, &missing) && !strings.Contains(err.Error(), "it draws "):
				t.Errorf("%s: %v", what, err)
			}
		}
	}
	runs, err := result.List(folder)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, listed := range runs {
		if listed.Err == nil && names[listed.Run.Run.Name] {
			continue // repeats have the same charts
		}
		if listed.Err == nil {
			names[listed.Run.Run.Name] = true
		}
		r, err := result.Read(listed.Dir)
		if err != nil {
			t.Fatal(err)
		}
		check(filepath.Base(listed.Dir), Input{Runs: []*result.Recorded{r}})
		check(filepath.Base(listed.Dir)+" of scheduled", Input{Runs: []*result.Recorded{r}, OfScheduled: true})
	}
	campaigns, err := result.ListCampaigns(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, listed := range campaigns {
		c, err := result.ReadCampaign(listed.Dir)
		if err != nil {
			t.Fatal(err)
		}
		check(filepath.Base(listed.Dir), Input{Campaign: c})
	}
	for _, c := range All() {
		if c.Name == "differences" || c.Name == "history" {
			continue
		}
		t.Logf("%s: %d", c.Name, drawnOf[c.Name])
		if drawnOf[c.Name] == 0 {
			t.Errorf("no recorded run has what %s draws", c.Name)
		}
	}
}
