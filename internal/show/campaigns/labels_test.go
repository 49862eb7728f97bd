package campaigns_test

import (
	"slices"
	"strings"
	"testing"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/show/analysis"
	"kafkabench.example/kafka-bench/internal/show/campaigns"
	"kafkabench.example/kafka-bench/internal/show/report"
	"kafkabench.example/kafka-bench/internal/show/showtest"
)

func matrix() *result.Campaign {
	c := &result.Campaign{Axes: []result.Axis{
		{Path: "load.compression", Values: []string{"none", "zstd"}}, {Path: "load.linger", Values: []string{"0", "5ms"}},
	}}
	for _, codec := range c.Axes[0].Values {
		for _, linger := range c.Axes[1].Values {
			c.Cells = append(c.Cells, result.Cell{Name: "mycodecs-" + codec + "-" + linger, Values: []string{codec, linger}})
		}
	}
	return c
}

func TestCellNamed(t *testing.T) {
	c := matrix()
	for _, name := range []string{
		"mycodecs-zstd-5ms", "zstd/5ms", "zstd,5ms", "zstd, 5ms", "zstd 5ms",
		"compression=zstd,linger=5ms", "compression=zstd linger=5ms", "compression zstd, linger 5ms", "load.compression=zstd,load.linger=5ms",
	} {
		if i, err := analysis.CellNamed(c, name); err != nil || i != 3 {
			t.Errorf("%q is cell %d, %v", name, i, err)
		}
	}
	for _, name := range []string{"zstd", "5ms/zstd", "", "zstd/5", "linger=5ms"} {
		if i, err := analysis.CellNamed(c, name); err == nil || !strings.Contains(err.Error(), "mycodecs-none-0 (none/0)") {
			t.Errorf("%q is cell %d, %v", name, i, err)
		}
	}
}

func TestAnswersNameTheSetting(t *testing.T) {
	c := sweep(t, 5, []string{"0", "all"}, []float64{1, 2})
	c.Campaign.Axes[0].Path = "load.acks"
	d, err := campaigns.Analyse(c, "")
	if err != nil {
		t.Fatal(err)
	}
	if want := "acks 0 is best by"; !strings.HasPrefix(d.Answer.Sentence, want) || !strings.Contains(d.Answer.Sentence, "the next is acks all with") || d.Answer.Best != "0" {
		t.Errorf("the answer is %s, of %q", d.Answer.Sentence, d.Answer.Best)
	}
	got := string(showtest.Written(t, campaign(c, ""), report.Options{}))
	if lines := strings.Split(got, "\n"); !slices.ContainsFunc(lines, func(line string) bool { return strings.HasPrefix(line, "acks ") }) {
		t.Errorf("no head of the cells in\n%s", got)
	}
	c = sweep(t, 1, []string{"0", "all"}, []float64{1, 2})
	if got := string(showtest.Written(t, campaign(c, ""), report.Options{Format: report.AsMarkdown})); strings.Contains(got, "below them") {
		t.Errorf("Markdown has nothing below a median\n%s", got)
	}
}
