package campaigns_test

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/resulttest"
	"kafkabench.example/kafka-bench/internal/show/analysis"
	"kafkabench.example/kafka-bench/internal/show/campaigns"
	"kafkabench.example/kafka-bench/internal/show/report"
	"kafkabench.example/kafka-bench/internal/show/showtest"
)

func TestCellSet(t *testing.T) {
	c := sweep(t, 4, codecs[:2], []float64{1, 1})
	for i, planned := range []result.CampaignRun{{Status: result.Failed}, {Dir: "../gone", Status: result.Valid}, {}} {
		c.Runs[2*i] = nil
		planned.Round = i
		c.Campaign.Runs[2*i] = planned
	}
	if set := analysis.CellSet(c, 0); len(set.Runs) != 1 || set.Missing != 2 {
		t.Errorf("%d runs and %d missing, want 1 and 2", len(set.Runs), set.Missing)
	}
	if set := analysis.CellSet(c, 1); len(set.Runs) != 4 || set.Missing != 0 {
		t.Errorf("%d runs and %d missing, want 4 and 0", len(set.Runs), set.Missing)
	}
}

func sweep(t *testing.T, repeat int, codecs []string, slower []float64) *result.RecordedCampaign {
	m := showtest.NewMaker(t, 5)
	c := &result.RecordedCampaign{Dir: "runs/20261121T195900Z-sweep-compression-c4wq7d"}
	c.Campaign = result.Campaign{
		SchemaVersion: 1, Axes: []result.Axis{{Path: "load.compression", Values: codecs}},
		Campaign: result.CampaignInfo{
			ID: "c4wq7d", Name: "sweep-compression", Kind: result.KindRuns, Question: "Which codec gives the lowest end-to-end response time?",
			StartedAt: resulttest.StartedAt, FinishedAt: resulttest.StartedAt.AddDate(0, 0, 1), Order: "interleaved", Repeat: repeat,
			Tool: result.Tool{Version: "0.1.0"},
		},
	}
	for _, codec := range codecs {
		c.Campaign.Cells = append(c.Campaign.Cells, result.Cell{Name: "sweep-compression-" + codec, Values: []string{codec}})
	}
	for round := range repeat {
		for i, codec := range codecs {
			r := m.Run("sweep-compression-"+codec, slower[i], showtest.Set("compression", codec))
			c.Runs = append(c.Runs, r)
			c.Campaign.Runs = append(c.Campaign.Runs, result.CampaignRun{Cell: i, Round: round, Dir: "../" + filepath.Base(r.Dir), Status: result.Valid})
		}
	}
	return c
}

var codecs = []string{"none", "snappy", "lz4", "zstd", "gzip"}

func campaign(c *result.RecordedCampaign, by string) func(*bytes.Buffer, report.Options) error {
	return func(b *bytes.Buffer, o report.Options) error {
		o.By = by
		return campaigns.Write(b, c, o)
	}
}

func TestCampaign(t *testing.T) {
	c := sweep(t, 6, codecs, []float64{1.3, 1.2, 1, 1.5, 2})
	c.Runs[12].Run.Verdict = result.Verdict{Status: result.Invalid, Reasons: []string{"pacer lateness p99 is 7.42 ms, and may be 2 ms"}}
	c.Campaign.Runs[12].Status = result.Invalid
	c.Runs[9].Run.Time["e2e_response_time"] = showtest.Scaled(c.Runs[9].Run.Time["e2e_response_time"], 3)
	showtest.AllFormats(t, "campaign", campaign(c, ""))
}

func TestAnswers(t *testing.T) {
	for _, c := range []struct {
		name   string
		repeat int
		slower []float64
		by     string
		status string
		best   string
	}{
		{"one is best", 5, []float64{1.3, 1.2, 1, 1.5, 2}, "", analysis.AnswerBest, "lz4"},
		{"two are alike", 8, []float64{1.3, 1, 1, 1.5, 2}, "", analysis.AnswerNone, ""},
		{"all are alike", 8, []float64{1, 1, 1, 1, 1}, "", analysis.AnswerNone, ""},
		{"four repeats do, for any number of codecs", 4, []float64{1.3, 1.2, 1, 1.5, 2}, "", analysis.AnswerBest, "lz4"},
		{"three repeats are too few", 3, []float64{1.3, 1.2, 1, 1.5, 2}, "", analysis.AnswerTooFew, ""},
		{"one run of each", 1, []float64{1.3, 1.2, 1, 1.5, 2}, "", analysis.AnswerTooFew, ""},
		{"by another figure", 5, []float64{1.3, 1.2, 1, 1.5, 2}, "acked_per_s", analysis.AnswerNone, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, err := campaigns.Analyse(sweep(t, c.repeat, codecs, c.slower), c.by)
			if err != nil {
				t.Fatal(err)
			}
			t.Log(d.Answer.Sentence)
			if d.Answer.Status != c.status || d.Answer.Best != c.best {
				t.Errorf("the answer is %+v, want %s %s", d.Answer, c.status, c.best)
			}
		})
	}
}

// If all codecs are alike, at most one in twenty campaigns names a best one.
func TestAnswersOfTheSame(t *testing.T) {
	c := sweep(t, 6, codecs, []float64{1, 1, 1, 1, 1})
	best := 0
	m := showtest.NewMaker(t, 11)
	tries := showtest.Trials(200)
	times := showtest.Simulate(t, resulttest.Baseline()).Run.Time["e2e_response_time"]
	for range tries {
		for _, r := range c.Runs {
			r.Run.Time["e2e_response_time"] = showtest.Scaled(times, 1+0.05*m.Random.NormFloat64())
		}
		d, err := campaigns.Analyse(c, "e2e_response_time_p99")
		if err != nil {
			t.Fatal(err)
		}
		if d.Answer.Status == analysis.AnswerBest {
			best++
		}
	}
	if best > tries/20 {
		t.Errorf("a best codec was named in %d of %d campaigns of the same", best, tries)
	}
}

func TestQuestionNamesTheFigure(t *testing.T) {
	c := sweep(t, 5, codecs, []float64{1, 1, 1, 1, 1})
	for _, q := range []struct{ question, figure, from string }{
		{"Which codec has the lowest send_service_time_p99?", "send_service_time_p99", analysis.FromQuestion},
		{"Which codec has the lowest e2e_response_time_p99_9, and which acked_per_s?", "e2e_response_time_p99_9", analysis.FromQuestion},
		{"Is the backlog backed up, or acked at once?", "e2e_response_time_p99", analysis.FromDefault},
		{"What does compression cost users?", "e2e_response_time_p99", analysis.FromDefault},
		{"How many records are lost, and how long is the drain time?", "e2e_response_time_p99", analysis.FromDefault},
		{"What becomes of my_acked_per_s_2?", "e2e_response_time_p99", analysis.FromDefault},
		{"What is offered_per_s?", "e2e_response_time_p99", analysis.FromDefault}, // no good side
		{"And recovery_time?", "e2e_response_time_p99", analysis.FromDefault},     // no cell has it
	} {
		c.Campaign.Campaign.Question = q.question
		d, err := campaigns.Analyse(c, "")
		if err != nil || d.Answer.Figure != q.figure || d.Answer.FigureFrom != q.from {
			t.Errorf("%s: the cells are ranked by %s of the %s, %v", q.question, d.Answer.Figure, d.Answer.FigureFrom, err)
		}
	}
	if got := string(showtest.Written(t, campaign(c, "acked_per_s"), report.Options{})); !strings.Contains(got, "acked_per_s, as --by asks") {
		t.Errorf("the text does not say what the cells are ranked by:\n%.400s", got)
	}
	if _, err := campaigns.Analyse(c, "offered_per_s"); err == nil || !strings.Contains(err.Error(), "neither") {
		t.Errorf("ranked by what is no merit: %v", err)
	}
}

func TestCampaignUnasked(t *testing.T) {
	notes := func(c *result.RecordedCampaign) string {
		d, err := campaigns.Analyse(c, "")
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(d.Notes, "\n")
	}
	c := sweep(t, 5, codecs[:2], []float64{1, 1})
	if got := notes(c); got != "" {
		t.Errorf("notes on runs that were made alike: %s", got)
	}
	for i, r := range c.Runs {
		if i%2 == 1 {
			r.Run.Run.Cluster.Kind, r.Run.Run.Cluster.ID, r.Run.Run.Host.CPUs = "existing", "kJ1", 64
		}
	}
	c.Runs[8].Run.Run.Driver.Version = "v1.99.0"
	got := notes(c)
	for _, want := range []string{"mixes runs that differ in client (", "v1.99.0", "The scenarios differ in ", "cluster (existing, ", "host CPUs (", "though no scenario asks for it"} {
		if !strings.Contains(got, want) {
			t.Errorf("the notes do not say %q: %s", want, got)
		}
	}
	if strings.Count(got, "client (") != 1 {
		t.Errorf("the client is noted twice: %s", got)
	}
	c = sweep(t, 2, codecs[:2], []float64{1, 1})
	for i, r := range c.Runs {
		r.Run.Run.Cluster.Brokers = 1 + i%2
		resulttest.Set(&r.Run.Scenario, "cluster", map[string]any{"brokers": 1 + i%2})
	}
	if got := notes(c); got != "" {
		t.Errorf("a note on brokers that the scenarios ask for: %s", got)
	}
}

func TestCampaignOfInvalid(t *testing.T) {
	c := sweep(t, 5, codecs[:2], []float64{1, 1})
	for i, r := range c.Runs {
		if i%2 == 1 {
			r.Run.Verdict.Status = result.Invalid
		}
	}
	for _, format := range []report.Format{report.AsText, report.AsMarkdown} {
		got := string(showtest.Written(t, campaign(c, ""), report.Options{Format: format, Width: 120}))
		if strings.Count(got, "†") < 5 || !strings.Contains(got, "or † of runs none of which is valid") || !strings.Contains(got, "there is nothing to hold it against") {
			t.Errorf("%v:\n%s", format, got)
		}
	}
	for _, r := range c.Runs {
		r.Run.Verdict.Status = result.Invalid
	}
	if got := string(showtest.Written(t, campaign(c, ""), report.Options{Width: 120})); strings.Contains(got, "Medians of the valid runs") || !strings.Contains(got, "† of runs none of which is valid") || !strings.Contains(got, "none of 5 valid") || strings.Contains(got, "0 of 5 VALID") {
		t.Errorf("nothing is valid:\n%s", got)
	}
}

func TestCampaignInterrupted(t *testing.T) {
	c := sweep(t, 3, codecs[:2], []float64{1.3, 1})
	c.Campaign.Campaign = unfinished(c.Campaign.Campaign)
	for i := 3; i < 6; i++ {
		c.Runs[i], c.Campaign.Runs[i].Dir, c.Campaign.Runs[i].Status = nil, "", ""
	}
	c.Campaign.Runs[3].Status, c.Campaign.Runs[3].Error = "failed", "the broker did not start within 1m0s"
	showtest.Golden(t, "campaign-interrupted", showtest.Written(t, campaign(c, ""), report.Options{}))
	c.Campaign.Campaign.Kind = result.KindPeers
	if got := string(showtest.Written(t, campaign(c, ""), report.Options{})); !strings.Contains(got, "NOT FINISHED\n") {
		t.Errorf("peers cannot be resumed, and it says:\n%s", got)
	}
	c.Campaign.Campaign.Kind = result.KindRuns
	for i := range c.Runs {
		c.Runs[i] = nil
	}
	showtest.Golden(t, "campaign-empty", showtest.Written(t, campaign(c, ""), report.Options{}))
}

func unfinished(info result.CampaignInfo) result.CampaignInfo {
	return result.CampaignInfo{
		ID: info.ID, Name: info.Name, Kind: info.Kind, Question: info.Question, StartedAt: info.StartedAt, Tool: info.Tool, Order: info.Order, Repeat: info.Repeat,
	}
}

func TestCampaignOfASearch(t *testing.T) {
	c := sweep(t, 1, codecs, []float64{1, 1, 1, 1, 1})
	highest, failed, capacity := 18_750.0, 19_300.0, 24_310.0
	ns := func(v int64) *int64 { return &v }
	c.Campaign.Axes, c.Campaign.Campaign.Kind, c.Campaign.Campaign.Question = nil, result.KindSearch, "What is the highest rate that holds?"
	c.Campaign.Search = &result.Search{
		Expectations: []string{"e2e_response_time_p99 <= 50ms", "backlog_growth <= 0"}, ResolutionRatio: 0.03, ResponseMetric: "e2e_response_time",
		CapacityPerS: &capacity, HighestPerS: &highest, FailedPerS: &failed, Limit: result.LimitKafka,
		Answer:  "18,750/s is the highest offered load that holds; 19,300/s did not.",
		Caveats: []string{"The figures describe the harness and not Kafka."},
		Probes: []result.Probe{
			{Phase: "capacity", OfferedPerS: 24_310, AckedPerS: 24_310, Passed: true},
			{Phase: "bracket", OfferedPerS: 24_000, AckedPerS: 19_100, ResponseP50Ns: ns(400e6), ResponseP99Ns: ns(1210e6), Failures: []string{"e2e_response_time_p99 is 1.21 s, expected <= 50ms"}},
			{Phase: "bisect", OfferedPerS: 12_000, AckedPerS: 12_000, ResponseP50Ns: ns(4e6), ResponseP99Ns: ns(9e6), Passed: true},
			{Phase: "bisect", OfferedPerS: 18_750, AckedPerS: 18_740, ResponseP50Ns: ns(9e6), ResponseP99Ns: ns(41e6), Passed: true},
			{Phase: "confirm", OfferedPerS: 18_750, AckedPerS: 18_748, ResponseP50Ns: ns(9e6), ResponseP99Ns: ns(44e6), Passed: true},
		},
	}
	for _, at := range []int64{10, 50, 90} {
		c.Campaign.Search.Probes = append(c.Campaign.Search.Probes, result.Probe{
			Phase: "curve", OfferedPerS: 187.5 * float64(at), AckedPerS: 187.5 * float64(at), ResponseP50Ns: ns(at * 1e5), ResponseP99Ns: ns(at * 4e5), Passed: true,
		})
	}
	for _, width := range []int{80, 120} {
		showtest.Screens(t, showtest.Written(t, campaign(c, ""), report.Options{Width: width}), width, 80)
	}
	showtest.Golden(t, "campaign-search", showtest.Written(t, campaign(c, ""), report.Options{}))
	showtest.Golden(t, "campaign-search.md", showtest.Written(t, campaign(c, ""), report.Options{Format: report.AsMarkdown}))
	showtest.Golden(t, "campaign-search.csv", showtest.Written(t, campaign(c, ""), report.Options{Format: report.AsCSV, Table: "probes"}))
}

// An interrupted run is in no median, and counts only as interrupted.
func TestInterruptedOfACampaign(t *testing.T) {
	m := showtest.NewMaker(t, 7)
	cut := m.Run("a", 50, func(r *result.Run) { r.Run.Interrupted = true })
	c := &result.RecordedCampaign{Runs: []*result.Recorded{m.Run("a", 1, nil), cut}}
	c.Campaign.Cells = []result.Cell{{Name: "a"}}
	c.Campaign.Runs = []result.CampaignRun{{Dir: "../1", Status: result.Valid}, {Dir: "../2", Status: result.Interrupted}}
	d, err := campaigns.Analyse(c, "")
	if err != nil {
		t.Fatal(err)
	}
	if cell := d.Cells[0]; cell.Valid != 1 || len(cell.Runs) != 1 || cell.Interrupted != 1 || cell.Figures["acked_per_s"].N != 1 {
		t.Errorf("%d valid of %d, %d interrupted, acked of %d", cell.Valid, len(cell.Runs), cell.Interrupted, cell.Figures["acked_per_s"].N)
	}
	got := string(showtest.Written(t, func(b *bytes.Buffer, o report.Options) error { return campaigns.Write(b, c, o) }, report.Options{}))
	if !strings.Contains(got, "1 of 2 planned runs made, 1 valid, 1 interrupted and left out") {
		t.Errorf("it says\n%s", got)
	}
}

func TestCampaignOfImported(t *testing.T) {
	c := &result.RecordedCampaign{Runs: []*result.Recorded{showtest.Simulate(t, resulttest.Baseline()), showtest.Imported("b-other")}}
	c.Campaign.Cells = []result.Cell{{Name: "ours"}, {Name: "other"}}
	c.Campaign.Runs = []result.CampaignRun{{Cell: 0, Status: result.Valid}, {Cell: 1, Status: result.Valid}}
	showtest.OneFootnote(t, campaign(c, ""), "b-other")
}
