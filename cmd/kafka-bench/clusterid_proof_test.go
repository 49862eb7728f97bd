//go:build proof

package main

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/kafka/cluster/clustertest"
)

// TestTwoKafkas: of 50 tries with brokers of two real clusters, with each driver, none starts, and nothing is made on
// either cluster. With the brokers of one of them the run starts, and the other stays empty.
func TestTwoKafkas(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", userCache)
	all := []*cluster.Kafka{clustertest.Own(t, 1, nil), clustertest.Own(t, 1, nil)}
	drivers := slices.DeleteFunc(driverNames(), func(name string) bool {
		_, err := driverNamed(name)
		return err != nil // it is not built in
	})
	for i := range 50 {
		order := rand.Perm(2)
		both := all[order[0]].Bootstrap()[0] + "," + all[order[1]].Bootstrap()[0]
		got := invoke(t, "run", write(t, tiny), "--brokers", both, "--cluster-id", all[i%2].Info().ID,
			"--driver", drivers[i%len(drivers)], "--out", t.TempDir())
		if got.code != exitBadInput || !strings.Contains(got.message(), "the addresses lead to different clusters") {
			t.Fatalf("try %d with %s: exit code %d and %q", i, drivers[i%len(drivers)], got.code, got.stderr)
		}
	}
	one, two := strings.Join(all[0].Bootstrap(), ","), strings.Join(all[1].Bootstrap(), ",")
	wantTopics(t, one)
	for _, driver := range drivers {
		got := invoke(t, "run", write(t, tiny), "--brokers", one, "--cluster-id", all[0].Info().ID,
			"--driver", driver, "--out", t.TempDir(), "--keep-topics")
		if got.code > exitInvalid {
			t.Errorf("%s: exit code %d: %s", driver, got.code, got.stderr)
		}
	}
	wantTopics(t, two)
}
