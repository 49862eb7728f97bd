package main

import (
	"strings"
	"testing"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/resulttest"
)

func headlineOf(t *testing.T) *shelf {
	t.Helper()
	out := t.TempDir()
	saveCampaign(t, out, result.Campaign{
		SchemaVersion: 1,
		Campaign: result.CampaignInfo{
			ID: "short1", Name: headline, Kind: result.KindRuns,
			StartedAt: resulttest.StartedAt, FinishedAt: resulttest.StartedAt, Order: "interleaved", Repeat: 2,
		},
		Cells: []result.Cell{{Name: headline + "-off"}, {Name: headline + "-credit"}},
	}, baseline, overloadTight)
	s, err := readShelf(out)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestReadme(t *testing.T) {
	const around = "# Name\n\n" + blockBegin + "old\n" + blockEnd + "\nmore\n"
	s := headlineOf(t)
	text, err := s.readme([]byte(around))
	if err != nil {
		t.Fatal(err)
	}
	got := string(text)
	if !strings.HasPrefix(got, "# Name\n\n"+blockBegin+"| method 2 | admitted") || !strings.HasSuffix(got, ".\n"+blockEnd+"\nmore\n") {
		t.Errorf("README is\n%s", got)
	}
	for _, want := range []string{"Measured on: AMD EPYC 9R14, 2 CPUs", "All 4 runs are valid.", "e2e response time p99"} {
		if !strings.Contains(got, want) {
			t.Errorf("README does not say %q:\n%s", want, got)
		}
	}
	if strings.Contains(got, "old") {
		t.Errorf("README is\n%s", got)
	}
	if again, err := s.readme(text); err != nil || string(again) != got {
		t.Errorf("written again it is\n%s (%v)", again, err)
	}
}

func TestReadmeWithoutRunsOrBlock(t *testing.T) {
	if text, err := newShelf().readme([]byte("as it was")); err != nil || string(text) != "as it was" {
		t.Errorf("without runs README became %q (%v)", text, err)
	}
	for _, text := range []string{"no block", blockBegin + "no end", "no begin\n" + blockEnd} {
		if _, err := headlineOf(t).readme([]byte(text)); err == nil {
			t.Errorf("no error for %q", text)
		}
	}
}

func TestSearchSection(t *testing.T) {
	out, highest := t.TempDir(), 18_750.0
	saveCampaign(t, out, result.Campaign{
		SchemaVersion: 1,
		Campaign: result.CampaignInfo{
			ID: "found1", Name: search, Kind: result.KindSearch,
			StartedAt: resulttest.StartedAt, FinishedAt: resulttest.StartedAt, Order: "interleaved", Repeat: 1,
		},
		Cells: []result.Cell{{Name: "baseline-1"}},
		Search: &result.Search{
			Answer: "18,750/s is the highest offered load that holds.", HighestPerS: &highest, Expectations: []string{"failed <= 0"},
			Probes: []result.Probe{{Phase: "confirm", OfferedPerS: highest, AckedPerS: highest, Passed: true}},
		},
	}, baseline)
	s, err := readShelf(out)
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.searchSection()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Measured on: AMD EPYC 9R14", "### 18,750/s is the highest", "| confirm |", "failed <= 0", "method 2"} {
		if !strings.Contains(got, want) {
			t.Errorf("the section does not say %q:\n%s", want, got)
		}
	}
	if got, err := newShelf().searchSection(); err != nil || got != "Not made for this page." {
		t.Errorf("without a search: %q, %v", got, err)
	}
}
