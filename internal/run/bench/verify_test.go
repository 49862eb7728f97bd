package bench_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"

	"kafkabench.example/kafka-bench/internal/kafka/access"
	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/run/bench"
)

// movedCluster is a cluster whose addresses lead elsewhere after it was found.
type movedCluster struct {
	*cluster.Existing
	bootstrap []string
}

func (m movedCluster) Bootstrap() []string { return m.bootstrap }

// TestVerifyCluster: a run, whatever its driver, makes nothing on a cluster that has taken the place of the one that
// was found, and so does a run of which only one address has moved.
func TestVerifyCluster(t *testing.T) {
	cfg := connected(t, access.Access{}, kfake.ClusterID("one"))
	two, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.ClusterID("two"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(two.Close)
	found := cfg.Cluster.(*cluster.Existing)
	for name, bootstrap := range map[string][]string{
		"all moved": two.ListenAddrs(),
		"one moved": slices.Concat(found.Bootstrap(), two.ListenAddrs()),
	} {
		t.Run(name, func(t *testing.T) {
			cfg.Cluster = movedCluster{Existing: found, bootstrap: bootstrap}
			_, err := bench.Run(t.Context(), cfg)
			if !errors.Is(err, cluster.ErrInput) || !strings.Contains(err.Error(), "a broker of the cluster two answers there") {
				t.Errorf("the error is %v", err)
			}
			for _, addrs := range [][]string{found.Bootstrap(), two.ListenAddrs()} {
				c, err := cluster.Attach(t.Context(), addrs, "", access.Access{})
				if err != nil {
					t.Fatal(err)
				}
				if left := topics(t, c); len(left) > 0 {
					t.Errorf("topics %v were made", left)
				}
			}
		})
	}
}
