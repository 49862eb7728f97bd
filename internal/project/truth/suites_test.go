package truth

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/project/virtual"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/bench"
	"kafkabench.example/kafka-bench/internal/run/campaign"
	"kafkabench.example/kafka-bench/internal/show/analysis"
	"kafkabench.example/kafka-bench/internal/show/campaigns"
	"kafkabench.example/kafka-bench/internal/show/report"
)

// In reduced quick forms of suites, every run is valid, its books balance, nothing is lost, and the
// campaign has an answer.
func TestSuites(t *testing.T) {
	t.Parallel()
	for _, suite := range []struct {
		name      string
		overrides []string
	}{
		{"throughput-producer", []string{"load.volume=200kB", "variants=[one-rf1, one-rf3-all, three-rf3-leader]"}},
		{"throughput-consumer", []string{"variants=[{name: one, topic: {fill: 200kB}, load: {producers: 0}}," +
			"{name: three, topic: {fill: 200kB}, load: {producers: 0}, consume: {consumers: 3, processes: 3}}," +
			"{name: together, load: {rate: max, volume: 200kB, producers: 1}, topic: {replication: 3}}]"}},
		{"throughput-record-size", []string{"load.volume=200kB"}},
		{"consumer-limit", []string{"topic.fill=200kB", "variants=[1-1, 4-4]"}},
	} {
		t.Run(suite.name, func(t *testing.T) {
			t.Parallel()
			o := virtual.Options{Brokers: 3, ProduceDelay: 20 * time.Millisecond, FetchDelay: 20 * time.Millisecond}
			virtual.Test(t, o, func(t *testing.T, c *virtual.Cluster) {
				wantSuite(t, c, suite.name, append(suite.overrides,
					"load.pacer=frugal", "load.max_buffered=200", "phases.warmup=100ms")...)
				wantNoTopics(t, c)
			})
		})
	}
}

func wantSuite(t *testing.T, c cluster.Cluster, suite string, overrides ...string) {
	t.Helper()
	plan, recorded := runSuite(t, c, suite, overrides...)
	for i, r := range recorded.Runs {
		wantCell(t, plan.Cells[plan.Runs[i].Cell].Scenario, r)
	}
	wantAnswer(t, recorded)
}

func wantCell(t *testing.T, s scenario.Scenario, r *result.Recorded) {
	t.Helper()
	wantValid(t, r)
	if s.Consume.Consumers > 0 && s.Load.Producers > 0 {
		wantBalance(t, r)
	}
	load, d := r.Run.Load, r.Run.Delivery
	if load.Failed+load.Unknown+d.Lost+d.Duplicates+d.Pending+d.Foreign != 0 {
		t.Errorf("load %+v, delivery %+v", load, d)
	}
	read := s.Load.Producers == 0
	if read && (r.Run.Fill == nil || d.Unique != r.Run.Fill.Records) || !read && load.Acked != load.Scheduled {
		t.Errorf("load %+v, fill %+v, delivery %+v", load, r.Run.Fill, d)
	}
}

func wantAnswer(t *testing.T, recorded *result.RecordedCampaign) {
	t.Helper()
	d, err := campaigns.Analyse(recorded, "")
	if err != nil {
		t.Fatal(err)
	}
	if d.Answer.Name != recorded.Campaign.Campaign.Answer || d.Answer.Sentence == "" {
		t.Errorf("the answer is %+v", d.Answer)
	}
	invalid := slices.ContainsFunc(recorded.Runs, func(r *result.Recorded) bool {
		return r.Run.Verdict.Status != result.Valid
	})
	if d.Answer.Status != analysis.AnswerTold && !invalid {
		t.Errorf("it gives no answer: %+v", d.Answer)
	}
	var text strings.Builder
	if err := campaigns.Write(&text, recorded, report.Options{Width: 400}); err != nil {
		t.Fatal(err)
	}
	words := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	parts := d.Answer.Points
	if len(parts) == 0 {
		parts = []string{d.Answer.Sentence}
	}
	for _, part := range parts {
		if !strings.Contains(words(text.String()), words(part)) {
			t.Errorf("the report does not say %q:\n%s", part, text.String())
		}
	}
}

type oneCluster struct{ cluster.Cluster }

func (c oneCluster) For(context.Context, scenario.Scenario) (cluster.Cluster, error) {
	return c.Cluster, nil
}

// runSuite makes the quick form of a preset, once.
func runSuite(
	t *testing.T, c cluster.Cluster, preset string, overrides ...string,
) (campaign.Plan, *result.RecordedCampaign) {
	t.Helper()
	overrides = append(overrides, "phases.measure=20s", "phases.drain=20s", "sampling.interval=200ms")
	suite, err := scenario.ReadSuite(preset, scenario.Options{Quick: true, Set: overrides})
	if err != nil {
		t.Fatal(err)
	}
	plan, err := campaign.NewPlan([]scenario.Suite{suite}, campaign.PlanOptions{Repeat: 1})
	if err != nil {
		t.Fatal(err)
	}
	cfg := config(t, c, scenario.Scenario{})
	if v, in := c.(*virtual.Cluster); in {
		cfg.Here = crewOf(v).work
	}
	planned, err := plan.Campaign(cfg.Tool)
	if err != nil {
		t.Fatal(err)
	}
	journal, err := campaign.Create(cfg.Out, planned)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	err = campaign.Run(ctx, journal, campaign.Config{
		Maker:     campaign.Engine{Source: oneCluster{c}, Bench: cfg},
		Scenarios: plan.Scenarios(), Began: func(int) {}, Ended: func(int, *bench.Outcome) error { return nil },
	})
	if closeErr := journal.Close(); err != nil || closeErr != nil {
		t.Fatal(err, closeErr)
	}
	recorded, err := result.ReadCampaign(journal.Dir())
	if err != nil {
		t.Fatal(err)
	}
	if slices.Contains(recorded.Runs, nil) {
		t.Fatalf("runs are missing: %+v", recorded.Campaign.Runs)
	}
	return plan, recorded
}
