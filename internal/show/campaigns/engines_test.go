package campaigns_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/resulttest"
	"kafkabench.example/kafka-bench/internal/show/analysis"
	"kafkabench.example/kafka-bench/internal/show/answers"
	"kafkabench.example/kafka-bench/internal/show/campaigns"
	"kafkabench.example/kafka-bench/internal/show/report"
	"kafkabench.example/kafka-bench/internal/show/showtest"
)

func engineNames(kinds ...string) (names []string) {
	for _, kind := range kinds {
		for _, engine := range []string{"plain", "markers", "offsetmap", "share"} {
			names = append(names, kind+engine)
		}
	}
	return names
}

var engineOrder = []string{"plain", "markers", "offsetmap", "share"}

func engineSuite(t *testing.T, repeat int) *result.RecordedCampaign {
	c := answered(t, "engines", repeat, engineNames("1x1-all-", "4x25-all-"), func(i int, noise float64, r *result.Recorded) {
		perS := noise * []float64{2500, 2450, 2490, 2300, 62_500, 61_300, 62_400, 44_000}[i]
		showtest.TakesFrom(r, engineOrder[i%4], perS, map[string]any{"threads": []int{1, 5}[i/4]})
		r.Run.Queue.Cost.BrokerRequestsPerRecord = new(0.2 * float64(1+i%4))
		limitedBy(r, "broker CPU", 0.94)
	})
	c.Campaign.Campaign.Name = "kmq-online"
	return c
}

func scaleSuite(t *testing.T, repeat int) *result.RecordedCampaign {
	names := []string{"1x1-plain", "1x1-markers", "6x25-plain", "6x25-markers", "6x25-markers-first"}
	c := answered(t, "engine-scaling", repeat, names, func(i int, noise float64, r *result.Recorded) {
		engine, settings := "markers", map[string]any{"threads": []int{1, 25}[i/2-i/4]}
		switch {
		case i%2 == 0 && i < 4:
			engine = "plain"
		case i == 4:
			settings["start_first"] = true
		}
		showtest.TakesFrom(r, engine, noise*[]float64{2500, 2500, 62_500, 61_300, 31_000}[i], settings)
		resulttest.Set(&r.Run.Scenario, "topic.partitions", 64)
		r.Run.Queue.Cost.BrokerBytesInPerRecord = new([]float64{130, 131, 130, 132, 264}[i])
		r.Run.Queue.Cost.ClientWrittenBytesPerRecord = []float64{3, 4, 3, 4, 12}[i]
		delete(r.Run.Time, "e2e_response_time")
		r.Run.Time["e2e_service_time"] = showtest.Scaled(r.Run.Time["e2e_service_time"], noise*[]float64{1, 1, 5, 5.2, 10.4}[i])
	})
	c.Campaign.Campaign.Name = "kmq-scale"
	return c
}

// A sentence does not present a falling rate as growth. It compares more partitions with fewer only
// for the same number of consumers and threads.
func TestEngineScalingIsInTheOrderOfShapes(t *testing.T) {
	of := func(rates ...float64) string {
		names := []string{"4x25-few", "4x25-many", "1x1-few", "1x1-many", "6x25-few", "6x25-many"}
		c := answered(t, "engine-scaling", 5, names, func(i int, noise float64, r *result.Recorded) {
			showtest.TakesFrom(r, "markers", noise*rates[i], map[string]any{"threads": []int{25, 1, 25}[i/2]})
			resulttest.Set(&r.Run.Scenario, "consume.consumers", []int{4, 1, 6}[i/2])
			resulttest.Set(&r.Run.Scenario, "topic.partitions", []int{64, 160}[i%2])
		})
		return sentenceOf(t, alongAxes(c, []result.Axis{{Path: "variant", Values: []string{"4x25", "1x1", "6x25"}},
			{Path: "topic.partitions", Values: []string{"64", "160"}}},
			[][]string{{"4x25", "64"}, {"4x25", "160"}, {"1x1", "64"}, {"1x1", "160"}, {"6x25", "64"}, {"6x25", "160"}}))
	}
	collapse := of(9000, 4500, 5000, 5000, 2000, 1000)
	for _, want := range []string{"(1 × 1 threads, 64 partitions) to ", "(6 × 25 threads, 160 partitions), 0.2", "the highest median of markers is ",
		"(4 × 25 threads, 64 partitions), 9.08 (", "with more partitions, markers had 1.0", "times the rate at 1 × 1 threads (160 ÷ 64 partitions, which is not shown to be a difference), 0.5", " times the rate at 4 × 25 threads"} {
		if !strings.Contains(collapse, want) {
			t.Errorf("%q is not in %q", want, collapse)
		}
	}
	if got := of(5000, 5000, 2000, 2000, 9000, 9000); strings.Contains(got, "highest median") {
		t.Errorf("of growth: %q", got)
	}
}

func TestEngineScaling(t *testing.T) {
	got := sentenceOf(t, scaleSuite(t, 5))
	for _, want := range []string{"Plain went from 2,516/s at a p50 of ", " to 63,003/s at a p50 of ", "; markers with starts first acknowledged 31,0",
		"which is 0.98 ("} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in %q", want, got)
		}
	}
	starved := scaleSuite(t, 1)
	for _, r := range starved.Runs {
		delete(r.Run.Time, "e2e_service_time")
	}
	if got := sentenceOf(t, starved); strings.Contains(got, "–") || !strings.Contains(got, "plain went from 2,5") {
		t.Errorf("without times: %q", got)
	}
}

func timesSuite(t *testing.T, repeat int) *result.RecordedCampaign {
	names := []string{"plain-50", "markers-50", "offsetmap-50", "share-50", "plain-as-markers"}
	c := answered(t, "engine-times", repeat, names, func(i int, noise float64, r *result.Recorded) {
		r.Run.Load.ClosedLoop = false
		showtest.TakesFrom(r, []string{"plain", "markers", "offsetmap", "share", "plain"}[i], 9000, nil)
		resulttest.Set(&r.Run.Scenario, "load.rate", []string{"10k/s", "6k/s", "10100/s", "4k/s", "6k/s"}[i])
		r.Run.Load.OfferedPerS = []float64{10e3, 6e3, 10.1e3, 4e3, 6e3}[i]
		r.Run.Time["e2e_response_time"] = showtest.Scaled(r.Run.Time["e2e_response_time"], noise*[]float64{1, 1.4, 1.001, 2, 0.9}[i])
	})
	c.Campaign.Campaign.Name = "kmq-latency"
	return c
}

func redeliverySuite(t *testing.T, repeat int) *result.RecordedCampaign {
	names := []string{"50-2s-markers", "50-cap4-2s-markers", "50-cap4-2s-offsetmap", "50-cap4-2s-share"}
	c := answered(t, "redelivery", repeat, names, func(i int, noise float64, r *result.Recorded) {
		q := showtest.TakesFrom(r, []string{"markers", "markers", "offsetmap", "share"}[i], 1500, nil)
		showtest.Drops(r, q, []float64{0.5, 0.5, 0.5, 0.47}[i], []int{0, 4, 4, 4}[i], noise*[]float64{40, 35, 3, 120}[i])
		if i == 3 {
			q.ExpectedDeliveriesPerRecord = 1.875
			resulttest.Set(&r.Run.Scenario, "consume.queue.drop.share", "50%")
			q.Lateness.Negative = 1
		}
	})
	c.Campaign.Campaign.Name = "kmq-drops-silent"
	return c
}

func faultSuite(t *testing.T, repeat int) *result.RecordedCampaign {
	c := answered(t, "engine-faults", repeat, engineOrder, func(i int, noise float64, r *result.Recorded) {
		r.Run.Load.ClosedLoop = false
		q := showtest.TakesFrom(r, engineOrder[i], 3000, nil)
		q.Redelivered, q.AckedAgain = int64(100*i+10), int64(3*i)
		r.Run.Time["e2e_response_time"] = showtest.Scaled(r.Run.Time["e2e_response_time"], noise*[]float64{4, 3, 5, 2}[i])
		r.Run.Time["redelivery_response_time"] = showtest.Scaled(r.Run.Time["e2e_response_time"], 200)
		if i == 3 {
			q.Lost = 2
		}
	})
	c.Campaign.Campaign.Name = "kmq-kill"
	return c
}

func decisionSuite(t *testing.T, repeat int) *result.RecordedCampaign {
	names := append(engineNames("online-", "latency-", "kill-"), "silent-markers", "silent-offsetmap", "in-order-plain", "in-order-markers", "online-markers-first")
	c := answered(t, "decision", repeat, names, func(i int, noise float64, r *result.Recorded) {
		name, first := strings.CutSuffix(names[i], "-first")
		kind, engine := name[:strings.LastIndex(name, "-")], name[strings.LastIndex(name, "-")+1:]
		if first {
			resulttest.Set(&r.Run.Scenario, "consume.queue.start_first", true)
			noise /= 2
		}
		at := float64(slices.Index(engineOrder, engine))
		r.Run.Load.ClosedLoop = kind == "online"
		q := showtest.TakesFrom(r, engine, noise*(20_000-3000*at), nil)
		resulttest.Set(&r.Run.Scenario, "description", kind)
		resulttest.Set(&r.Run.Scenario, "load.producers", len(kind))
		r.Run.Time["e2e_response_time"] = showtest.Scaled(r.Run.Time["e2e_response_time"], noise*(1+at/4))
		switch {
		case kind == "silent":
			showtest.Drops(r, q, 0.5, 4, noise*30*at)
		case names[i] == "kill-offsetmap":
			q.Lost = 1
		case kind == "in-order":
			r.Run.Time["e2e_response_time"] = showtest.Scaled(r.Run.Time["e2e_response_time"], 1/(1+at/4))
		}
	})
	c.Campaign.Campaign.Name = "kmq-study-quick"
	return c
}

func TestEngineAnswers(t *testing.T) {
	for name, of := range map[string]func(*testing.T, int) *result.RecordedCampaign{
		"engines": engineSuite, "engine-scaling": scaleSuite, "engine-times": timesSuite, "redelivery": redeliverySuite, "engine-faults": faultSuite, "decision": decisionSuite,
	} {
		t.Run(name, func(t *testing.T) {
			c := of(t, 5)
			for _, width := range []int{80, 120} {
				got := showtest.Written(t, campaign(c, ""), report.Options{Width: width})
				showtest.Screens(t, got, width, 300)
				showtest.Golden(t, fmt.Sprintf("answer-%s-%d", name, width), got)
			}
			showtest.Golden(t, "answer-"+name+".md", showtest.Written(t, campaign(c, ""), report.Options{Format: report.AsMarkdown}))
			one, err := campaigns.Analyse(of(t, 1), "")
			if err != nil || !strings.HasPrefix(one.Answer.Sentence, "In one run of each, so that none of this carries a claim: ") {
				t.Errorf("of one run: %q, %v", one.Answer.Sentence, err)
			}
		})
	}
}

func TestPlainThatAnEngineIsHeldAgainst(t *testing.T) {
	column := func(c *result.RecordedCampaign, head string) map[string]string {
		d, err := campaigns.Analyse(c, "")
		if err != nil {
			t.Fatal(err)
		}
		at := slices.Index(d.Table.Head, head)
		if at < 0 {
			t.Fatalf("there is no column %q in %q", head, d.Table.Head)
		}
		cells := map[string]string{}
		for _, row := range d.Table.Rows {
			cells[row[0]] = row[at]
		}
		return cells
	}
	for head, want := range map[string]string{"e2e service time p50": " ms", "settle time p50": " µs", "written by the queue per record": "4 B",
		"CPU of clients and brokers, each record": " µs"} {
		if got := column(engineSuite(t, 5), head)["4x25-all-markers"]; !strings.Contains(got, want) {
			t.Errorf("%s is %q, want %q in it", head, got, want)
		}
	}
	of := column(engineSuite(t, 5), "÷ plain")
	for cell, want := range map[string]string{"1x1-all-plain": "1", "1x1-all-markers": "0.9", "4x25-all-offsetmap": "1.0", "4x25-all-share": "0.7"} {
		if !strings.HasPrefix(of[cell], want) {
			t.Errorf("%s ÷ plain is %s, want %s", cell, of[cell], want)
		}
	}
	added := column(timesSuite(t, 5), "added to plain, e2e response time p50")
	if added["share-50"] != "–" || added["plain-50"] != "–" || !strings.HasPrefix(added["markers-50"], "+") || added["offsetmap-50"] == "–" {
		t.Errorf("added to plain: %v", added)
	}

	c := engineSuite(t, 1)
	for _, r := range c.Runs {
		if r.Run.Run.Name == "engines-4x25-all-plain" {
			resulttest.Set(&r.Run.Scenario, "load.acks", "0")
		}
	}
	if of := column(c, "÷ plain"); of["4x25-all-markers"] != "–" || of["1x1-all-markers"] == "–" {
		t.Errorf("beside a plain that is not alike: %v", of)
	}
}

func TestRedeliveryWithStartsFirst(t *testing.T) {
	c := redeliverySuite(t, 5)
	for _, r := range c.Runs {
		if r.Run.Queue.Engine == "markers" {
			resulttest.Set(&r.Run.Scenario, "consume.queue.start_first", true)
			break
		}
	}
	d, err := campaigns.Analyse(c, "")
	if err != nil {
		t.Fatal(err)
	}
	if got := d.Answer.Sentence; !strings.Contains(got, "arkers with starts first, in the medians of its runs: ") {
		t.Errorf("the answer is %q", got)
	}
}

// The table never names an engine that lost a record.
func TestDecision(t *testing.T) {
	d, err := campaigns.Analyse(decisionSuite(t, 5), "")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]map[string]string{}
	for _, row := range d.Table.Rows {
		rows[row[0]] = map[string]string{}
		for i, cell := range row {
			rows[row[0]][d.Table.Head[i]] = cell
		}
	}
	for _, c := range []struct{ work, column, want string }{
		{"a steady stream", "best", "plain"},
		{"a steady stream", "suite", "kmq-study"},
		{"a steady stream", "share", "(online-share)"},
		{"no delay", "best", "plain"},
		{"handlers that hang", "plain", "can't"},
		{"handlers that hang", "best", "markers"},
		{"handlers that hang", "share", "not measured"},
		{"handlers that give back", "best", "not measured"},
		{"the same, in order", "share", "can't"},
		{"the same, in order", "best", "no difference shown"},
		{"consumers that die", "offsetmap", "5 LOST, "},
		{"a backlog", "markers", "not measured"},
	} {
		if got := rows[c.work][c.column]; !strings.Contains(got, c.want) {
			t.Errorf("%s, %s: %q, want %q", c.work, c.column, got, c.want)
		}
	}
	if got := rows["consumers that die"]["best"]; strings.Contains(got, "offsetmap") {
		t.Errorf("an engine that lost records is best: %q", got)
	}
	if got := d.Answer.Sentence; !strings.HasPrefix(got, "A steady stream: plain;") || !strings.Contains(got, "; 5 records of kill-offsetmap LOST.") {
		t.Errorf("the answer is %q", got)
	}
}

func TestDecisionOfTooFewRuns(t *testing.T) {
	for runs, want := range map[int]string{
		1: "plain, in one run",
		3: "plain, with too few runs (3) to tell",
	} {
		d, err := campaigns.Analyse(decisionSuite(t, runs), "")
		if err != nil {
			t.Fatal(err)
		}
		row := d.Table.Rows[0]
		if best := row[slices.Index(d.Table.Head, "best")]; !strings.HasPrefix(best, want) || strings.Contains(best, " or ") {
			t.Errorf("of %d runs the best at %s is %q, want %q", runs, row[0], best, want)
		}
	}
}

func TestDecisionOfParts(t *testing.T) {
	var all []*analysis.Study
	for _, c := range []*result.RecordedCampaign{decisionSuite(t, 5), engineSuite(t, 5), faultSuite(t, 5), redeliverySuite(t, 5), timesSuite(t, 5)} {
		d, err := analysis.NewStudy(c, "")
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, d)
	}
	table := answers.Decide(all...)
	suites := map[string]string{}
	for _, row := range table.Rows[1:] {
		suites[row[0]] = row[slices.Index(table.Rows[0], "suite")]
		for _, cell := range row[4:] {
			if strings.HasSuffix(cell, "()") {
				t.Errorf("a cell of %s has no source: %q", row[0], cell)
			}
		}
	}
	for work, want := range map[string]string{
		"a steady stream": "kmq-online", "no delay": "kmq-latency", "handlers that hang": "kmq-drops-silent", "consumers that die": "kmq-kill",
		"the same, in order": "kmq-study", "a backlog": "–",
	} {
		if suites[work] != want {
			t.Errorf("%s is of %s, want %s", work, suites[work], want)
		}
	}
	if empty := answers.Decide(); len(empty.Rows) != len(table.Rows) || empty.Rows[1][1] != "not measured" {
		t.Errorf("of nothing: %+v", empty)
	}
}

func TestComparisonOfQueues(t *testing.T) {
	c := engineSuite(t, 5)
	a, b := analysis.CellSet(c, 4), analysis.CellSet(c, 7)
	found, err := analysis.Compare([]analysis.Set{a, b}, analysis.CompareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	figures := found.Against[0].Figures
	i := slices.IndexFunc(figures, func(f analysis.ComparedFigure) bool { return f.Figure == "queue_acked_per_s" })
	if i < 0 || figures[i].Word != analysis.WordWorse {
		t.Errorf("share against plain: %+v", figures)
	}
	for _, r := range append(a.Runs, b.Runs...) {
		r.Run.Queue = nil
	}
	found, err = analysis.Compare([]analysis.Set{a, b}, analysis.CompareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if slices.ContainsFunc(found.Against[0].Figures, func(f analysis.ComparedFigure) bool { return strings.HasPrefix(f.Figure, "queue_") }) {
		t.Error("runs without a queue are compared by its figures")
	}
}

func TestEnginesAgainstPlain(t *testing.T) {
	d, err := campaigns.Analyse(engineSuite(t, 5), "")
	if err != nil {
		t.Fatal(err)
	}
	bases := map[string]string{}
	for _, c := range d.Against {
		if c.DiffersIn != nil {
			t.Errorf("%s differs in %v as well", c.Variant, c.DiffersIn)
		}
		bases[c.Variant] = c.Base
	}
	if len(bases) != 6 || bases["1x1-all-share"] != "1x1-all-plain" || bases["4x25-all-markers"] != "4x25-all-plain" {
		t.Errorf("compared are %v", bases)
	}
}
