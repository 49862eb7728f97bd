//go:build proof

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/peers"
)

func TestPeers(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", userCache)
	t.Chdir(t.TempDir())
	scenario := write(t, `
name: tiny
topic: {partitions: 2}
load: {rate: 2k/s, producers: 1, record: {size: 200B}, compression: none}
phases: {warmup: 500ms, measure: 1s, drain: 10s}
`)
	got := invoke(t, "peers", scenario, "--cluster", "kafka", "--repeat", "1")
	if got.code != exitValid && !strings.Contains(got.stderr, "because") {
		t.Fatalf("exit code %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	said := []string{"round 1 of 1 · kafka-consumer-perf-test"}
	if got.code == exitValid { // figures of a run that a busy machine made invalid are not compared
		said = append(said, "send service time p99", "What can be compared")
	}
	for _, want := range said {
		if !strings.Contains(got.stderr+got.stdout, want) {
			t.Errorf("it does not say %q:\n%s", want, got.stdout)
		}
	}
	dirs, err := filepath.Glob("runs/*/" + result.CampaignFile)
	if err != nil || len(dirs) != 1 {
		t.Fatalf("campaigns %v, %v", dirs, err)
	}
	c, err := result.ReadCampaign(filepath.Dir(dirs[0]))
	if err != nil {
		t.Fatal(err)
	}
	if c.Campaign.Campaign.Kind != result.KindPeers || !c.Campaign.Finished() || len(c.Runs) != 3 {
		t.Fatalf("campaign %+v", c.Campaign)
	}
	producer, consumer := c.Runs[1], c.Runs[2]
	if l := producer.Run.Load; l.Acked != 2000 || l.Bytes != 400_000 || l.ClosedLoop || !producer.Run.Says("load.bytes") {
		t.Errorf("the producer's tool: %+v", l)
	}
	if d := consumer.Run.Delivery; d.Delivered != 3000 {
		t.Errorf("the consumer's tool read %d records, want the 3,000 of warm-up and window", d.Delivered)
	}
	for _, run := range []*result.Recorded{producer, consumer} {
		if text, err := os.ReadFile(filepath.Join(run.Dir, peers.OutputFile)); err != nil || len(text) == 0 {
			t.Errorf("%s: %v", peers.OutputFile, err)
		}
		if run.Run.Run.Host.CPUs == 0 || run.Run.Run.Cluster.Version == "" || run.Run.Run.Imported == nil {
			t.Errorf("%+v", run.Run.Run)
		}
	}
}
