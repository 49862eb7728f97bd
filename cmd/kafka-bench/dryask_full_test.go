//go:build full

package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/internal/kafka/cluster/clustertest"
)

// TestDryRunOnKafka: Kafka says its ID and its free disk, refuses too many replicas as it refuses them to a run, and
// gets no topic.
func TestDryRunOnKafka(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", userCache)
	k := clustertest.Shared(t)
	seeds := kgo.SeedBrokers(k.Bootstrap()...)
	args := []string{"run", write(t, "name: s-dry\n"+tiny), "--brokers", strings.Join(k.Bootstrap(), ","), "--out", t.TempDir()}
	got := invoke(t, append(args, "--dry-run")...)
	if got.code != exitValid {
		t.Errorf("exit code %d and\n%s", got.code, got.stderr)
	}
	wantSaid(t, got.stdout, " "+k.Info().ID+"; ", " must stay free (--min-free)", "rights    what the runs need", "health    each partition")
	args = append(args, "--set", "topic.replication=9")
	dry, made := invoke(t, append(args, "--dry-run")...), invoke(t, args...)
	if dry.code != exitUnreachable || dry.code != made.code || withoutTopic(dry.message()) != withoutTopic(made.message()) ||
		!strings.Contains(dry.message(), "INVALID_REPLICATION_FACTOR") {
		t.Errorf("exit code %d and\n%s\nthe run: exit code %d and\n%s", dry.code, dry.message(), made.code, made.message())
	}
	ours := func(topic string) bool { return strings.HasPrefix(topic, "kafka-bench-s-dry-") } // others share the broker
	if found := topics(t, seeds); slices.ContainsFunc(found, ours) {
		t.Errorf("a topic was made: %v", found)
	}
}
