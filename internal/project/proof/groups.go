package main

import (
	"strings"
	"time"
)

// group is a part of the proof that runs, passes and fails as one.
type group struct {
	name string
	why  string
	// packages are patterns of go list. The group runs again if a file changed in one of them, or
	// in a package of this module that they or their tests import.
	packages []string
	own      bool     // no other group runs all tests of these packages
	rest     bool     // packages are those that no group owns
	command  []string // runs instead of go test
	flags    []string // of go test, after the common ones
	tags     string   // in addition to those of the tier
	cgo      bool     // needs a C compiler
	timeout  time.Duration
}

// Likely and early failures come first.
var all = []group{
	{
		name: "cross", why: "links the binary for each platform", timeout: time.Hour,
		packages: []string{"./cmd/kafka-bench"}, command: []string{"make", "cross"},
	},
	{
		name: "release", why: "makes a release twice and installs it without Go", timeout: time.Hour,
		packages: []string{"./cmd/kafka-bench", "./internal/project/release", "./internal/project/image"},
		command:  []string{"internal/project/release/proof.sh"},
	},
	tests("libraries", "Kafka and kfake with every client", time.Hour, "./backpressure/..."),
	tests("cluster", "starts, stops and freezes brokers", time.Hour, "./internal/kafka/cluster/..."),
	tests("versions", "runs on Kafka of every version", time.Hour, "./internal/project/versions"),
	tests("secured", "a broker with every mechanism and ACLs", time.Hour, "./internal/project/secured"),
	tests("drivers", "every driver on a real Kafka", time.Hour, "./internal/kafka/driver/..."),
	{
		name: "librdkafka", why: "the driver in C on a real Kafka", timeout: time.Hour,
		packages: []string{
			"./internal/kafka/driver/librdkafka", "./internal/kafka/driver/drivertest", "./cmd/kafka-bench", "./internal/project/secured",
		},
		tags: "librdkafka", cgo: true,
	},
	tests("plant", "every controller on many seeds", time.Hour, "./internal/project/plant"),
	tests("campaign", "campaigns and searches on a real Kafka", time.Hour,
		"./internal/run/campaign", "./internal/run/search"),
	tests("truth", "whole runs with something broken on purpose", 2*time.Hour, "./internal/project/truth"),
	tests("engines", "locks and sessions that run out", time.Hour,
		"./kmq/internal/markers", "./kmq/internal/offsetmap", "./kmq/internal/share",
		"./kmq/internal/plain", "./kmq/internal/member"),
	tests("conformance", "all laws of the queue on a real Kafka", 2*time.Hour, "./kmq/internal/conformance"),
	tests("crash", "kills at each step of the queue", 2*time.Hour, "./kmq/internal/crash"),
	{name: "rest", why: "many packages, one after the other", timeout: time.Hour, rest: true},
	{
		name: "race", why: "the race detector slows every test", timeout: 2 * time.Hour, cgo: true,
		packages: []string{"./backpressure/...", "./internal/...", "./kmq/..."}, command: []string{"make", "race"},
	},
	{
		name: "fuzz", why: "each target searches for a while", timeout: 2 * time.Hour,
		packages: []string{"./backpressure/...", "./cmd/...", "./internal/...", "./kmq/..."},
		command:  []string{"make", "fuzz"},
	},
	{
		name: "breaks", why: "breaks the code once for each invariant", timeout: 4 * time.Hour,
		packages: []string{"./..."}, command: []string{"go", "run", "./internal/project/breaks"},
	},
	{
		name: "soak", why: "every fault, and campaigns of kills", timeout: 12 * time.Hour,
		packages: []string{"./kmq/internal/crash"}, command: []string{"make", "soak"},
	},
}

func tests(name, why string, timeout time.Duration, packages ...string) group {
	return group{name: name, why: why, packages: packages, own: true, timeout: timeout}
}

func (g group) buildTags() string {
	return strings.Trim("synctests,full,proof,"+g.tags, ",")
}

func (g group) args() []string {
	if g.command != nil {
		return g.command
	}
	args := []string{"go", "test", "-count=1", "-tags=" + g.buildTags(), "-p=1", "-timeout=" + g.timeout.String()}
	return append(append(args, g.flags...), g.packages...)
}

func (g group) environment() string {
	if g.cgo {
		return "CGO_ENABLED=1"
	}
	return "CGO_ENABLED=0"
}
