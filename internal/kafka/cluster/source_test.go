package cluster

import (
	"testing"

	"kafkabench.example/kafka-bench/internal/plan/scenario"
)

func newSource(t *testing.T, s Source) *Source {
	t.Helper()
	s.Home = Home{Dist: t.TempDir(), Clusters: t.TempDir()}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return &s
}

func TestSourceKeepsItsCluster(t *testing.T) {
	s := newSource(t, Source{Kind: KindEmbedded})
	id := func(brokers int) string {
		c, err := s.For(testContext(t), scenario.Cluster{Brokers: brokers})
		if err != nil {
			t.Fatal(err)
		}
		if c.Info().Brokers != brokers {
			t.Errorf("%d brokers, want %d", c.Info().Brokers, brokers)
		}
		return c.Info().ID
	}
	one := id(1)
	if again := id(1); again != one {
		t.Error("the same settings got another cluster")
	}
	if three := id(3); three == one {
		t.Error("other settings got the same cluster")
	}
}

func TestSourceOfAnotherVersion(t *testing.T) {
	s := newSource(t, Source{Kind: KindEmbedded})
	for range 2 {
		_, err := s.For(testContext(t), scenario.Cluster{Brokers: 1, Version: "3.9"})
		wantError(t, err, ErrInput, "asks for Kafka 3.9", "the embedded broker", "--cluster kafka")
	}
	for _, is := range []struct {
		kind, version string
		taken         bool
	}{{KindKafka, "3.9.2", true}, {KindKafka, "4.3.1", false}, {KindExisting, "v4.1", true}} {
		if err := sameVersion(Info{Kind: is.kind, Version: is.version}, "3.9"); (err == nil) != is.taken {
			t.Errorf("%+v: %v", is, err)
		}
	}
}

func TestEmbeddedHasNoDisks(t *testing.T) {
	s := newSource(t, Source{Kind: KindEmbedded})
	_, err := s.For(testContext(t), scenario.Cluster{Brokers: 1, Disks: []string{t.TempDir()}})
	wantError(t, err, ErrInput, "cluster.disks", "--cluster kafka")
}

func TestSourceExisting(t *testing.T) {
	e := startEmbedded(t, EmbeddedOptions{})
	s := newSource(t, Source{Brokers: e.Bootstrap(), ClusterID: e.Info().ID})
	first, err := s.For(testContext(t), scenario.Cluster{Brokers: 1})
	if err != nil || first.Info().Kind != KindExisting {
		t.Fatalf("For() = %v, %v", first, err)
	}
	second, err := s.For(testContext(t), scenario.Cluster{Brokers: 3})
	if err != nil || second != first {
		t.Errorf("an existing cluster has no settings, but For() = %v, %v", second, err)
	}
}

func TestSourceChoosesWhatIsPossible(t *testing.T) {
	s := newSource(t, Source{Kind: "mine"})
	_, err := s.For(testContext(t), scenario.Cluster{Brokers: 1})
	wantError(t, err, ErrNotUp, `"mine"`)

	t.Setenv("PATH", t.TempDir())
	t.Setenv("JAVA_HOME", "")
	var told string
	s = newSource(t, Source{Progress: func(line string) { told += line }})
	c, err := s.For(testContext(t), scenario.Cluster{Brokers: 1})
	if err != nil || c.Info().Kind != KindEmbedded {
		t.Errorf("For() without Java = %v, %v", c, err)
	}
	if told == "" {
		t.Error("nobody is told that it is not Kafka")
	}
}
