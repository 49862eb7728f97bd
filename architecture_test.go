// Package kafkabench_test holds the walls of the house.
package kafkabench_test

import (
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "kafka-bench/"

// walls says what each package may import of this module. A package that is not
// named here may not exist, and an import that is not named here may not be
// made: whoever needs one changes this table, and says why in the commit.
//
// The order is that of the floors, from the ground up.
var walls = map[string][]string{
	// Public: nothing from internal.
	"backpressure": {},
	// What it takes to put the gate into an application: where the lag comes from,
	// clients that ask it, what it tells a monitoring system, and several processes
	// that keep one bound.
	"backpressure/kadmlag":  {"backpressure"},
	"backpressure/kgogate":  {"backpressure"},
	"backpressure/promgate": {"backpressure"},
	"backpressure/shares":   {},
	"backpressure/sharelog": {"backpressure", "backpressure/shares"},

	// The queue. What is below kmq/internal is its own.
	"kmq": {
		"kmq/internal/engine", "kmq/internal/inspect", "kmq/internal/lease", "kmq/internal/markers", "kmq/internal/offsetmap",
		"kmq/internal/plain", "kmq/internal/share",
	},
	"kmq/promkmq":            {"kmq"},
	"kmq/internal/lease":     {},
	"kmq/internal/step":      {},
	"kmq/internal/window":    {},
	"kmq/internal/marker":    {},
	"kmq/internal/tracker":   {"kmq/internal/marker", "kmq/internal/window"},
	"kmq/internal/engine":    {"kmq/internal/lease"},
	"kmq/internal/retention": {"kmq/internal/engine"},
	"kmq/internal/member":    {"kmq/internal/engine", "kmq/internal/lease", "kmq/internal/step", "kmq/internal/window"},
	"kmq/internal/plain": {
		"kmq/internal/engine", "kmq/internal/lease", "kmq/internal/member", "kmq/internal/retention", "kmq/internal/step",
		"kmq/internal/window",
	},
	"kmq/internal/offsetmap": {
		"kmq/internal/engine", "kmq/internal/lease", "kmq/internal/member", "kmq/internal/retention", "kmq/internal/step",
		"kmq/internal/window",
	},
	"kmq/internal/markers": {
		"kmq/internal/engine", "kmq/internal/lease", "kmq/internal/marker", "kmq/internal/member", "kmq/internal/retention",
		"kmq/internal/step", "kmq/internal/tracker", "kmq/internal/window",
	},
	"kmq/internal/share": {"kmq/internal/engine", "kmq/internal/lease", "kmq/internal/step"},
	// What the engines leave on the cluster, read from outside.
	"kmq/internal/inspect": {
		"kmq/internal/engine", "kmq/internal/lease", "kmq/internal/marker", "kmq/internal/markers", "kmq/internal/offsetmap",
		"kmq/internal/tracker", "kmq/internal/window",
	},

	// Pure: no Kafka, no clock, no goroutine.
	"internal/unit":     {},
	"internal/latency":  {},
	"internal/ledger":   {},
	"internal/result":   {},
	"internal/arrival":  {"internal/unit"},
	"internal/payload":  {"internal/unit"},
	"internal/spelling": {},
	"internal/scenario": {"internal/spelling", "internal/unit"},
	"internal/stats":    {},
	"internal/search":   {},
	"internal/figure":   {"internal/result", "internal/spelling", "internal/unit"},
	// Results of other tools, made into ours: it reads files and no more.
	"internal/foreign": {"internal/latency", "internal/result", "internal/unit"},

	// How a client is let in. It is below the seam because everything that opens
	// a connection takes it: clients under test, the administration, the probes.
	"internal/access": {"internal/spelling"},

	// The seam to Kafka, and what stands on either side of it.
	"internal/driver": {"internal/access"},
	// What the clients in Go are measured with alike: bytes through their connections,
	// which are cut where a consumer is killed.
	"internal/driver/meter":      {"internal/driver"},
	"internal/driver/franz":      {"internal/access", "internal/driver", "internal/driver/meter"},
	"internal/driver/sarama":     {"internal/access", "internal/driver", "internal/driver/meter"},
	"internal/driver/segmentio":  {"internal/access", "internal/driver", "internal/driver/meter"},
	"internal/driver/librdkafka": {"internal/access", "internal/driver", "internal/driver/meter"},
	"internal/cluster":           {"internal/access", "internal/scenario"},
	"internal/probe":             {"internal/access"},
	"internal/load": {
		"backpressure", "internal/arrival", "internal/driver",
		"internal/latency", "internal/ledger", "internal/payload",
	},

	// Producers in processes of their own, and how the run talks to them.
	"internal/remote": {
		"backpressure", "internal/access", "internal/driver", "internal/latency", "internal/ledger", "internal/load",
		"internal/result", "internal/scenario",
	},

	// What can be broken, and how a process is confined.
	"internal/fault":   {"internal/cluster", "internal/load", "internal/scenario", "internal/unit"},
	"internal/confine": {"internal/unit"},
	// What the figures of a run say of its limits: pure.
	"internal/bottleneck": {"internal/result", "internal/unit"},

	// One run, and many.
	"internal/bench": {
		"internal/bottleneck", "internal/confine", "internal/fault",
		"backpressure", "backpressure/shares", "backpressure/sharelog", "kmq", "internal/driver/meter", "internal/remote", "internal/access", "internal/arrival", "internal/cluster", "internal/driver",
		"internal/latency", "internal/ledger", "internal/load", "internal/payload",
		"internal/probe", "internal/result", "internal/scenario", "internal/unit",
	},
	"internal/campaign": {
		"internal/bench", "internal/cluster", "internal/figure", "internal/result", "internal/scenario",
		"internal/driver", "internal/search", "internal/unit",
	},
	"internal/calibrate": {
		"internal/arrival", "internal/bench", "internal/cluster", "internal/driver", "internal/latency",
		"internal/load", "internal/payload", "internal/result", "internal/scenario", "internal/unit",
	},
	"internal/peers": {
		"internal/access", "internal/cluster", "internal/figure", "internal/foreign", "internal/result", "internal/scenario",
		"internal/stats", "internal/unit",
	},

	// What is read afterwards: result files alone.
	"internal/report": {"internal/figure", "internal/latency", "internal/result", "internal/stats", "internal/unit"},

	// Wiring. Only here are concrete drivers named.
	"cmd/kafka-bench": {
		"kmq", "kmq/promkmq",
		"internal/access", "internal/bench", "internal/calibrate", "internal/campaign", "internal/cluster", "internal/driver",
		"internal/driver/franz", "internal/driver/librdkafka", "internal/driver/sarama", "internal/driver/segmentio", "internal/figure", "internal/foreign", "internal/latency", "internal/peers",
		"internal/report", "internal/result", "internal/scenario", "internal/search", "internal/stats", "internal/unit",
	},
}

// helpers are packages that only tests and benchmarks import; they may import
// anything, and nothing else may import them.
var helpers = []string{
	"internal/access/accesstest", "internal/driver/drivertest", "internal/cluster/clustertest",
	"internal/latency/latencytest", "internal/result/resulttest",
	"kmq/internal/conformance", "kmq/internal/crash",
	"internal/perf", "internal/plant", "internal/project/rename", "internal/results", "internal/truth",
}

// pure packages may import nothing that reads a clock, talks or starts a Kafka
// client. Time's types are allowed, its clock is not; that part is held by
// review.
var pure = []string{
	"internal/unit", "internal/latency", "internal/ledger", "internal/result",
	"internal/arrival", "internal/payload", "internal/spelling", "internal/scenario",
	"internal/stats", "internal/search", "internal/figure", "internal/foreign", "internal/bottleneck", "backpressure/shares",
	"kmq/internal/step", "kmq/internal/window", "kmq/internal/marker", "kmq/internal/tracker",
}

var kafkaClients = []string{"github.com/twmb/franz-go", "github.com/IBM/sarama", "github.com/segmentio/kafka-go", "github.com/confluentinc"}

type pkg struct {
	ImportPath string
	Imports    []string
}

func packages(t *testing.T) map[string]pkg {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	all := make(map[string]pkg)
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		if name, ours := strings.CutPrefix(p.ImportPath, module); ours {
			all[name] = p
		}
	}
}

func TestWalls(t *testing.T) {
	all := packages(t)
	if len(all) < len(walls) {
		t.Errorf("go list knows %d packages, the table %d", len(all), len(walls))
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if slices.Contains(helpers, name) {
			continue
		}
		allowed, known := walls[name]
		if !known {
			t.Errorf("package %s is not in the table of walls", name)
			continue
		}
		for _, path := range all[name].Imports {
			imported, ours := strings.CutPrefix(path, module)
			if ours && !slices.Contains(allowed, imported) {
				t.Errorf("%s imports %s, which the table of walls does not allow", name, imported)
			}
		}
	}
}

func TestPurePackagesKnowNoKafkaClient(t *testing.T) {
	all := packages(t)
	for _, name := range pure {
		for _, path := range all[name].Imports {
			for _, client := range kafkaClients {
				if strings.HasPrefix(path, client) {
					t.Errorf("%s imports %s", name, path)
				}
			}
		}
	}
}

func TestBackpressureStandsAlone(t *testing.T) {
	// Other people's producers import it: it drags nothing in.
	for _, path := range packages(t)["backpressure"].Imports {
		if strings.Contains(path, ".") {
			t.Errorf("backpressure imports %s", path)
		}
	}
}
