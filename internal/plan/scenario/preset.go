package scenario

import (
	"embed"
	"fmt"
	"slices"
)

//go:embed presets/*.yaml
var presetFiles embed.FS

// YourTopic is the topic of the preset consume-only, until a user names one.
const YourTopic = "name-of-your-topic"

var presetNames = []string{
	"quick",
	"baseline",
	"slow-consumer",
	"overload",
	"overload-loose",
	"overload-tight",
	"recovery",
	"recovery-aggressive",
	"bursty-light",
	"bursty-heavy",
	"bursty-overload",
	"backpressure-short",
	"backpressure-study",
	"backpressure-recovery",
	"backpressure-bursty",
	"backpressure-faults",
	"backpressure-processes",
	"backpressure-baseline",
	"throughput-producer",
	"throughput-consumer",
	"throughput-record-size",
	"throughput-stored-data",
	"latency-e2e",
	"consumer-limit",
	"consumer-brokers",
	"consumer-cpu",
	"consumer-memory",
	"partitions",
	"latency-partitions",
	"clients",
	"drivers",
	"broker-failover",
	"kmq-study",
	"kmq-online",
	"kmq-scale",
	"kmq-drain",
	"kmq-latency",
	"kmq-drops-silent",
	"kmq-drops-nack",
	"kmq-kill",
	"kmq-heavy-tail",
	"kmq-rolling",
	"agents-producer",
	"agents-consumer",
	"agents-limit",
	"agents-drain",
	"agents-online",
	"sweep-compression",
	"sweep-acks",
	"sweep-payload",
	"sweep-record-size",
	"e2e",
	"e2e-steps",
	"e2e-spike",
	"e2e-ramp",
	"produce-only",
	"consume-only",
	"fan-out",
	"backlog",
}

// Names lists the presets; those for a first run come first.
func Names() []string { return slices.Clone(presetNames) }

// PresetText returns the YAML of a preset with its comments.
func PresetText(name string) ([]byte, error) {
	if !slices.Contains(presetNames, name) {
		return nil, fmt.Errorf("preset %q is not known; kafka-bench list prints the presets", name)
	}
	text, err := presetFiles.ReadFile("presets/" + name + ".yaml")
	if err != nil {
		return nil, fmt.Errorf("preset %s: %w", name, err)
	}
	return text, nil
}
