//go:build proof

package main

import (
	"strings"
	"testing"

	"kafkabench.example/kafka-bench/internal/kafka/cluster/clustertest"
)

// TestNothingIsDeletedDuringARun: a broker that looks for old records all the time deletes none of a run's topic, with
// any driver. With a retention of the scenario's own it does.
func TestNothingIsDeletedDuringARun(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", userCache)
	k := clustertest.Own(t, 1, map[string]string{"log.retention.check.interval.ms": "100", "log.initial.task.delay.ms": "100"})
	const filled = `
topic: {partitions: 2, fill_records: 2000}
load: {producers: 0, record: {size: 200B, payload: random}}
consume: {consumers: 1}
phases: {warmup: 4s, measure: 20s, drain: 1s}
`
	delivered := func(more ...string) int64 {
		out := t.TempDir()
		got := invoke(t, append([]string{"run", write(t, filled), "--brokers", strings.Join(k.Bootstrap(), ","), "--out", out}, more...)...)
		if got.code > exitInvalid {
			t.Fatalf("exit code %d: %s", got.code, got.stderr)
		}
		return onlyRun(t, out).Run.Delivery.Unique
	}
	for _, driver := range driverNames() {
		if d, err := driverNamed(driver); err != nil || d == nil {
			continue // it is not built in
		}
		if n := delivered("--driver", driver); n != 2000 {
			t.Errorf("%s: %d records were delivered, want 2000", driver, n)
		}
	}
	if n := delivered("--set", "topic.config={retention.ms: 1}"); n == 2000 {
		t.Error("the broker deletes nothing at all, so this test shows nothing")
	}
}
