package truth

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/kafka/driver/franz"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/bench"
	"kafkabench.example/kafka-bench/internal/run/campaign"
	"kafkabench.example/kafka-bench/internal/show/report"
)

// TestSuites makes the quick forms of the suites on throughput and scale, each with
// less of everything, on a real cluster of three brokers: every run is valid, its
// books balance, nothing is lost, and the campaign ends in its answer.
func TestSuites(t *testing.T) {
	t.Parallel()
	k := threeBrokers(t)
	for _, suite := range []struct {
		name      string
		overrides []string
	}{
		{"throughput-producer", []string{"load.volume=5MB", "variants=[one-rf1, one-rf3-all, three-rf3-leader]"}},
		{"throughput-consumer", []string{"variants=[{name: one, topic: {fill: 5MB}, load: {producers: 0}}," +
			"{name: three, topic: {fill: 5MB}, load: {producers: 0}, consume: {consumers: 3, processes: 3}}," +
			"{name: together, load: {rate: max, volume: 5MB, producers: 1}, topic: {replication: 3}}]"}},
		{"throughput-record-size", []string{"load.volume=5MB", "phases.warmup=500ms"}},
		{"consumer-limit", []string{"topic.fill=5MB", "variants=[1-1, 4-4, 4-4-half-core]"}},
	} {
		t.Run(suite.name, func(t *testing.T) {
			plan, recorded := runSuite(t, k, suite.name, suite.overrides...)
			for i, r := range recorded.Runs {
				cell := plan.Cells[plan.Turns[i].Cell]
				t.Run(cell.Name, func(t *testing.T) { wantCell(t, cell.Scenario, r) })
			}
			wantAnswer(t, recorded)
			wantNoTopics(t, k)
		})
	}
}

// wantCell wants a run of a suite to be one that figures can be taken from.
func wantCell(t *testing.T, s scenario.Scenario, r *result.Recorded) {
	t.Helper()
	wantValid(t, r)
	if s.Consume.Consumers > 0 && s.Load.Producers > 0 { // else one side is all that the books have, and the verdict holds it
		wantBalance(t, r)
	}
	load, d := r.Run.Load, r.Run.Delivery
	if load.Failed+load.Unknown+d.Lost+d.Duplicates+d.Pending+d.Foreign != 0 {
		t.Errorf("load %+v, delivery %+v", load, d)
	}
	if read := s.Load.Producers == 0; read && (r.Run.Fill == nil || d.Unique != r.Run.Fill.Records) || !read && load.Acked != load.Scheduled {
		t.Errorf("load %+v, fill %+v, delivery %+v", load, r.Run.Fill, d)
	}
}

// wantAnswer wants the sentence that the suite promises, which names every
// configuration that has a valid run.
func wantAnswer(t *testing.T, recorded *result.RecordedCampaign) {
	t.Helper()
	d, err := report.AnalyseCampaign(recorded, "")
	if err != nil {
		t.Fatal(err)
	}
	if d.Answer.Name != recorded.Campaign.Campaign.Answer || d.Answer.Sentence == "" {
		t.Errorf("the answer is %+v", d.Answer)
	}
	if !starved(recorded.Runs...) && d.Answer.Status != report.AnswerTold {
		t.Errorf("it gives no answer: %+v", d.Answer)
	}
	var text strings.Builder
	if err := report.Campaign(&text, recorded, report.Options{Width: 400}); err != nil {
		t.Fatal(err)
	}
	if words := func(s string) string { return strings.Join(strings.Fields(s), " ") }; !strings.Contains(words(text.String()), words(d.Answer.Sentence)) {
		t.Errorf("the report does not say %q:\n%s", d.Answer.Sentence, text.String())
	}
}

// oneCluster gives every run the same cluster, whatever it asks for.
type oneCluster struct{ cluster.Cluster }

func (c oneCluster) For(context.Context, scenario.Cluster) (cluster.Cluster, error) {
	return c.Cluster, nil
}

// runSuite makes the quick form of a preset on a cluster, once, and reads it back.
func runSuite(t *testing.T, c cluster.Cluster, preset string, overrides ...string) (campaign.Plan, *result.RecordedCampaign) {
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
	out := t.TempDir()
	tool := result.Tool{Version: "test"}
	journal, err := campaign.Create(out, plan.Campaign(tool))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	err = campaign.Run(ctx, journal, campaign.Config{
		Maker: campaign.Engine{
			Source: oneCluster{c},
			Bench:  bench.Config{Driver: franz.New(), Out: out, Tool: tool, Worker: workerCommand},
		},
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
