package campaigns_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/resulttest"
	"kafkabench.example/kafka-bench/internal/show/analysis"
	"kafkabench.example/kafka-bench/internal/show/campaigns"
	"kafkabench.example/kafka-bench/internal/show/report"
	"kafkabench.example/kafka-bench/internal/show/showtest"
)

func short(t *testing.T, repeat int) *result.RecordedCampaign {
	s := showtest.NewStudy(t, 7)
	variants := []string{"off", "hysteresis-tight", "credit", "latency"}
	c := &result.RecordedCampaign{Dir: "runs/20261121T195900Z-backpressure-short-s8ort1"}
	c.Campaign = result.Campaign{
		SchemaVersion: 1, Axes: []result.Axis{{Path: "variant", Values: variants}},
		Campaign: result.CampaignInfo{
			ID: "s8ort1", Name: "backpressure-short", Kind: result.KindRuns, Question: "What does backpressure cost in delivered_per_s, and does it hold its bound?",
			StartedAt: resulttest.StartedAt, FinishedAt: resulttest.StartedAt.Add(time.Hour), Order: "interleaved", Repeat: repeat, Tool: result.Tool{Version: "0.1.0"},
		},
	}
	for _, v := range variants {
		c.Campaign.Cells = append(c.Campaign.Cells, result.Cell{Name: "backpressure-short-" + v, Values: []string{v}})
	}
	for round := range repeat {
		for i, r := range []*result.Recorded{
			s.Variant("off", resulttest.Overload(), nil), s.Variant("hysteresis-tight", resulttest.OverloadTight(), nil), s.Credit(), s.Latency(),
		} {
			c.Runs = append(c.Runs, r)
			c.Campaign.Runs = append(c.Campaign.Runs, result.CampaignRun{Cell: i, Round: round, Dir: "../" + filepath.Base(r.Dir), Status: result.Valid})
		}
	}
	return c
}

func TestCampaignOfBackpressure(t *testing.T) {
	once, repeated := campaign(short(t, 1), ""), campaign(short(t, 5), "")
	for _, width := range []int{80, 120} {
		for name, write := range map[string]func(*bytes.Buffer, report.Options) error{"study-short": once, "study-repeated": repeated} {
			got := showtest.Written(t, write, report.Options{Width: width})
			showtest.Screens(t, got, width, 182)
			showtest.Golden(t, fmt.Sprintf("%s-%d", name, width), got)
		}
	}
	showtest.Golden(t, "study-repeated.md", showtest.Written(t, repeated, report.Options{Format: report.AsMarkdown}))
}

func TestUnrankedUnderBackpressure(t *testing.T) {
	c := short(t, 2)
	c.Campaign.Campaign.Question = "Which gate costs the least?"
	c.Runs[2].Run.Verdict.Warnings = []string{"the machine's CPUs were 97.00 % busy"}
	c.Runs[6].Run.Verdict.Warnings = []string{"the machine's CPUs were 98.50 % busy"}
	d, err := campaigns.Analyse(c, "")
	if err != nil || d.Answer.Status != analysis.AnswerNoRanking || d.Answer.Figure != "" || !strings.Contains(d.Answer.Sentence, "credit kept its bound in both runs") ||
		strings.Contains(d.Answer.Sentence, "nothing is ranked") {
		t.Errorf("%+v, %v", d.Answer, err)
	}
	if d, err := campaigns.Analyse(c, "delivered_per_s"); err != nil || d.Answer.Figure != "delivered_per_s" {
		t.Errorf("with a figure: %+v, %v", d.Answer, err)
	}
	got := string(showtest.Written(t, campaign(c, ""), report.Options{}))
	if n := strings.Count(got, "CPUs were"); n != 1 || !strings.Contains(got, "credit, at worst: the machine's CPUs were 98.50 % busy.") {
		t.Errorf("a warning of two runs is told %d times:\n%s", n, got)
	}
}

// A controller that holds a time has settled when that time is back too.
func TestSettlingTimesOfTwoKinds(t *testing.T) {
	c := short(t, 5)
	c.Campaign.Campaign.Question = "Which controller follows the consumers in the least settling_time?"
	for i, r := range c.Runs {
		if took := []float64{0, 2, 1, 0.5}[i%4] * (1 + float64(i)/100); took > 0 {
			r.Run.Lag.Changes = []result.Change{{What: "work 1ms", SettlingS: &took}}
		}
	}
	d, err := campaigns.Analyse(c, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Without a target time: credit is best by settling time", "With one: latency: settling time"} {
		if !strings.Contains(d.Answer.Sentence, want) {
			t.Errorf("%q is not in %q", want, d.Answer.Sentence)
		}
	}
	if d.Answer.Status != analysis.AnswerNoRanking || d.Answer.Best != "" {
		t.Errorf("%+v", d.Answer)
	}
}

func TestVariantsAreCompared(t *testing.T) {
	for repeat, words := range map[int]map[string]string{
		1: {},
		2: {"hysteresis-tight": analysis.WordTooFew, "credit": analysis.WordTooFew, "latency": analysis.WordTooFew},
		5: {"hysteresis-tight": analysis.WordWorse, "credit": analysis.WordNoDifference, "latency": analysis.WordWorse},
	} {
		d, err := campaigns.Analyse(short(t, repeat), "")
		if err != nil {
			t.Fatal(err)
		}
		if len(d.Against) != len(words) {
			t.Errorf("%d repeats: %d variants are compared, want %d", repeat, len(d.Against), len(words))
		}
		for _, c := range d.Against {
			others := map[string][]string{"latency": {"consume.commit"}}[c.Variant]
			if !slices.Equal(c.DiffersIn, others) {
				t.Errorf("%s differs from off in %v beside backpressure, want %v", c.Variant, c.DiffersIn, others)
			}
			if c.Base != "off" || len(c.Figures) != 3 || c.Figures[0].Figure != "delivered_per_s" || c.Figures[0].Word != words[c.Variant] {
				t.Errorf("%d repeats: %s against %s: %+v", repeat, c.Variant, c.Base, c.Figures)
			}
		}
	}
}
