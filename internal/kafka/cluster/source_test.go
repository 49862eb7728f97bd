package cluster

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kversion"

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
		c, err := s.For(testContext(t), on(scenario.Cluster{Brokers: brokers}))
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
		_, err := s.For(testContext(t), on(scenario.Cluster{Brokers: 1, Version: "3.9"}))
		wantError(t, err, ErrInput, "asks for Kafka 3.9", "the embedded broker", "--cluster kafka")
	}
}

// TestFits: a run is refused if the cluster differs from what it says, or lacks what it needs.
func TestFits(t *testing.T) {
	kept := func(version string, disks ...string) Info {
		return Info{Kind: KindKafka, Version: version, Disks: disks, Brokers: 1}
	}
	existing := func(version string) Info { return Info{Kind: KindExisting, Version: version} }
	here, err := filepath.Abs("a")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		is       Info
		asks     string
		refusals []string // all of them; none if it fits
	}{
		{kept("3.9.2", "/a"), "{}", nil},
		{kept("3.9.2"), "cluster: {version: 3.9}", nil},
		{kept("4.3.1"), "cluster: {version: 3.9}", []string{"cluster.version asks for Kafka 3.9, and the cluster is Kafka 4.3.1; leave cluster.version out, or "}},
		{kept("4.3.1", "/a", here), "cluster: {disks: [a, /a/]}", nil},
		{kept("4.3.1", "/a"), "cluster: {disks: [/a, /b]}", []string{"cluster.disks names /a, /b, and the cluster keeps its logs in /a; leave cluster.disks out, or "}},
		{kept("4.3.1"), "cluster: {disks: [/a]}", []string{"cluster.disks names /a, and the cluster keeps its logs in a folder of its own; leave"}},
		{kept("3.9.2"), "consume: {protocol: consumer}", []string{"consume.protocol: Kafka 3.9 has the protocol consumer only as a preview, switched off; choose classic, or Kafka 4.0 or later (KIP-848)"}},
		{kept("4.0.2"), "consume: {protocol: consumer}", nil},
		{kept("4.1.2"), "consume: {queue: {engine: share}}", []string{"consume.queue.engine: Kafka 4.1 has share groups only as a preview, or not at all; choose another engine, or Kafka 4.2 or later (KIP-932)"}},
		{kept("4.2.1"), "consume: {queue: {engine: share}}", nil},
		{kept("5.0.0"), "consume: {queue: {engine: share}}", nil},
		{existing("v4.1"), "cluster: {version: 4.1}\nconsume: {protocol: consumer}", nil},
		{existing("v4.1"), "cluster: {version: 4.3}", []string{`cluster.version asks for Kafka 4.3, and the existing cluster answers like "v4.1"; leave cluster.version out, or `}},
		{existing("at least v4.3"), "cluster: {version: 4.3}", []string{`answers like "at least v4.3"`}},
		{existing(""), "cluster: {version: 4.3}", []string{"answers like an unknown version"}},
		{existing("v4.1"), "cluster: {disks: [/a]}", []string{"cluster.disks names /a, and where an existing cluster keeps its logs is not known; leave"}},
		{kept("4.3.1"), "topic: {replication: 2}", []string{"topic.replication: 2 replicas need as many brokers, and the cluster has 1; lower it, or use more brokers"}},
		{kept("4.3.1"), "topic: {existing: orders}", nil},
		{Info{Kind: KindExisting, NoShares: true}, "{}", nil},
		{Info{Kind: KindExisting, NoShares: true}, "consume: {queue: {engine: share}}",
			[]string{"consume.queue.engine: the cluster has no share groups, or they are switched off; choose another engine, or a cluster of Kafka 4.2 or later (KIP-932)"}},
		{Info{Kind: KindExisting, Version: "v3.9", ClassicOnly: true}, "{}", nil},
		{Info{Kind: KindExisting, Version: "v3.9", ClassicOnly: true}, "consume: {protocol: consumer}",
			[]string{"consume.protocol: the cluster does not offer the group protocol consumer; choose classic, or "}},
		{Info{Kind: KindEmbedded}, "cluster: {version: 4.3, disks: [/a]}",
			[]string{"cluster.version asks for Kafka 4.3, and the cluster is the embedded broker", "cluster.disks names /a, and the embedded broker keeps its logs in memory"}},
	} {
		s, err := scenario.Parse("f.yaml", []byte(c.asks))
		if err != nil {
			t.Fatalf("%s: %v", c.asks, err)
		}
		said := ""
		if err := Fits(c.is, s); err != nil {
			said = err.Error()
		}
		lines := strings.Split(said, "\n")
		if said == "" && len(c.refusals) > 0 || said != "" && len(lines) != len(c.refusals) {
			t.Errorf("%+v, %s: %q, want %q", c.is, c.asks, said, c.refusals)
			continue
		}
		for i, want := range c.refusals {
			if !strings.Contains(lines[i], want) {
				t.Errorf("%+v, %s: %q, want %q", c.is, c.asks, lines[i], want)
			}
		}
	}
}

func TestInfoOfDisks(t *testing.T) {
	r := record{Disks: []string{"/a/kafka-bench-ID", "/b/kafka-bench-ID"}}
	if got := r.info().Disks; !slices.Equal(got, []string{"/a", "/b"}) {
		t.Errorf("the disks are %q", got)
	}
}

func TestExistingLacks(t *testing.T) {
	for _, c := range []struct {
		is                *kversion.Versions
		protocol, engine  string
		classic, unshared bool
	}{
		{kversion.V3_9_0(), "consumer", "", true, true},
		{kversion.V4_0_0(), "consumer", "", false, true},
		{kversion.V4_1_0(), "classic", "share", false, true},
		{kversion.V4_2_0(), "consumer", "share", false, false},
		{nil, "consumer", "share", false, false},
	} {
		s := newSource(t, Source{Brokers: startFake(t, kfake.MaxVersions(c.is)).ListenAddrs()})
		got, err := s.For(testContext(t), on(scenario.Cluster{Brokers: 1}))
		if err != nil {
			t.Fatal(err)
		}
		is := got.Info()
		if is.ClassicOnly != c.classic || is.NoShares != c.unshared {
			t.Errorf("%+v, want %+v", is, c)
		}
		asks := on(scenario.Cluster{Brokers: 1})
		asks.Consume.Protocol, asks.Consume.Queue.Engine = c.protocol, c.engine
		refused := c.classic && c.protocol == "consumer" || c.unshared && c.engine == "share"
		if _, err = s.For(testContext(t), asks); refused != errors.Is(err, ErrInput) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func on(c scenario.Cluster) scenario.Scenario { return scenario.Scenario{Cluster: c} }

func TestEmbeddedHasNoDisks(t *testing.T) {
	s := newSource(t, Source{Kind: KindEmbedded})
	_, err := s.For(testContext(t), on(scenario.Cluster{Brokers: 1, Disks: []string{t.TempDir()}}))
	wantError(t, err, ErrInput, "cluster.disks", "--cluster kafka")
}

func TestSourceExisting(t *testing.T) {
	e := startEmbedded(t, EmbeddedOptions{})
	s := newSource(t, Source{Brokers: e.Bootstrap(), ClusterID: e.Info().ID})
	first, err := s.For(testContext(t), on(scenario.Cluster{Brokers: 1}))
	if err != nil || first.Info().Kind != KindExisting {
		t.Fatalf("For() = %v, %v", first, err)
	}
	second, err := s.For(testContext(t), on(scenario.Cluster{Brokers: 3}))
	if err != nil || second != first {
		t.Errorf("an existing cluster has no settings, but For() = %v, %v", second, err)
	}
}

func TestSourceChoosesWhatIsPossible(t *testing.T) {
	s := newSource(t, Source{Kind: "mine"})
	_, err := s.For(testContext(t), on(scenario.Cluster{Brokers: 1}))
	wantError(t, err, ErrNotUp, `"mine"`)

	t.Setenv("PATH", t.TempDir())
	t.Setenv("JAVA_HOME", "")
	var told string
	s = newSource(t, Source{Progress: func(line string) { told += line }})
	c, err := s.For(testContext(t), on(scenario.Cluster{Brokers: 1}))
	if err != nil || c.Info().Kind != KindEmbedded {
		t.Errorf("For() without Java = %v, %v", c, err)
	}
	if told == "" {
		t.Error("nobody is told that it is not Kafka")
	}
}
