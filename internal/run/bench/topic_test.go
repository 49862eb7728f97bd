package bench

import (
	"context"
	"maps"
	"strconv"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
)

type ofKind string

func (ofKind) Bootstrap() []string        { return nil }
func (k ofKind) Info() cluster.Info       { return cluster.Info{Kind: string(k)} }
func (ofKind) Stop(context.Context) error { return nil }

// TestRetention: the topic of each preset keeps its records for more than twice as long as the run lasts, unless the
// scenario says otherwise.
func TestRetention(t *testing.T) {
	for _, name := range scenario.Names() {
		suite, err := scenario.ReadSuite(name, scenario.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, cell := range suite.Cells {
			b := base{cfg: Config{Scenario: cell.Scenario, Cluster: ofKind(cluster.KindExisting)}}
			ms, err := strconv.ParseInt(b.topicConfig(nil)[retention], 10, 64)
			least := time.Duration(2*(cell.Scenario.Phases.Warmup+cell.Scenario.Phases.Measure+cell.Scenario.Phases.Drain)) + time.Hour
			if err != nil || time.Duration(ms)*time.Millisecond < least {
				t.Errorf("%s: the topic keeps its records for %d ms, want at least %v", cell.Name, ms, least)
			}
		}
	}
	own := map[string]string{retention: "5000", "segment.ms": "7"}
	for name, b := range map[string]base{
		"chosen":   {cfg: Config{Cluster: ofKind(cluster.KindExisting)}},
		"kept":     {cfg: Config{Cluster: ofKind(cluster.KindExisting), KeepTopics: true}},
		"embedded": {cfg: Config{Cluster: ofKind(cluster.KindEmbedded)}},
	} {
		if got := b.topicConfig(own); !maps.Equal(got, own) {
			t.Errorf("%s: %v, want %v", name, got, own)
		}
	}
	for name, b := range map[string]base{
		"kept":     {cfg: Config{Cluster: ofKind(cluster.KindExisting), KeepTopics: true}},
		"embedded": {cfg: Config{Cluster: ofKind(cluster.KindEmbedded)}},
	} {
		if got := b.topicConfig(nil); len(got) > 0 {
			t.Errorf("%s: %v, want none", name, got)
		}
	}
}
