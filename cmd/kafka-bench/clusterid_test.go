package main

import (
	"context"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
)

// twoClusters returns the addresses of two clusters, comma-separated, and a function that fails the test if one of the
// clusters has a topic.
func twoClusters(t *testing.T) (one, two string, wantNoTopic func()) {
	t.Helper()
	var addrs []string
	for _, id := range []string{"one", "two"} {
		c, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.ClusterID(id), kfake.AllowAutoTopicCreation())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		addrs = append(addrs, strings.Join(c.ListenAddrs(), ","))
	}
	return addrs[0], addrs[1], func() {
		t.Helper()
		for _, at := range addrs {
			wantTopics(t, at)
		}
	}
}

func wantTopics(t *testing.T, at string, want ...string) {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(at), kgo.DisableClientMetrics())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	listed, err := kadm.NewClient(client).ListTopics(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(listed.Names(), " "); got != strings.Join(want, " ") {
		t.Errorf("the cluster at %s has the topics %q, want %q", at, got, want)
	}
}

// TestTwoClusters: each command refuses addresses of two clusters, and a cluster of another ID, before it makes anything.
func TestTwoClusters(t *testing.T) {
	one, two, wantNoTopic := twoClusters(t)
	for name, command := range map[string]string{
		"run":     "run quick",
		"search":  "search quick",
		"dry run": "run quick --dry-run",
		"agents":  "run quick --agents 2 --local-agents",
		"agent":   "agent --session monday --index 0 --of 2 --spool " + t.TempDir(),
		"tracker": "kmq tracker --group billing --topic orders",
		"redrive": "kmq redrive billing",
		"inspect": "kmq inspect billing",
		"clean":   "clean --yes",
	} {
		t.Run(name, func(t *testing.T) {
			args := strings.Fields(command)
			if args[0] == "run" || args[0] == "search" {
				args = append(args, "--out", t.TempDir())
			}
			got := invoke(t, append(args, "--brokers", one+","+two, "--cluster-id", "one")...)
			if got.code != exitBadInput || !strings.Contains(got.message(), "the addresses lead to different clusters: "+one+" of one, "+two+" of two") {
				t.Errorf("exit code %d and %q", got.code, got.stderr)
			}
			got = invoke(t, append(args, "--brokers", two, "--cluster-id", "one")...)
			if got.code != exitBadInput || !strings.Contains(got.message(), "the cluster at ["+two+"] has the ID two, not one") {
				t.Errorf("exit code %d and %q", got.code, got.stderr)
			}
		})
	}
	collected := invoke(t, "collect", "--session", "monday", "--brokers", one+","+two, "--out", t.TempDir())
	if collected.code != exitBadInput || !strings.HasPrefix(collected.message(), "the addresses lead to different clusters") {
		t.Errorf("collect: exit code %d and %q", collected.code, collected.stderr)
	}
	wantNoTopic()
}
