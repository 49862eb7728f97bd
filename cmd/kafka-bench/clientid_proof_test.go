//go:build proof

package main

import (
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/internal/kafka/cluster/clustertest"
)

// TestQuotaOfTheClientID: a quota of a client ID throttles a run with exactly this ID, and no other run.
func TestQuotaOfTheClientID(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", userCache)
	k := clustertest.Shared(t)
	const id, bytesPerS = "kafka-bench-test-quota", 100e3
	client, err := kgo.NewClient(kgo.SeedBrokers(k.Bootstrap()...), kgo.DisableClientMetrics())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	name := id
	quota := func(remove bool) {
		altered, err := kadm.NewClient(client).AlterClientQuotas(t.Context(), []kadm.AlterClientQuotaEntry{{
			Entity: kadm.ClientQuotaEntity{{Type: "client-id", Name: &name}},
			Ops:    []kadm.AlterClientQuotaOp{{Key: "producer_byte_rate", Value: bytesPerS, Remove: remove}},
		}})
		if err != nil || len(altered) != 1 || altered[0].Err != nil {
			t.Fatalf("the quota: %v, %+v", err, altered)
		}
	}
	quota(false)
	defer quota(true)
	acked := func(id string) int64 {
		out := t.TempDir()
		got := invoke(t, "run", write(t, tiny), "--brokers", strings.Join(k.Bootstrap(), ","), "--out", out, "--client-id", id, "--anyway",
			"--set", "load.rate=max", "--set", "phases={warmup: 0s, measure: 3s, drain: 1s}", "--set", "load.producers=2")
		if got.code > exitInvalid {
			t.Fatalf("exit code %d: %s", got.code, got.stderr)
		}
		return onlyRun(t, out).Run.Load.Acked
	}
	if limited, free := acked(id), acked(id+"-2"); limited > free/3 {
		t.Errorf("%d records were acked with the quota, and %d with another client ID", limited, free)
	}
}
