package cluster

import (
	"os"
	"path/filepath"
	"testing"

	"kafkabench.example/kafka-bench/internal/plan/scenario"
)

func TestBrokenClusterIsNotKept(t *testing.T) {
	k := &Kafka{}
	if broken(k) || broken(startEmbedded(t, EmbeddedOptions{})) || broken(&Named{}) {
		t.Error("a cluster that nobody broke counts as broken")
	}
	if k.GiveUp(); !broken(k) {
		t.Error("a cluster that was given up is kept")
	}
}

func TestSourceReplacesABrokenCluster(t *testing.T) {
	s, settings := newSource(t, Source{Kind: KindEmbedded}), scenario.Cluster{Brokers: 1}
	dir := t.TempDir()
	owner, err := tryLock(filepath.Join(dir, "owner"))
	if err != nil {
		t.Fatal(err)
	}
	left := &Kafka{home: s.Home, layout: layout{dir: dir}, owner: owner}
	s.current, s.settings = left, settings
	left.GiveUp()
	next, err := s.For(testContext(t), on(settings))
	if err != nil || next == Cluster(left) || next.Info().Brokers != 1 {
		t.Fatalf("the next run got %v, %v", next, err)
	}
	if again, err := s.For(testContext(t), on(settings)); err != nil || again != next {
		t.Errorf("the run after that got %v, %v", again, err)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the broken cluster was not taken away: %v", err)
	}
}
