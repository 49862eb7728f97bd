package campaign

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/result"
)

func suiteOf(name string, repeat int, cells ...string) scenario.Suite {
	s := scenario.Suite{Name: name, Repeat: repeat, Order: scenario.Interleaved}
	for _, cell := range cells {
		one := scenario.Defaults()
		one.Name = cell
		s.Cells = append(s.Cells, scenario.Cell{Name: cell, Scenario: one})
	}
	return s
}

func planned(p Plan) string {
	var all []string
	for _, run := range p.Runs {
		all = append(all, fmt.Sprint(p.Cells[run.Cell].Name, run.Round))
	}
	return strings.Join(all, " ")
}

func mustPlan(t interface{ Fatal(...any) }, o PlanOptions, suites ...scenario.Suite) Plan {
	p, err := NewPlan(suites, o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPlanExamples(t *testing.T) {
	blocked := suiteOf("s", 2, "a", "b")
	blocked.Order = scenario.Blocked
	for name, c := range map[string]struct {
		suites    []scenario.Suite
		o         PlanOptions
		want      string
		wantName  string
		wantOrder string
	}{
		"rounds":                               {[]scenario.Suite{suiteOf("s", 2, "a", "b", "c")}, PlanOptions{}, "a0 b0 c0 a1 b1 c1", "s", scenario.Interleaved},
		"several, each as often as it says":    {[]scenario.Suite{suiteOf("a", 3, "a"), suiteOf("b", 1, "b"), suiteOf("c", 2, "c")}, PlanOptions{}, "a0 b0 c0 a1 c1 a2", "a and 2 more", scenario.Interleaved},
		"blocks":                               {[]scenario.Suite{blocked}, PlanOptions{}, "a0 a1 b0 b1", "s", scenario.Blocked},
		"several are interleaved":              {[]scenario.Suite{blocked, suiteOf("c", 1, "c")}, PlanOptions{}, "a0 b0 c0 a1 b1", "s and 1 more", scenario.Interleaved},
		"the command line's order":             {[]scenario.Suite{blocked}, PlanOptions{Order: scenario.Interleaved}, "a0 b0 a1 b1", "s", scenario.Interleaved},
		"the command line's repeats":           {[]scenario.Suite{blocked}, PlanOptions{Repeat: 1}, "a0 b0", "s", scenario.Blocked},
		"the same twice is one cell":           {[]scenario.Suite{suiteOf("a", 1, "a"), suiteOf("b", 1, "b"), suiteOf("a", 1, "a")}, PlanOptions{}, "a0 b0 a1", "a and 2 more", scenario.Interleaved},
		"one run":                              {[]scenario.Suite{suiteOf("a", 1, "a")}, PlanOptions{}, "a0", "a", scenario.Interleaved},
		"a block for each, the command line's": {[]scenario.Suite{suiteOf("a", 2, "a"), suiteOf("b", 2, "b")}, PlanOptions{Order: scenario.Blocked}, "a0 a1 b0 b1", "a and 1 more", scenario.Blocked},
	} {
		t.Run(name, func(t *testing.T) {
			p := mustPlan(t, c.o, c.suites...)
			if got := planned(p); got != c.want || p.Name != c.wantName || p.Order != c.wantOrder {
				t.Errorf("%s, %s: %s; want %s, %s: %s", p.Name, p.Order, got, c.wantName, c.wantOrder, c.want)
			}
		})
	}
}

func TestPlanRefuses(t *testing.T) {
	other := suiteOf("b", 1, "a")
	other.Cells[0].Scenario.Load.Producers = 7
	for name, c := range map[string]struct {
		suites []scenario.Suite
		want   string
	}{
		"two of one name": {[]scenario.Suite{suiteOf("a", 1, "a"), other}, "two different scenarios are called a; give one of them another name"},
		"too many":        {[]scenario.Suite{suiteOf("a", 6000, "a", "b")}, "these are 12000 runs, and a campaign has at most 10000; repeat them less often"},
	} {
		if _, err := NewPlan(c.suites, PlanOptions{}); err == nil || err.Error() != c.want {
			t.Errorf("%s: error %v, want %s", name, err, c.want)
		}
	}
}

func drawSuites(t *rapid.T) []scenario.Suite {
	var suites []scenario.Suite
	for i := range rapid.IntRange(1, 4).Draw(t, "suites") {
		var cells []string
		for k := range rapid.IntRange(1, 5).Draw(t, "cells") {
			cells = append(cells, fmt.Sprintf("s%d-%d-", i, k))
		}
		s := suiteOf(fmt.Sprint("s", i), rapid.IntRange(1, 6).Draw(t, "repeat"), cells...)
		s.Order = rapid.SampledFrom([]string{scenario.Interleaved, scenario.Blocked}).Draw(t, "order")
		s.Seed = rapid.Uint64Range(0, 3).Draw(t, "seed")
		suites = append(suites, s)
	}
	return suites
}

func TestPlanLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		suites := drawSuites(t)
		p := mustPlan(t, PlanOptions{}, suites...)
		if again := mustPlan(t, PlanOptions{}, suites...); !reflect.DeepEqual(p, again) {
			t.Fatalf("%s, and again %s", planned(p), planned(again))
		}
		made := make(map[int]int)
		var last PlannedRun
		for i, run := range p.Runs {
			if run.Round != made[run.Cell] {
				t.Fatalf("%s: run %d is round %d of its cell after %d", planned(p), i, run.Round, made[run.Cell])
			}
			made[run.Cell]++
			if p.Order == scenario.Interleaved && i > 0 && run.Round < last.Round {
				t.Fatalf("%s: a round begins before the last has ended", planned(p))
			}
			if p.Order == scenario.Blocked && i > 0 && run.Cell != last.Cell && run.Round != 0 {
				t.Fatalf("%s: a block is torn", planned(p))
			}
			last = run
		}
		cell := 0
		for _, s := range suites {
			for range s.Cells {
				if made[cell] != s.Repeat {
					t.Fatalf("%s: cell %d has %d runs, want %d", planned(p), cell, made[cell], s.Repeat)
				}
				cell++
			}
		}
	})
}

func TestSeedShufflesRounds(t *testing.T) {
	plain := suiteOf("s", 4, "a", "b", "c", "d", "e")
	orders := make(map[string]bool)
	for seed := range uint64(5) {
		s := plain
		s.Seed = seed
		p := mustPlan(t, PlanOptions{}, s)
		orders[planned(p)] = true
		rounds := make(map[string]bool)
		for round := range 4 {
			var cells []string
			for _, run := range p.Runs[5*round : 5*round+5] {
				cells = append(cells, p.Cells[run.Cell].Name)
			}
			rounds[strings.Join(cells, "")] = true
		}
		if seed == 0 && (len(rounds) != 1 || !rounds["abcde"]) {
			t.Errorf("without a seed the rounds are %v", rounds)
		}
		if seed != 0 && len(rounds) < 3 {
			t.Errorf("seed %d: all rounds are %v", seed, rounds)
		}
	}
	if len(orders) != 5 {
		t.Errorf("five seeds gave %d orders", len(orders))
	}
}

func TestSavedPlan(t *testing.T) {
	var suites []scenario.Suite
	for _, name := range scenario.Names() {
		suite, err := scenario.ReadSuite(name, scenario.Options{})
		if err != nil {
			t.Fatal(err)
		}
		suites = append(suites, suite)
	}
	// In a scenario file, $${ stands for ${. Here both are plain text and must stay so.
	odd := suiteOf("odd", 1, "odd")
	odd.Cells[0].Scenario.Description = `costs ${HOME} & $${HOME}: "10 %" <more>, 日本`
	odd.Cells[0].Scenario.Topic.Config = map[string]string{"retention.ms": "-1", "cleanup.policy": "null"}
	suites = append(suites, odd)
	p := mustPlan(t, PlanOptions{Repeat: 2}, suites...)
	c, err := p.Campaign(result.Tool{})
	if err != nil {
		t.Fatal(err)
	}
	j, err := Create(t.TempDir(), c)
	if err != nil {
		t.Fatal(err)
	}
	recorded, err := result.ReadCampaign(j.Dir())
	if err != nil {
		t.Fatal(err)
	}
	got, err := Saved(&recorded.Campaign)
	if err != nil {
		t.Fatal(err)
	}
	for i, cell := range p.Cells {
		if !reflect.DeepEqual(got.Cells[i].Scenario, cell.Scenario) {
			t.Errorf("%s was\n%+v\nand is\n%+v", cell.Name, cell.Scenario, got.Cells[i].Scenario)
		}
	}
	if planned(got) != planned(p) || got.Name != p.Name || got.Order != p.Order {
		t.Errorf("read %s %s: %s", got.Name, got.Order, planned(got))
	}
}

// A campaign that was recorded with keys that scenarios no longer have is resumed if runs do the same now.
func TestSavedScenarioOfFormerKeys(t *testing.T) {
	now, err := result.SettingsOf(scenario.Defaults())
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(now)
	if err != nil {
		t.Fatal(err)
	}
	for share, want := range map[string]string{"static": "", "demand": "backpressure.share: unknown key"} {
		former := strings.Replace(string(text), `"backpressure":{`, `"backpressure":{"per":"topic","share":"`+share+`",`, 1)
		var cell result.Cell
		if err := json.Unmarshal([]byte(former), &cell.Scenario); err != nil || cell.Scenario.Get("backpressure.share") != share {
			t.Fatalf("%v: %s", err, former)
		}
		s, err := SavedScenario(cell)
		switch {
		case want == "" && (err != nil || !reflect.DeepEqual(s, scenario.Defaults())):
			t.Errorf("%s: %+v, %v", share, s, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: %v, want %q", share, err, want)
		}
	}
}

func TestSavedRefusesWhatHasNoPlan(t *testing.T) {
	c := &result.Campaign{Campaign: result.CampaignInfo{Name: "edge", Kind: result.KindSearch}}
	if _, err := Saved(c); err == nil || !strings.Contains(err.Error(), "campaign edge is a search") {
		t.Errorf("error %v", err)
	}
}

// A campaign that is resumed sends the records that its finished runs sent.
func TestSavedRefusesAChangedFile(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("orders.ndjson", "{}\n")
	suite, err := scenario.ReadSuite(write("s.yaml", "load: {record: {payload: {file: orders.ndjson}}}"), scenario.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := NewPlan([]scenario.Suite{suite}, PlanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := p.Campaign(result.Tool{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Saved(&c); err != nil {
		t.Error(err)
	}
	write("orders.ndjson", "{ }\n")
	if _, err := Saved(&c); err == nil || !strings.Contains(err.Error(), "it is another file, or was changed") {
		t.Errorf("the error of a changed file is %v", err)
	}
}
