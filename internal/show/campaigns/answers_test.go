package campaigns_test

import (
	"bytes"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/resulttest"
	"kafkabench.example/kafka-bench/internal/show/analysis"
	"kafkabench.example/kafka-bench/internal/show/answers"
	"kafkabench.example/kafka-bench/internal/show/campaigns"
	"kafkabench.example/kafka-bench/internal/show/report"
	"kafkabench.example/kafka-bench/internal/show/showtest"
)

// answered calls change for each run, to set what the run reached. noise is a factor near 1 that
// varies by about a per cent.
func answered(t *testing.T, answer string, repeat int, names []string, change func(cell int, noise float64, r *result.Recorded)) *result.RecordedCampaign {
	m := showtest.NewMaker(t, 9)
	c := &result.RecordedCampaign{Dir: "runs/20261121T195900Z-" + answer + "-c4wq7d"}
	c.Campaign = result.Campaign{
		SchemaVersion: 1, Axes: []result.Axis{{Path: "variant", Values: names}},
		Campaign: result.CampaignInfo{
			ID: "c4wq7d", Name: answer, Kind: result.KindRuns, Question: "What does it come to?", Answer: answer,
			StartedAt: resulttest.StartedAt, FinishedAt: resulttest.StartedAt.AddDate(0, 0, 1), Order: "interleaved", Repeat: repeat,
			Tool: result.Tool{Version: "0.1.0"},
		},
	}
	for _, name := range names {
		c.Campaign.Cells = append(c.Campaign.Cells, result.Cell{Name: answer + "-" + name, Values: []string{name}})
	}
	for round := range repeat {
		for i, name := range names {
			r := m.Run(answer+"-"+name, 1, nil)
			r.Run.Load.ClosedLoop = true
			change(i, 1+0.01*m.Random.NormFloat64(), r)
			c.Runs = append(c.Runs, r)
			c.Campaign.Runs = append(c.Campaign.Runs, result.CampaignRun{Cell: i, Round: round, Dir: "../" + filepath.Base(r.Dir), Status: result.Valid})
		}
	}
	return c
}

func produces(r *result.Recorded, perS, size float64) {
	l := &r.Run.Load
	l.AckedPerS, l.Acked, l.Scheduled, l.Admitted = perS, int64(20*perS), int64(20*perS), int64(20*perS)
	l.Bytes = l.Acked * int64(size)
}

func consumes(r *result.Recorded, perS float64, consumers int) {
	d := &r.Run.Delivery
	d.DeliveredPerS, d.Delivered = perS, int64(20*perS)
	d.Bytes = 100 * d.Delivered
	r.Run.Load = result.Load{}
	resulttest.Set(&r.Run.Scenario, "consume", map[string]any{"consumers": consumers})
}

func limitedBy(r *result.Recorded, resource string, saturation float64) {
	r.Run.Bottleneck = &result.Bottleneck{Resource: resource, Saturation: saturation}
}

func most(t *testing.T, repeat int) *result.RecordedCampaign {
	names := []string{"1 producer, RF 1", "1 producer, RF 3, acks 1", "1 producer, RF 3, acks all", "3 producers, RF 3, acks 1"}
	return answered(t, "most", repeat, names, func(i int, noise float64, r *result.Recorded) {
		produces(r, noise*[]float64{820e3, 790e3, 420e3, 1.2e6}[i], 100)
		limitedBy(r, []string{"client CPU", "client CPU", "in-flight limit", "broker CPU"}[i], 0.93)
	})
}

func against(t *testing.T, repeat int) *result.RecordedCampaign {
	c := most(t, repeat)
	names := c.Campaign.Axes[0].Values
	for i, base := range []int{-1, 0, 1, 1} {
		if base >= 0 {
			c.Campaign.Cells[i].Against = names[base]
		}
	}
	return c
}

func takes(r *result.Recorded, bytes, toolNs, brokerCores float64) {
	cores := brokerCores
	r.Run.Storage = &result.Storage{WireBytesPerRecord: &bytes}
	r.Run.Process.CPUPerRecord = &toolNs
	r.Run.Broker = []result.Broker{{CPUCores: &cores}}
	r.Run.Load.ClosedLoop = false
}

// The third codec saves the most bytes, and costs the most garbage collections.
func savings(t *testing.T, repeat int) *result.RecordedCampaign {
	return answered(t, "savings", repeat, []string{"none", "lz4", "zstd"}, func(i int, noise float64, r *result.Recorded) {
		takes(r, noise*[]float64{530, 310, 240}[i], noise*[]float64{4000, 4400, 9000}[i], 0.4*noise)
		r.Run.Process.GCCycles = []int64{44, 47, 842}[i] + int64(100*(noise-1))
	})
}

func payloads(t *testing.T, repeat int) *result.RecordedCampaign {
	return answered(t, "payloads", repeat, []string{"random", "zeros"}, func(i int, noise float64, r *result.Recorded) {
		takes(r, noise*[]float64{540, 60}[i], 4000*noise, 0.4)
		r.Run.Compression = []result.Compression{
			{Codec: "gzip", Ratio: []float64{1, 9.4}[i]}, {Codec: "zstd", Ratio: []float64{1, 11.2}[i], UsedByThisRun: true},
		}
	})
}

func sized(t *testing.T, repeat int) *result.RecordedCampaign {
	return answered(t, "knee", repeat, []string{"64B", "256B", "1KiB", "4KiB", "16KiB"}, func(i int, noise float64, r *result.Recorded) {
		size := float64(int(64) << (2 * i))
		produces(r, 8000, size)
		takes(r, size, noise*(3000+2*size), 8000*noise*(2000+3*size)/1e9)
	})
}

func scaling(t *testing.T, repeat int) *result.RecordedCampaign {
	return answered(t, "scaling", repeat, []string{"1/1", "2/2", "4/4"}, func(i int, noise float64, r *result.Recorded) {
		consumes(r, noise*[]float64{900e3, 1.6e6, 1.7e6}[i], 1<<i)
		limitedBy(r, []string{"not known", "client CPU", "client CPU"}[i], 0.97)
	})
}

func alongAxes(c *result.RecordedCampaign, axes []result.Axis, values [][]string) *result.RecordedCampaign {
	c.Campaign.Axes = axes
	for i := range c.Campaign.Cells {
		c.Campaign.Cells[i].Values = values[i]
	}
	return c
}

func crews(t *testing.T, repeat int) *result.RecordedCampaign {
	values := [][]string{{"1", "1"}, {"1", "4"}, {"3", "1"}, {"3", "4"}}
	c := answered(t, "per-consumer", repeat, []string{"1-1", "1-4", "3-1", "3-4"}, func(i int, noise float64, r *result.Recorded) {
		consumes(r, noise*[]float64{900e3, 1.2e6, 950e3, 3e6}[i], []int{1, 4}[i%2])
		resulttest.Set(&r.Run.Scenario, "cluster.brokers", []int{1, 3}[i/2])
		limitedBy(r, []string{"not known", "broker CPU", "not known", "client CPU"}[i], 0.97)
	})
	return alongAxes(c, []result.Axis{{Path: "cluster.brokers", Values: []string{"1", "3"}}, {Path: "consume.consumers", Values: []string{"1", "4"}}}, values)
}

// With the first memory limit no run is possible; with the second, runs are too slow.
func limits(t *testing.T, repeat int) *result.RecordedCampaign {
	values := [][]string{{"32MiB"}, {"64MiB"}, {"128MiB"}, {"1GiB"}}
	c := answered(t, "enough", repeat, []string{"32MiB", "64MiB", "128MiB", "1GiB"}, func(i int, noise float64, r *result.Recorded) {
		consumes(r, noise*[]float64{1, 400e3, 960e3, 1e6}[i], 1)
		if i == 0 {
			r.Run.Verdict = result.Verdict{Status: result.Invalid, Reasons: []string{"the consumers' process has ended: killed by the operating system at its memory limit of 32 MiB"}}
		}
	})
	return alongAxes(c, []result.Axis{{Path: "consume.memory", Values: []string{"32MiB", "64MiB", "128MiB", "1GiB"}}}, values)
}

func limited(t *testing.T, repeat int, spread float64, reached ...float64) *result.RecordedCampaign {
	names := []string{"32MiB", "64MiB", "128MiB", "1GiB"}[:len(reached)]
	var values [][]string
	for _, name := range names {
		values = append(values, []string{name})
	}
	c := answered(t, "enough", repeat, names, func(i int, noise float64, r *result.Recorded) {
		consumes(r, (1+spread*(noise-1))*reached[i], 1)
	})
	return alongAxes(c, []result.Axis{{Path: "consume.memory", Values: names}}, values)
}

func TestEnoughIsNotMoreThanTheRunsShow(t *testing.T) {
	for name, c := range map[string]struct {
		campaign    *result.RecordedCampaign
		want, never string
	}{
		"one in between is slow": {limited(t, 5, 1, 950e3, 400e3, 960e3, 1e6),
			"memory 128MiB is the least from which on all are within 10 % of the best", "not shown"},
		"and is named": {limited(t, 5, 1, 950e3, 400e3, 960e3, 1e6),
			"of the best, but one with more did not come as near; memory 64MiB reached 0.40", "not shown"},
		"the highest is slow": {limited(t, 5, 1, 950e3, 1e6, 980e3, 400e3),
			"No value is known to be enough, as memory 1GiB, the highest", "is the least"},
		"the highest is not told apart": {limited(t, 5, 20, 400e3, 960e3, 1e6, 880e3),
			"memory 64MiB is the least from which on all are within 10 % of the best, or not told apart from it", "No value"},
		"within the noise": {limited(t, 5, 6, 400e3, 920e3, 1e6), ", which is not shown of memory 64MiB", "128MiB and"},
		"of too few runs":  {limited(t, 2, 1, 400e3, 960e3, 1e6), ", which is not shown of memory 64MiB", "128MiB and"},
	} {
		if got := sentenceOf(t, c.campaign); !strings.Contains(got, c.want) || strings.Contains(got, c.never) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func knee(t *testing.T, repeat int) *result.RecordedCampaign {
	names := []string{"10B", "100B", "1kB", "10kB", "100kB"}
	return answered(t, "knee", repeat, names, func(i int, noise float64, r *result.Recorded) {
		size := math.Pow10(i + 1)
		produces(r, noise/(500e-9+5e-9*size), size)
	})
}

// stored makes runs whose throughput is lower by falls, in MB/s, for each stored GB.
func stored(t *testing.T, repeat int, falls float64) *result.RecordedCampaign {
	return answered(t, "slope", repeat, []string{"20 GB"}, func(_ int, noise float64, r *result.Recorded) {
		produces(r, 1e6, 100)
		r.Run.Run.Phases = []result.Phase{{Name: "warm-up"}, {Name: "measure", EndNs: 100e9}, {Name: "drain", StartNs: 100e9, EndNs: 101e9}}
		r.Intervals = nil
		random, off, bytes := showtest.NewMaker(t, uint64(1e6*noise)).Random, 0.0, 0.0
		for i := range int64(100) {
			off = 0.6*off + 1e6*random.NormFloat64()
			perS := 100e6 - falls*bytes/1e3 + off
			r.Intervals = append(r.Intervals, result.Interval{StartNs: i * 1e9, EndNs: (i + 1) * 1e9, Phase: "measure", Acked: int64(perS / 100)})
			bytes += perS
		}
	})
}

func beside(t *testing.T, repeat int) *result.RecordedCampaign {
	return answered(t, "times", repeat, []string{"acks 1, RF 1", "acks all, RF 3"}, func(i int, noise float64, r *result.Recorded) {
		r.Run.Load.ClosedLoop = false
		r.Run.Time["e2e_response_time"] = showtest.Scaled(r.Run.Time["e2e_response_time"], noise*float64(1+i))
	})
}

func failover(t *testing.T, repeat int) *result.RecordedCampaign {
	stretch := func(from, to, p99 int64) *result.Stretch {
		return &result.Stretch{StartNs: from, EndNs: to, Time: map[string]result.IntervalTime{"e2e_response_time": {Count: 1000, P99Ns: p99}}}
	}
	return answered(t, "failover", repeat, []string{"kill under acks all", "kill under acks 1"}, func(i int, noise float64, r *result.Recorded) {
		under := 12.5 * noise
		r.Run.Availability = &result.Availability{
			AckGapMaxNs: int64(4.2e9 * noise), UnderReplicatedS: &under, LookedEveryNs: 100e6,
			Before: stretch(0, 5e9, 6e6), During: stretch(5e9, 18e9, 4_100e6), After: stretch(18e9, 20e9, 7e6),
		}
		r.Run.Delivery.Lost, r.Run.Delivery.Duplicates = int64(i)*12, int64(i)*3
	})
}

func TestNamedAnswers(t *testing.T) {
	for name, c := range map[string]*result.RecordedCampaign{
		"most": most(t, 5), "scaling": scaling(t, 5), "per-consumer": crews(t, 5), "enough": limits(t, 5), "knee": knee(t, 3), "slope": stored(t, 5, 0.5), "times": beside(t, 5), "failover": failover(t, 5),
		"savings": savings(t, 5), "payloads": payloads(t, 5), "knee-scheduled": sized(t, 5), "most-against": against(t, 5),
	} {
		t.Run(name, func(t *testing.T) {
			for _, width := range []int{80, 120} {
				got := showtest.Written(t, campaign(c, ""), report.Options{Width: width})
				showtest.Screens(t, got, width, 200)
				showtest.Golden(t, fmt.Sprintf("answer-%s-%d", name, width), got)
			}
			showtest.Golden(t, "answer-"+name+".md", showtest.Written(t, campaign(c, ""), report.Options{Format: report.AsMarkdown}))
		})
	}
}

func sentenceOf(t *testing.T, c *result.RecordedCampaign) string {
	t.Helper()
	d, err := campaigns.Analyse(c, "")
	if err != nil {
		t.Fatal(err)
	}
	if d.Answer.Status != analysis.AnswerTold || d.Answer.Name != c.Campaign.Campaign.Answer || len(d.Table.Rows) != len(c.Campaign.Cells) {
		t.Errorf("the answer is %+v, with the table %+v", d.Answer, d.Table)
	}
	return d.Answer.Sentence
}

func TestNamedAnswersOfOneRun(t *testing.T) {
	for name, of := range map[string]func(*testing.T, int) *result.RecordedCampaign{
		"most": most, "scaling": scaling, "per-consumer": crews, "enough": limits, "knee": knee, "times": beside, "failover": failover,
		"slope": func(t *testing.T, repeat int) *result.RecordedCampaign { return stored(t, repeat, 0) },
	} {
		if one := sentenceOf(t, of(t, 1)); !strings.HasPrefix(one, "In one run of each, ") || !strings.Contains(one, " claim: ") {
			t.Errorf("%s: of one run the answer is %q", name, one)
		}
		if several := sentenceOf(t, of(t, 5)); strings.Contains(several, "no claim") {
			t.Errorf("%s: of five runs the answer is %q", name, several)
		}
	}
}

func TestMostOfTheSame(t *testing.T) {
	c := answered(t, "most", 5, []string{"a", "b", "c"}, func(i int, noise float64, r *result.Recorded) {
		produces(r, noise*[]float64{1e6, 1e6, 5e5}[i], 100)
	})
	if got := sentenceOf(t, c); !strings.Contains(got, "The highest median of records/s is that of ") || !strings.Contains(got, "not told apart from") || strings.Contains(got, "reached the most") {
		t.Errorf("the answer is %q", got)
	}
}

func TestSlopeAnswer(t *testing.T) {
	for _, repeat := range []int{1, 6} {
		if got := sentenceOf(t, stored(t, repeat, 1)); !strings.Contains(got, "which is shown to be a change") {
			t.Errorf("%d runs of a falling throughput: %q", repeat, got)
		}
		if got := sentenceOf(t, stored(t, repeat, 0)); !strings.Contains(got, "is not shown to be a change") {
			t.Errorf("%d runs of a steady throughput: %q", repeat, got)
		}
	}
	c := stored(t, 3, 0)
	for _, r := range c.Runs {
		r.Intervals = r.Intervals[:5]
	}
	if got := sentenceOf(t, c); !strings.Contains(got, "too few intervals") {
		t.Errorf("five intervals: %q", got)
	}
}

// What was stored before the measured window is not part of the change over the window.
func TestSlopeIsOfTheWindow(t *testing.T) {
	over := func(fill int64) string {
		c := stored(t, 1, 1)
		if fill > 0 {
			c.Runs[0].Run.Fill = &result.Fill{Bytes: fill}
		}
		_, after, _ := strings.Cut(sentenceOf(t, c), " for each GB, ")
		change, _, _ := strings.Cut(after, " over all")
		return change
	}
	if empty, filled := over(0), over(100e9); empty == "" || empty != filled {
		t.Errorf("the change is %q, and after a fill %q", empty, filled)
	}
}

// Two runs whose slopes differ in size show no slope, even if each run by itself shows one.
func TestSlopeOfTwoRuns(t *testing.T) {
	fall := func(falls ...float64) *result.RecordedCampaign {
		c := stored(t, 1, falls[0])
		for _, f := range falls[1:] {
			more := stored(t, 1, f)
			c.Runs = append(c.Runs, more.Runs[0])
			c.Campaign.Runs = append(c.Campaign.Runs, more.Campaign.Runs[0])
		}
		return c
	}
	for _, falls := range [][]float64{{1}, {0.3}} {
		if got := sentenceOf(t, fall(falls...)); !strings.Contains(got, "is shown to be a change") {
			t.Errorf("a run by itself that falls by %g: %q", falls[0], got)
		}
	}
	if got := sentenceOf(t, fall(1, 0.3)); !strings.Contains(got, "is not shown to be a change") {
		t.Errorf("two runs that do not agree: %q", got)
	}
}

func TestBoundedVolumesAreTold(t *testing.T) {
	c := stored(t, 3, 0)
	for _, r := range c.Runs {
		r.Run.Load.VolumeBoundedBytes = 3e9
	}
	const differ = "differ in volume"
	if got := string(showtest.Written(t, campaign(c, ""), report.Options{Width: 400})); strings.Contains(got, differ) {
		t.Errorf("volumes are said to differ that are the same:\n%s", got)
	}
	c.Runs[1].Run.Load.VolumeBoundedBytes, c.Runs[2].Run.Load.VolumeBoundedBytes = 2e9, 0
	if got := string(showtest.Written(t, campaign(c, ""), report.Options{Width: 400})); !strings.Contains(got, differ+" (2.00 GB, 3.00 GB, what was asked)") {
		t.Errorf("volumes that differ are not told of:\n%s", got)
	}
	found, err := analysis.Compare([]analysis.Set{{Label: "a", Runs: c.Runs[:1]}, {Label: "b", Runs: c.Runs[1:2]}}, analysis.CompareOptions{})
	if err != nil || !slices.Contains(found.Against[0].Hidden, analysis.Difference{Name: "volume", A: "3.00 GB", B: "2.00 GB"}) {
		t.Errorf("%+v, %v", found.Against[0].Hidden, err)
	}
}

func TestScalingOfShortWindows(t *testing.T) {
	c := scaling(t, 2)
	const short = "is shorter than a second"
	if got := sentenceOf(t, c); strings.Contains(got, short) {
		t.Errorf("of long windows: %q", got)
	}
	for i := range c.Runs {
		if c.Campaign.Runs[i].Cell == 2 {
			c.Runs[i].Run.Run.Phases = []result.Phase{{Name: "warm-up"}, {Name: "measure", EndNs: 0.4e9}, {Name: "drain", StartNs: 0.4e9, EndNs: 1e9}}
		}
	}
	if got := sentenceOf(t, c); !strings.Contains(got, "the measured window of 4/4 "+short) {
		t.Errorf("of a window of 0.4 s: %q", got)
	}
}

func TestKneeAnswer(t *testing.T) {
	if got := sentenceOf(t, knee(t, 5)); !strings.Contains(got, "from 100 B on") && !strings.Contains(got, "from 99") && !strings.Contains(got, "from 101 B on") {
		t.Errorf("a knee at 100 B: %q", got)
	}
	c := answered(t, "knee", 3, []string{"10B", "20B", "40B", "80B"}, func(i int, noise float64, r *result.Recorded) {
		produces(r, noise*1e6, 10*float64(int(1)<<i))
	})
	if got := sentenceOf(t, c); !strings.Contains(got, "do not show that both records and their bytes cost something") {
		t.Errorf("records whose size costs nothing: %q", got)
	}
}

func TestAnswersOfWrongInputs(t *testing.T) {
	t.Run("no valid run", func(t *testing.T) {
		c := most(t, 2)
		for _, r := range c.Runs {
			r.Run.Verdict = result.Verdict{Status: result.Invalid, Reasons: []string{"something"}}
		}
		d, err := campaigns.Analyse(c, "")
		if err != nil || d.Answer.Status != analysis.AnswerNoRanking || d.Answer.Sentence != "No run is valid: there is no answer." || d.Table == nil {
			t.Errorf("%+v, %v", d.Answer, err)
		}
		for _, want := range []string{"No run is valid", strings.Fields(d.Table.Rows[3][2])[0], "†"} {
			if !bytes.Contains(showtest.Written(t, campaign(c, ""), report.Options{}), []byte(want)) {
				t.Errorf("%q is not in the text", want)
			}
		}
	})
	t.Run("a cell without one", func(t *testing.T) {
		for _, of := range []func(*testing.T, int) *result.RecordedCampaign{most, scaling, beside, failover} {
			c := of(t, 3)
			for i, planned := range c.Campaign.Runs {
				if planned.Cell == 0 {
					c.Runs[i].Run.Verdict = result.Verdict{Status: result.Invalid, Reasons: []string{"something"}}
				}
			}
			if got := sentenceOf(t, c); !strings.HasSuffix(got, "there is no valid run of "+c.Campaign.Cells[0].Values[0]+".") {
				t.Errorf("%s: %q", c.Campaign.Campaign.Answer, got)
			}
		}
	})
	t.Run("nothing that it asks for", func(t *testing.T) {
		for _, question := range answers.Questions {
			answer := question.Name
			if answer == "decision" {
				continue // its rows are kinds of work
			}
			c := answered(t, answer, 3, []string{"a", "b"}, func(_ int, _ float64, r *result.Recorded) {
				r.Run.Load, r.Run.Delivery, r.Run.Consumer = result.Load{}, result.Delivery{}, result.Consumer{}
				r.Run.Time, r.Intervals = map[string]result.Time{}, nil
			})
			got := sentenceOf(t, c)
			if strings.Contains(got, "NaN") || strings.Contains(got, "Inf") || len(got) < 20 {
				t.Errorf("%s: %q", answer, got)
			}
			t.Log(got)
		}
	})
	t.Run("another figure, by the reader", func(t *testing.T) {
		d, err := campaigns.Analyse(most(t, 5), "cpu_cores")
		if err != nil || d.Answer.Name != "" || d.Answer.Figure != "cpu_cores" {
			t.Errorf("%+v, %v", d.Answer, err)
		}
	})
}

func TestScalingAnswer(t *testing.T) {
	got := sentenceOf(t, scaling(t, 5))
	for _, want := range []string{"2/2 reached 1.7", "with 2 times the consumers: an efficiency of 8", "with 4 times the consumers: an efficiency of 47 % (46..47 %), limited by client CPU 97 %"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in %q", want, got)
		}
	}
	if !strings.Contains(got, ", and what limited it is not known;") {
		t.Errorf("that nothing limited the first is not in %q", got)
	}
	c := scaling(t, 5)
	limitedBy(c.Runs[0], "client CPU", 0.97)
	if got := sentenceOf(t, c); !strings.Contains(got, ", and what limited it is not known (4 of 5 runs);") {
		t.Errorf("in how many runs nothing limited the first is not in %q", got)
	}
}

func TestBySuite(t *testing.T) {
	c := answered(t, "times", 2, []string{"1-client", "2-clients"}, func(_ int, _ float64, r *result.Recorded) { r.Run.Load.ClosedLoop = false })
	for by, want := range map[string]string{"": "e2e response time p99 of 1-client", "send_response_time_p99": "send response time p99 of 1-client"} {
		c.Campaign.Campaign.By = by
		d, err := campaigns.Analyse(c, "")
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(strings.ToLower(d.Answer.Sentence), want) {
			t.Errorf("by %q: %s", by, d.Answer.Sentence)
		}
	}
	c.Campaign.Campaign.By, c.Campaign.Campaign.Answer = "send_response_time_p99", ""
	d, err := campaigns.Analyse(c, "")
	if err != nil || d.Answer.Figure != "send_response_time_p99" || d.Answer.FigureFrom != analysis.FromSuite {
		t.Errorf("%+v, %v", d.Answer, err)
	}
}

// One variant consumes, and the other measures a time at the same offered load.
func crossed(t *testing.T, repeat int, drivers []string, change func(driver int, consumes bool, noise float64, r *result.Recorded)) *result.RecordedCampaign {
	var names []string
	for _, driver := range drivers {
		names = append(names, driver+", consume", driver+", latency")
	}
	c := answered(t, "most", repeat, names, func(i int, noise float64, r *result.Recorded) {
		if i%2 == 0 {
			consumes(r, noise*1e6, 1)
		} else {
			r.Run.Load.ClosedLoop = false
		}
		change(i/2, i%2 == 0, noise, r)
	})
	c.Campaign.Axes = []result.Axis{{Path: "driver", Values: drivers}, {Path: "variant", Values: []string{"consume", "latency"}}}
	for i := range c.Campaign.Cells {
		c.Campaign.Cells[i].Values = []string{drivers[i/2], []string{"consume", "latency"}[i%2]}
	}
	return c
}

// Cells are compared with the first of the same variant, and a client that did not read all records
// is not ranked.
func TestMostOfUnlikeVariants(t *testing.T) {
	c := crossed(t, 3, []string{"franz", "librdkafka"}, func(driver int, reads bool, noise float64, r *result.Recorded) {
		switch {
		case reads && driver == 1:
			consumes(r, noise*1e5, 1)
			r.Run.Fill, r.Run.Delivery.Pending = &result.Fill{Records: 5e6}, 3e6
			resulttest.Set(&r.Run.Scenario, "driver", "librdkafka")
		case !reads:
			r.Run.Time["e2e_response_time"] = showtest.Scaled(r.Run.Time["e2e_response_time"], noise*float64(1+driver))
		}
	})
	d, err := campaigns.Analyse(c, "")
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(d.Table.Head, func(head string) bool { return strings.HasPrefix(head, "÷ first") })
	for i, row := range d.Table.Rows {
		want := []string{"1", "1", unit.Absent, "1.0"}[i]
		if !strings.HasPrefix(row[at], want) {
			t.Errorf("%s ÷ the first of its variant is %s, want %s", row[0], row[at], want)
		}
	}
	if got := d.Table.Rows[2][1]; !strings.Contains(got, "not read out") || strings.Contains(d.Table.Rows[0][1], "not read out") {
		t.Errorf("the runs of librdkafka are %q", got)
	}
	text := strings.Join(d.Table.Notes, " ")
	for _, want := range []string{"fetch.queue.backoff.ms", "Not read out: librdkafka, consume"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in %q", want, text)
		}
	}
	for _, want := range []string{"librdkafka is not ranked: it did not read all", "latency: ", "librdkafka has "} {
		if !strings.Contains(d.Answer.Sentence, want) {
			t.Errorf("%q is not in %q", want, d.Answer.Sentence)
		}
	}
	for _, never := range []string{"librdkafka reached", "driver "} {
		if strings.Contains(d.Answer.Sentence, never) {
			t.Errorf("%q is in %q", never, d.Answer.Sentence)
		}
	}
}

func TestMostAlongAnAxis(t *testing.T) {
	for _, test := range []struct {
		rates []float64
		want  string
	}{
		{[]float64{9e5, 1e6, 2e5}, "partitions 100 is the last whose median is within 10 % of the best"},
		{[]float64{8e5, 9.6e5, 1e6}, "the median at partitions 1000, the highest that was measured, is within 10 % of the best"},
	} {
		values := []string{"1", "100", "1000"}
		c := answered(t, "most", 3, values, func(i int, noise float64, r *result.Recorded) { produces(r, noise*test.rates[i], 100) })
		c.Campaign.Axes = []result.Axis{{Path: "topic.partitions", Values: values}}
		if got := sentenceOf(t, c); !strings.Contains(got, test.want) {
			t.Errorf("%q is not in %q", test.want, got)
		}
	}
}

func TestScalingOfConfined(t *testing.T) {
	c := answered(t, "scaling", 3, []string{"1-1", "4-4", "4-4-half"}, func(i int, noise float64, r *result.Recorded) {
		consumes(r, noise*[]float64{1e6, 2e6, 1e6}[i], []int{1, 4, 4}[i])
		if i == 2 {
			resulttest.Set(&r.Run.Scenario, "consume.cpu", 0.5)
		}
	})
	if got := sentenceOf(t, c); !strings.Contains(got, "4-4-half, confined to 0.5 cores, reached 0.5") && !strings.Contains(got, "4-4-half, confined to 0.5 cores, reached 0.49") || !strings.Contains(got, "times what 4-4 did") {
		t.Errorf("%q", got)
	}
}

func TestPerConsumerAnswer(t *testing.T) {
	got := sentenceOf(t, crews(t, 5))
	for _, want := range []string{"On 1 broker 1 consumer read 9", "and 4 read 299,", "each, 0.33 (", "limited by broker CPU 97 %", "1 consumer read 1.0", "4 consumers read 2.", "times as much from 3 brokers as from 1"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in %q", want, got)
		}
	}
}

// No claim is made about a cell that did not read all records, and no claim uses such a cell as a
// base.
func TestPartlyReadIsNotRanked(t *testing.T) {
	partly := func(c *result.RecordedCampaign, cells ...int) *result.RecordedCampaign {
		for i, planned := range c.Campaign.Runs {
			if r := &c.Runs[i].Run; slices.Contains(cells, planned.Cell) {
				r.Fill, r.Delivery.Pending = &result.Fill{Records: 5e6}, 3e6
			}
		}
		return c
	}
	for _, c := range []struct {
		campaign    *result.RecordedCampaign
		want, never string
	}{
		{partly(limits(t, 5), 3), "memory 128MiB is the least from which on all are within 10 % of the best", "the best is"},
		{partly(limits(t, 5), 3), "; memory 1GiB is not ranked: it did not read all;", "memory 1GiB reached"},
		{partly(limits(t, 5), 1, 2, 3), "o valid run shows what it reached; memory 64MiB is not ranked", "is the least"},
		{partly(crews(t, 5), 3), "brokers 3, consumers 4 is not ranked: it did not read all.", "4 consumers read"},
		{partly(crews(t, 5), 0, 1, 2, 3), "o valid run shows what its consumers read; brokers 1, consumers 1 is not ranked", "each"},
		{partly(scaling(t, 5), 2), "; 4/4 is not ranked: it did not read all.", "4/4 reached"},
		{partly(scaling(t, 5), 0), "o valid run shows what the first scenario reaches", "reached"},
	} {
		if got := sentenceOf(t, c.campaign); !strings.Contains(got, c.want) || strings.Contains(got, c.never) {
			t.Errorf("%q", got)
		}
	}
}

func TestEnoughAnswer(t *testing.T) {
	got := sentenceOf(t, limits(t, 5))
	for _, want := range []string{"memory 128MiB is the least from which on all are within 10 % of the best", "the best is memory 1GiB", "memory 64MiB reached 0.40 ", "there is no valid run of memory 32MiB"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in %q", want, got)
		}
	}
	c := limits(t, 5)
	for i := range c.Campaign.Cells {
		c.Campaign.Cells[i].Values = []string{string(rune('a' + i))}
	}
	if got := sentenceOf(t, c); !strings.Contains(got, "do not differ in one number") {
		t.Errorf("of names: %q", got)
	}
}

// The cost of the bytes is extrapolated beyond the largest size.
func TestKneeBeyondTheSizes(t *testing.T) {
	sizes := []float64{10, 20, 30, 60, 90}
	got := sentenceOf(t, answered(t, "knee", 5, []string{"10B", "20B", "30B", "60B", "90B"}, func(i int, noise float64, r *result.Recorded) {
		produces(r, noise/(500e-9+5e-9*sizes[i]), sizes[i])
	}))
	if !strings.Contains(got, ", which is beyond the largest that was measured (90 B)") {
		t.Errorf("%q", got)
	}
	if got := sentenceOf(t, knee(t, 3)); strings.Contains(got, "beyond") || !strings.HasPrefix(got, "In elapsed time, a record costs ") {
		t.Errorf("%q", got)
	}
}

func TestSlopeWithAReader(t *testing.T) {
	c := answered(t, "slope", 3, []string{"alone", "reader"}, func(i int, noise float64, r *result.Recorded) {
		produces(r, noise*[]float64{1e6, 8e5}[i], 100)
	})
	if got := sentenceOf(t, c); !strings.Contains(got, "reader wrote 0.8") || !strings.Contains(got, "times what alone did") {
		t.Errorf("%q", got)
	}
}

func TestTimesAddedAlongAnAxis(t *testing.T) {
	of := func(repeat int, numbers ...string) string {
		c := answered(t, "times", repeat, numbers, func(i int, noise float64, r *result.Recorded) {
			r.Run.Load.ClosedLoop = false
			r.Run.Time["e2e_response_time"] = showtest.Scaled(r.Run.Time["e2e_response_time"], noise*[]float64{2, 1, 1}[i])
		})
		for i := range numbers {
			c.Campaign.Cells[i].Values = numbers[i : i+1]
		}
		c.Campaign.Axes = []result.Axis{{Path: "topic.partitions", Values: numbers}}
		return sentenceOf(t, c)
	}
	several := of(5, "1000", "1", "10")
	for _, want := range []string{"; partitions 1000 adds +", " adds +8.", " ms) to the e2e response time p99 of partitions 1.", "; partitions 10 adds ",
		" to the e2e response time p99 of partitions 1, which is not shown to be a difference; partitions 1000"} {
		if !strings.Contains(several, want) {
			t.Errorf("%q is not in %q", want, several)
		}
	}
	if got := of(2, "1000", "1", "10"); !strings.Contains(got, "of partitions 1, which 2 runs are too few to show.") {
		t.Errorf("of two runs: %q", got)
	}
	if got := of(5, "many", "one", "ten"); strings.Count(got, " ms) to the e2e response time p99 of partitions many") != 2 {
		t.Errorf("of names, which have no order: %q", got)
	}
}

func TestTimesNameTheLowest(t *testing.T) {
	if got := sentenceOf(t, beside(t, 6)); !strings.Contains(got, "acks 1, RF 1 has the lowest") || !strings.Contains(got, "the runs show it") {
		t.Errorf("%q", got)
	}
	if got := sentenceOf(t, beside(t, 1)); !strings.Contains(got, "acks 1, RF 1 has the lowest") || strings.Contains(got, "the runs show it") {
		t.Errorf("of one run: %q", got)
	}
	same := answered(t, "times", 5, []string{"a", "b"}, func(_ int, noise float64, r *result.Recorded) {
		r.Run.Time["e2e_response_time"] = showtest.Scaled(r.Run.Time["e2e_response_time"], noise)
	})
	if got := sentenceOf(t, same); !strings.Contains(got, "not told apart") || strings.Contains(got, "the runs show it") {
		t.Errorf("of the same: %q", got)
	}
}

func TestSlopeOfSomeRuns(t *testing.T) {
	c := stored(t, 2, 1)
	c.Runs[1].Intervals = c.Runs[1].Intervals[:9]
	got := sentenceOf(t, c)
	for _, want := range []string{"by the slope of 1 of 2 runs", "too few whole intervals", "carries no claim"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in %q", want, got)
		}
	}
	if strings.Contains(got, "is shown to be a change") {
		t.Errorf("the slope of a single run of two: %q", got)
	}
	all, one := stored(t, 2, 1), stored(t, 1, 1)
	all.Runs[1].Intervals = all.Runs[1].Intervals[:9]
	mean := func(c *result.RecordedCampaign) string {
		d, err := campaigns.Analyse(c, "")
		if err != nil {
			t.Fatal(err)
		}
		return d.Table.Rows[0][slices.Index(d.Table.Head, "mean throughput")]
	}
	if mean(all) == mean(one) {
		t.Errorf("the mean throughput of two runs is that of the first, %s", mean(one))
	}
}

func TestWorstWarning(t *testing.T) {
	c := most(t, 1)
	const form = "partition %d had no acknowledgement for %s s, from 0.0 s on"
	for i, gap := range []string{"3.1", "13.1", "9.5", "2.0"} {
		c.Runs[i].Run.Verdict.Warnings = []string{fmt.Sprintf(form, 86-i, gap)}
	}
	got := string(showtest.Written(t, campaign(c, ""), report.Options{Width: 400}))
	if !strings.Contains(got, "All, at worst: "+fmt.Sprintf(form, 85, "13.1")) || strings.Contains(got, "for 3.1 s") {
		t.Errorf("the worst is not what is shown:\n%s", got)
	}
}

func TestFailoverAnswer(t *testing.T) {
	got := sentenceOf(t, failover(t, 5))
	for _, want := range []string{"none was lost and none came twice", "60 were lost and 15 came twice", "6.00 ms before, 4.10 s during and 7.00 ms after"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in %q", want, got)
		}
	}
}

func TestKneeOfAllBrokersOrNone(t *testing.T) {
	c := sized(t, 5)
	for _, r := range c.Runs {
		if strings.HasSuffix(r.Run.Run.Name, "16KiB") {
			r.Run.Broker = nil
		}
	}
	got := sentenceOf(t, c)
	for _, want := range []string{"that of the brokers is not known", "1.5"} { // 3000 + 2·size: at 1,500 B
		if !strings.Contains(got, want) {
			t.Errorf("the answer has no %q: %s", want, got)
		}
	}
}

func TestNoClaimOfWhatWasNotMeasured(t *testing.T) {
	c := savings(t, 5)
	for i, r := range c.Runs {
		if strings.HasSuffix(r.Run.Run.Name, "zstd") && i > 3 {
			r.Run.Verdict.Status, c.Campaign.Runs[i].Status = result.Invalid, result.Invalid
		}
	}
	if got := sentenceOf(t, c); !strings.Contains(got, "one valid run of zstd, which carries no claim") {
		t.Errorf("one valid run leads without a word: %s", got)
	}
}

// A sentence does not print the factor of a difference that it says is not shown.
func TestSpreadClaimsNoFactorThatIsNotShown(t *testing.T) {
	clause := func(c *result.RecordedCampaign) string {
		first, _, _ := strings.Cut(sentenceOf(t, c), ";")
		return first
	}
	alike := answered(t, "savings", 5, []string{"none", "lz4"}, func(_ int, noise float64, r *result.Recorded) {
		takes(r, 300*noise, 4000, 0.4)
	})
	var made [6]int
	wire := [6][5]float64{{266, 283, 281, 304, 287}, {262, 302, 346, 324, 294}, {317, 259, 326, 265, 321},
		{321, 334, 268, 350, 269}, {280, 345, 255, 328, 331}, {322, 329, 295, 337, 349}}
	names := []string{"none", "lz4", "zstd", "gzip", "snappy", "more"}
	chosen := answered(t, "savings", 5, names, func(i int, _ float64, r *result.Recorded) { // values of one population
		takes(r, wire[i][made[i]%5], 4000, 0.4)
		made[i]++
	})
	few := savings(t, 5)
	for i, planned := range few.Campaign.Runs {
		if planned.Cell == 2 && planned.Round > 2 || planned.Cell == 0 && planned.Round > 3 {
			few.Runs[i].Run.Verdict.Status, few.Campaign.Runs[i].Status = result.Invalid, result.Invalid
		}
	}
	for _, c := range []struct{ got, want string }{
		{clause(alike), " is not told apart from "},
		{clause(chosen), "highest with more, 329 B [295, 349 B], which a test of the range does not show to be a difference, and none is not told apart from "},
		{clause(few), ", with too few runs to tell zstd from none"},
	} {
		if strings.Contains(c.got, "times as much") || !strings.Contains(c.got, c.want) {
			t.Errorf("%q is to have %q and no factor", c.got, c.want)
		}
	}
	if got := clause(savings(t, 5)); !strings.Contains(got, "times as much") {
		t.Errorf("a difference that is shown has no factor: %q", got)
	}
}
