package bench

import (
	"slices"
	"testing"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
)

func TestNeedsOf(t *testing.T) {
	for text, want := range map[string][]string{
		"load: {rate: 1k/s}":                                             nil,
		"load: {acks: all, idempotent: true}":                            {"load.idempotent: idempotent producing"},
		"load: {compression: zstd, level: 3, in_flight: 1}":              {"load.level: compression levels", "load.in_flight: a limit of requests in flight"},
		"load: {producers: 0}\ntopic: {fill: 1MB}":                       {"topic.fill: pausing partitions"},
		"load: {in_flight: 1, producers: 0}\ntopic: {existing: orders}":  nil,
		"consume: {assignment: manual}":                                  {"consume.assignment: partitions assigned by hand"},
		"consume: {hold: 3s}":                                            {"consume.hold: pausing partitions"},
		"consume: {parallel: partition}":                                 nil,
		"consume: {parallel: partition, work: 1ms}":                      {"consume.parallel: pausing partitions"},
		"consume: {parallel: partition, changes: [{at: 1s, work: 1ms}]}": {"consume.parallel: pausing partitions"},
		"consume: {protocol: consumer}":                                  {"consume.protocol: the group protocol consumer"},
		"consume: {session_timeout: 6s}":                                 {"consume.session_timeout: a session timeout"},
		"consume: {consumers: 0, protocol: consumer}":                    nil,
		"consume: {consumers: 2}\nfaults: [{at: 1s, kill: consumer 0}]":  {"faults: a consumer that is killed"},
		"consume: {consumers: 2}\nfaults: [{at: 1s, stop: consumer 0}]":  nil,
		"cluster: {brokers: 2}\nfaults: [{at: 1s, kill: broker 1}]":      nil,
	} {
		s, err := scenario.Parse("s", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, n := range NeedsOf(s) {
			got = append(got, n.Key+": "+string(n.Capability))
			if n.Remedy == "" {
				t.Errorf("%s has no remedy", n.Key)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q needs %q, want %q", text, got, want)
		}
	}
}

// No preset of the suites asks for what a client may lack, but to be paused.
func TestDriversPresetAsksForLittle(t *testing.T) {
	suite, err := scenario.ReadSuite("drivers", scenario.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, cell := range suite.Cells {
		for _, n := range NeedsOf(cell.Scenario) {
			if n.Capability != driver.PausePartitions {
				t.Errorf("%s asks for %s", cell.Name, n.Capability)
			}
		}
	}
}
