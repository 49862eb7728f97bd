//go:build proof

package versions

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
)

const text = `
topic: {partitions: 2}
load: {rate: 500/s, acks: all}
consume: {consumers: 2}
phases: {warmup: 500ms, measure: 3s, drain: 30s}
sampling: {brokers: 500ms}
`

// Each version makes a plain run, and a run with the features that it introduced; older versions
// refuse scenarios with the consumer protocol or share groups. All versions are in the user's
// cache.
func TestVersions(t *testing.T) {
	home, err := cluster.UserHome()
	if err != nil {
		t.Fatal(err)
	}
	home.Clusters = t.TempDir()
	for _, line := range scenario.KafkaVersions() {
		t.Run(line, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
			defer cancel()
			disk := t.TempDir()
			k, err := home.StartKafka(ctx, cluster.KafkaOptions{Version: line, Disks: []string{disk}})
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := k.Stop(context.WithoutCancel(ctx)); err != nil {
					t.Error(err)
				}
			}()
			r := runOn(ctx, t, k, line, "consume.protocol=classic")
			if !strings.HasPrefix(r.Run.Cluster.Version, line+".") {
				t.Errorf("it ran on Kafka %s", r.Run.Cluster.Version)
			}
			if b := r.Broker; len(b) != 1 || b[0].Metrics == nil || b[0].Metrics.HandlerIdleRatio == nil {
				t.Errorf("the handlers' idleness is not known: %+v", b)
			}
			for since, override := range map[string]string{
				"4.0": "consume.protocol=consumer", "4.2": "consume.queue={engine: share}",
			} {
				if lines := scenario.KafkaVersions(); slices.Index(lines, line) >= slices.Index(lines, since) {
					runOn(ctx, t, k, line, override)
				}
			}
		})
	}
}

func runOn(ctx context.Context, t *testing.T, k *cluster.Kafka, line, override string) *result.Run {
	t.Helper()
	s, err := scenario.Parse("versions.yaml", []byte(text), `cluster.version="`+line+`"`, override)
	if err != nil {
		t.Fatal(err)
	}
	made, err := bench.Run(ctx, bench.Config{Scenario: s, Cluster: k, Driver: franz.New(), Out: t.TempDir(),
		Tool: result.Tool{Version: "test"}})
	if err != nil {
		t.Fatalf("%s: %v", override, err)
	}
	r := &made.Run
	if d := r.Delivery; r.Load.Acked != 1500 || d.Delivered != 1500 || d.Lost != 0 {
		t.Errorf("%s: %d acked, %d delivered, %d lost; want 1500, 1500, 0", override, r.Load.Acked, d.Delivered, d.Lost)
	}
	return r
}
