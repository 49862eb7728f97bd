package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/result"
)

// Every run.json of schema 1 has firstSettings.
var firstSettings = strings.Fields(`
	name repeat cluster.brokers cluster.heap topic.partitions topic.replication
	load.rate load.arrival.process load.producers load.clients load.pacer load.partitioning load.record.size
	load.record.payload load.record.seed load.record.keys.distribution load.acks load.compression load.level load.linger
	load.batch load.idempotent load.in_flight load.delivery_timeout load.max_buffered
	consume.consumers consume.parallel consume.work.time consume.work.jitter consume.work.distribution consume.commit
	consume.protocol consume.fetch.max_wait phases.warmup phases.measure phases.drain
	backpressure.controller backpressure.poll backpressure.excess backpressure.max_deferred
	sampling.interval sampling.lag`)

func recordedSettings(t *testing.T, s scenario.Scenario) map[string]string {
	t.Helper()
	text, err := json.Marshal(s.Resolve())
	var tree map[string]any
	if err == nil {
		err = json.Unmarshal(text, &tree)
	}
	if err != nil {
		t.Fatal(err)
	}
	flat := map[string]string{}
	var walk func(prefix string, tree map[string]any)
	walk = func(prefix string, tree map[string]any) {
		for name, v := range tree {
			if child, ok := v.(map[string]any); ok {
				walk(prefix+name+".", child)
				continue
			}
			flat[prefix+name] = fmt.Sprint(v)
		}
	}
	walk("", tree)
	return flat
}

// LaterSettings gives the default to each setting that older runs do not record. Otherwise the same
// scenario would have another configuration after an upgrade of kafka-bench.
func TestLaterSettingsAreTheDefaults(t *testing.T) {
	defaults := scenario.Defaults()
	recorded := recordedSettings(t, defaults)
	defaults.Topic.Existing = "orders" // without it there is no topic to read
	existing := recordedSettings(t, defaults)
	for name, value := range result.LaterSettings() {
		if name == "backpressure.per" || name == "backpressure.share" { // no scenario has them any more
			continue
		}
		if existing[name] != value {
			t.Errorf("%s is %q by default, and not %q", name, existing[name], value)
		}
		delete(recorded, name)
	}
	for _, name := range firstSettings {
		if _, there := recorded[name]; !there {
			t.Errorf("%s is in no scenario any more: a recorded key is never renamed or removed", name)
		}
		delete(recorded, name)
	}
	if len(recorded) > 0 {
		t.Errorf("%v are recorded and are not of the first schema: add them to the later settings, with what runs did before", slices.Sorted(maps.Keys(recorded)))
	}
}
