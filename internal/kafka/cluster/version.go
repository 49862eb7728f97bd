package cluster

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"kafkabench.example/kafka-bench/internal/plan/scenario"
)

type version struct {
	Line  string // as scenarios name it: 4.3
	Kafka string // the patch version that runs
	// Log4j is the version of log4j-slf4j-impl: that of Kafka's own log4j 2, if Kafka has log4j 2.
	Log4j string
	// Log4j1 reports whether this Kafka calls log4j 1.
	Log4j1 bool
}

// The oldest is first, as in scenario.KafkaVersions, and the last is the default.
var versions = []version{
	{Line: "3.9", Kafka: "3.9.2", Log4j: "2.25.4", Log4j1: true},
	{Line: "4.0", Kafka: "4.0.2", Log4j: "2.25.4"},
	{Line: "4.1", Kafka: "4.1.2", Log4j: "2.25.3"},
	{Line: "4.2", Kafka: "4.2.1", Log4j: "2.25.4"},
	{Line: "4.3", Kafka: KafkaVersion, Log4j: "2.25.4"},
}

// KafkaVersion is the version of Apache Kafka that StartKafka and Up start by default. It is also the pom's default.
const KafkaVersion = "4.3.1"

// versionOf returns the default for "". An error is of kind ErrInput.
func versionOf(line string) (version, error) {
	if line == "" {
		return versions[len(versions)-1], nil
	}
	if i := slices.IndexFunc(versions, func(v version) bool { return v.Line == line }); i >= 0 {
		return versions[i], nil
	}
	return version{}, &Error{
		Kind: ErrInput, What: fmt.Sprintf("Kafka %q is not a version that can be started", line),
		Remedy: "choose one of " + strings.Join(scenario.KafkaVersions(), ", "),
	}
}

// lineOf returns 4.3 for 4.3.1 and for v4.3.
func lineOf(kafka string) string {
	parts := strings.SplitN(strings.TrimPrefix(kafka, "v"), ".", 3)
	return strings.Join(parts[:min(2, len(parts))], ".")
}

//go:embed dist/pom.xml
var pom []byte

// properties are Maven's arguments that make the pom one of this version.
func (v version) properties() []string {
	args := []string{"-Dkafka=" + v.Kafka, "-Dlog4j=" + v.Log4j}
	if v.Log4j1 {
		args = append(args, "-Plog4j1")
	}
	return args
}
