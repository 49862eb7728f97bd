// Package kafkabench_test checks which packages may import which, and what pages and package
// comments name.
package kafkabench_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
)

// floors lists for each folder the other folders that its packages may import. The lowest folders
// come first. For single packages, walls decides.
var floors = map[string][]string{
	// Public: other programs import these two.
	"backpressure": {"internal/lagcontrol"},
	"kmq":          {"backpressure"}, // for kmq.Lag

	// The gate's core, for backpressure and for a run's own controllers.
	"internal/lagcontrol": {},

	"internal/plan":    {},
	"internal/measure": {},
	"internal/result":  {"internal/plan", "internal/measure"},
	"internal/kafka":   {"internal/plan"},
	"internal/load":    {"internal/lagcontrol", "internal/plan", "internal/measure", "internal/result", "internal/kafka"},
	"internal/run": {
		"internal/lagcontrol", "kmq", "internal/plan", "internal/measure", "internal/result", "internal/kafka", "internal/load",
	},
	"internal/show": {"internal/plan", "internal/measure", "internal/result"},
	"cmd": {
		"kmq", "internal/plan", "internal/measure", "internal/result", "internal/kafka", "internal/run", "internal/show",
	},
}

// workshop has the project's own tools. It may import anything, and no shipped package imports it.
const workshop = "internal/project"

// walls has for each package the packages of this module that it may import. A package or import
// that is not in the table fails the test. To allow it, change this table and give the reason in
// the commit.
//
// The order is that of floors.
var walls = map[string][]string{
	// Public: from internal only the gate's core.
	"backpressure":          {"internal/lagcontrol"},
	"backpressure/kgogate":  {"backpressure", "internal/lagcontrol"},
	"backpressure/promgate": {"backpressure"},
	"internal/lagcontrol":   {},

	// What is below kmq/internal is the queue's own.
	"kmq": {
		"kmq/internal/engine", "kmq/internal/inspect", "kmq/internal/lease", "kmq/internal/markers", "kmq/internal/offsetmap",
		"kmq/internal/plain", "kmq/internal/share",
		"backpressure", "backpressure/kgogate", // for kmq.Lag
	},
	"kmq/promkmq":            {"kmq"},
	"kmq/kmqtest":            {"kmq", "kmq/internal/engine", "kmq/internal/lease"},
	"kmq/internal/lease":     {},
	"kmq/internal/step":      {},
	"kmq/internal/window":    {},
	"kmq/internal/marker":    {},
	"kmq/internal/tracker":   {"kmq/internal/marker", "kmq/internal/window"},
	"kmq/internal/engine":    {"kmq/internal/lease"},
	"kmq/internal/retention": {"kmq/internal/engine"},
	"kmq/internal/reread":    {},
	"kmq/internal/member":    {"kmq/internal/engine", "kmq/internal/lease", "kmq/internal/step", "kmq/internal/window"},
	"kmq/internal/plain": {
		"kmq/internal/engine", "kmq/internal/lease", "kmq/internal/member", "kmq/internal/retention", "kmq/internal/step",
		"kmq/internal/window",
	},
	"kmq/internal/offsetmap": {
		"kmq/internal/engine", "kmq/internal/lease", "kmq/internal/member", "kmq/internal/reread", "kmq/internal/retention",
		"kmq/internal/step", "kmq/internal/window",
	},
	"kmq/internal/markers": {
		"kmq/internal/engine", "kmq/internal/lease", "kmq/internal/marker", "kmq/internal/member", "kmq/internal/reread",
		"kmq/internal/retention", "kmq/internal/step", "kmq/internal/tracker", "kmq/internal/window",
	},
	"kmq/internal/share": {"kmq/internal/engine", "kmq/internal/lease", "kmq/internal/step"},
	"kmq/internal/inspect": {
		"kmq/internal/engine", "kmq/internal/lease", "kmq/internal/marker", "kmq/internal/markers", "kmq/internal/offsetmap",
		"kmq/internal/tracker", "kmq/internal/window",
	},

	// Pure: no Kafka, no clock, no goroutine.
	"internal/plan/unit":        {},
	"internal/measure/clock":    {},
	"internal/measure/latency":  {},
	"internal/measure/ledger":   {},
	"internal/measure/snapshot": {"internal/measure/latency", "internal/measure/ledger"},
	"internal/result":           {"internal/measure/latency", "internal/plan/textfile", "internal/plan/unit"},
	"internal/plan/arrival":     {"internal/plan/unit"},
	"internal/plan/payload":     {"internal/plan/unit"},
	"internal/plan/spelling":    {},
	"internal/plan/textfile":    {},
	"internal/plan/native":      {"internal/plan/spelling"},
	"internal/plan/scenario":    {"internal/plan/native", "internal/plan/payload", "internal/plan/spelling", "internal/plan/unit"},
	"internal/measure/stats":    {},
	"internal/run/search":       {},
	"internal/result/figure":    {"internal/measure/stats", "internal/result", "internal/plan/spelling", "internal/plan/unit"},
	// Converts results of other tools; it only reads files.
	"internal/result/foreign": {"internal/measure/latency", "internal/result", "internal/plan/textfile", "internal/plan/unit"},

	// It is below the driver because everything that opens a connection logs in: clients under
	// test, administration, probes.
	"internal/kafka/access": {"internal/plan/spelling", "internal/plan/textfile"},

	// Pure.
	"internal/kafka/runname":  {},
	"internal/kafka/childenv": {},
	"internal/kafka/guard":    {"internal/plan/unit"},

	"internal/kafka/driver": {"internal/kafka/access", "internal/plan/native", "internal/plan/payload"},
	// It counts the bytes on the Go clients' connections, and cuts the connections of a killed
	// consumer.
	"internal/kafka/driver/meter":      {"internal/kafka/driver"},
	"internal/kafka/driver/franz":      {"internal/kafka/access", "internal/kafka/driver", "internal/kafka/driver/meter", "internal/plan/native", "internal/plan/payload"},
	"internal/kafka/driver/sarama":     {"internal/kafka/access", "internal/kafka/driver", "internal/kafka/driver/meter", "internal/plan/native", "internal/plan/payload"},
	"internal/kafka/driver/segmentio":  {"internal/kafka/access", "internal/kafka/driver", "internal/kafka/driver/meter", "internal/plan/native", "internal/plan/payload"},
	"internal/kafka/driver/librdkafka": {"internal/kafka/access", "internal/kafka/driver", "internal/kafka/driver/meter", "internal/plan/native", "internal/plan/payload"},
	"internal/kafka/cluster":           {"internal/kafka/access", "internal/kafka/childenv", "internal/kafka/runname", "internal/plan/native", "internal/plan/scenario", "internal/plan/spelling"},
	"internal/kafka/probe":             {"internal/kafka/access", "internal/kafka/guard"},
	"internal/load":                    {"internal/kafka/driver", "internal/measure/snapshot"},
	"internal/load/send": {
		"internal/lagcontrol", "internal/load", "internal/kafka/driver", "internal/measure/latency", "internal/measure/ledger",
		"internal/measure/snapshot", "internal/plan/arrival", "internal/plan/payload",
	},
	"internal/load/controller": {"internal/lagcontrol"},
	"internal/load/receive": {
		"internal/load", "internal/kafka/driver", "internal/measure/latency", "internal/measure/ledger",
		"internal/measure/snapshot", "internal/plan/payload",
	},
	"internal/load/queued": {
		"internal/load", "internal/kafka/driver", "internal/measure/latency", "internal/measure/ledger",
		"internal/measure/snapshot", "internal/plan/payload",
	},

	"internal/run/remote": {
		"internal/lagcontrol", "internal/kafka/access", "internal/kafka/childenv", "internal/kafka/driver", "internal/kafka/probe", "internal/measure/latency", "internal/measure/ledger", "internal/measure/snapshot", "internal/load", "internal/load/receive", "internal/load/send",
		"internal/result", "internal/plan/scenario",
	},

	"internal/run/fleet/echo": {"internal/load", "internal/measure/clock"},

	"internal/run/fault":     {"internal/kafka/cluster", "internal/measure/snapshot", "internal/plan/scenario", "internal/plan/unit"},
	"internal/kafka/confine": {"internal/plan/unit"},
	// Pure.
	"internal/result/bottleneck": {"internal/result", "internal/plan/unit"},
	"internal/result/outcome":    {"internal/result", "internal/plan/unit"},

	// Pure.
	"internal/run/judge": {
		"internal/measure/latency", "internal/measure/ledger", "internal/measure/snapshot", "internal/plan/payload",
		"internal/plan/scenario", "internal/plan/textfile", "internal/plan/unit", "internal/result", "internal/result/bottleneck",
		"internal/result/figure", // a curve ends where figure would not support it
		"internal/result/outcome",
	},

	"internal/run/observe": {
		"internal/lagcontrol", "internal/kafka/cluster", "internal/kafka/probe", "internal/load", "internal/measure/latency",
		"internal/measure/snapshot", "internal/plan/scenario", "internal/plan/textfile", "internal/plan/unit", "internal/result",
		"internal/run/judge", "internal/run/remote",
	},

	"internal/run/bench": {
		"internal/kafka/guard",
		"internal/run/judge", "internal/run/observe", "internal/result/bottleneck", "internal/kafka/confine", "internal/run/fault",
		"internal/lagcontrol", "internal/load/controller", "kmq", "internal/kafka/driver/meter", "internal/run/remote", "internal/kafka/access", "internal/plan/arrival", "internal/kafka/cluster", "internal/kafka/driver",
		"internal/measure/latency", "internal/measure/ledger", "internal/measure/snapshot", "internal/load", "internal/load/queued", "internal/load/receive", "internal/load/send", "internal/plan/payload",
		"internal/kafka/probe", "internal/kafka/runname", "internal/result", "internal/plan/native", "internal/plan/scenario", "internal/plan/unit",
	},
	// control computes a session's state from a log of records; topic keeps this log in Kafka.
	"internal/run/fleet": {
		"internal/kafka/driver", "internal/load", "internal/measure/clock", "internal/measure/snapshot", "internal/plan/scenario",
		"internal/result", "internal/run/bench", "internal/run/fleet/control", "internal/run/fleet/echo", "internal/run/judge",
		"internal/run/observe",
	},
	"internal/run/fleet/control": {"internal/result"},
	"internal/run/fleet/topic":   {"internal/kafka/access", "internal/kafka/cluster", "internal/kafka/runname", "internal/run/fleet/control"},
	"internal/run/campaign": {
		"internal/run/judge", "internal/run/observe", "internal/run/bench", "internal/kafka/cluster", "internal/result/figure", "internal/result", "internal/result/outcome", "internal/plan/scenario",
		"internal/kafka/driver", "internal/run/search", "internal/plan/unit",
	},
	"internal/run/calibrate": {
		"internal/plan/arrival", "internal/run/bench", "internal/kafka/cluster", "internal/kafka/driver", "internal/kafka/probe", "internal/measure/latency",
		"internal/load", "internal/plan/payload", "internal/result", "internal/plan/scenario", "internal/plan/unit",
	},
	"internal/run/doctor": {
		"internal/kafka/cluster", "internal/kafka/probe", "internal/plan/unit", "internal/result", "internal/run/calibrate",
		"internal/run/judge",
	},
	"internal/run/peers": {
		"internal/kafka/access", "internal/kafka/childenv", "internal/kafka/cluster", "internal/kafka/runname", "internal/result/foreign", "internal/result", "internal/plan/scenario",
		"internal/plan/unit",
	},

	// What people see: the layout first, then the packages that read only result files.
	"internal/show/layout": {"internal/plan/unit"},
	"internal/show/draw":   {},
	// analysis only computes; answers, report, compared and campaigns put its findings into words.
	"internal/show/analysis": {"internal/result", "internal/result/figure", "internal/result/outcome", "internal/measure/stats", "internal/plan/unit"},
	"internal/show/answers": {
		"internal/show/analysis", "internal/show/layout", "internal/result/figure", "internal/result", "internal/measure/stats", "internal/plan/unit",
	},
	"internal/show/report": {
		"internal/show/analysis", "internal/show/layout", "internal/result/figure", "internal/result/outcome", "internal/measure/latency",
		"internal/result", "internal/measure/stats", "internal/plan/textfile", "internal/plan/unit",
	},
	"internal/show/chart": {
		"internal/show/analysis", "internal/show/draw", "internal/result/figure", "internal/result", "internal/measure/stats",
		"internal/plan/spelling", "internal/plan/unit",
	},
	"internal/show/compared": {
		"internal/show/analysis", "internal/show/layout", "internal/show/report", "internal/result/figure", "internal/result", "internal/plan/unit",
	},
	"internal/show/campaigns": {
		"internal/show/answers", "internal/show/analysis", "internal/show/compared", "internal/show/layout", "internal/show/report", "internal/result/figure",
		"internal/result", "internal/measure/stats", "internal/plan/unit",
	},
	"internal/show/junit": {
		"internal/show/analysis", "internal/show/compared", "internal/show/report", "internal/result", "internal/result/figure",
	},

	"internal/show/follow":  {"internal/measure/latency", "internal/result"},
	"internal/show/promrun": {"internal/show/follow", "internal/measure/latency", "internal/result"},
	// HTML without sentences of its own.
	"internal/show/pages": {
		"internal/show/analysis", "internal/show/campaigns", "internal/show/chart", "internal/show/compared", "internal/show/draw",
		"internal/show/layout", "internal/show/report", "internal/result", "internal/result/figure", "internal/plan/unit",
	},
	"internal/show/web": {
		"internal/show/analysis", "internal/show/chart", "internal/show/compared", "internal/show/follow", "internal/show/layout",
		"internal/show/pages", "internal/show/promrun", "internal/result", "internal/result/figure", "internal/plan/unit",
	},

	// Only these packages name concrete drivers.
	"cmd/kafka-bench": {
		"kmq", "kmq/promkmq",
		"internal/kafka/access", "internal/kafka/childenv", "internal/kafka/guard", "internal/run/bench", "internal/run/fleet", "internal/run/fleet/control", "internal/run/fleet/echo", "internal/run/fleet/topic", "internal/run/judge", "internal/run/observe", "internal/run/calibrate", "internal/run/campaign", "internal/run/doctor", "internal/kafka/cluster", "internal/kafka/driver", "internal/run/remote",
		"internal/kafka/driver/franz", "internal/kafka/driver/librdkafka", "internal/kafka/driver/sarama", "internal/kafka/driver/segmentio", "internal/result/figure", "internal/result/foreign", "internal/measure/latency", "internal/run/peers", "internal/kafka/probe", "internal/kafka/runname",
		"internal/show/analysis", "internal/show/chart", "internal/show/draw", "internal/show/campaigns", "internal/show/compared", "internal/show/junit", "internal/show/layout", "internal/show/pages", "internal/show/report", "internal/show/web", "internal/result", "internal/result/outcome", "internal/plan/native", "internal/plan/scenario", "internal/plan/spelling", "internal/plan/textfile", "internal/run/search", "internal/measure/stats", "internal/plan/unit",
	},
}

// helpers are packages that only tests and benchmarks import. They may import anything.
var helpers = []string{
	"internal/kafka/access/accesstest", "internal/kafka/driver/drivertest", "internal/kafka/cluster/clustertest",
	"internal/load/loadtest", "internal/measure/latency/latencytest", "internal/run/fleet/echo/echotest", "internal/result/resulttest", "internal/show/showtest",
	"kmq/internal/conformance", "kmq/internal/crash",
}

// pure packages may import nothing that reads a clock, uses the network or starts a Kafka client.
// They may use time's types but not its clock, which only a review can check.
var pure = []string{
	"internal/run/judge",
	"internal/plan/unit", "internal/measure/clock", "internal/measure/latency", "internal/measure/ledger", "internal/measure/snapshot",
	"internal/result",
	"internal/show/analysis", "internal/show/answers", "internal/show/chart", "internal/show/draw", "internal/show/layout",
	"internal/plan/arrival", "internal/plan/payload", "internal/plan/spelling", "internal/plan/native", "internal/plan/scenario",
	"internal/measure/stats", "internal/run/search", "internal/result/figure", "internal/result/foreign", "internal/result/bottleneck", "internal/result/outcome",
	"internal/run/fleet/control", "internal/kafka/runname", "internal/kafka/guard",
	"kmq/internal/step", "kmq/internal/window", "kmq/internal/marker", "kmq/internal/tracker",
}

var kafkaClients = []string{"github.com/twmb/franz-go", "github.com/IBM/sarama", "github.com/segmentio/kafka-go", "github.com/confluentinc"}

func packages(t *testing.T) map[string][]string {
	t.Helper()
	all, err := listed()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

var listed = sync.OnceValues(func() (map[string][]string, error) {
	module, err := exec.Command("go", "list", "-m").Output()
	if err != nil {
		return nil, fmt.Errorf("go list -m: %w", err)
	}
	prefix := strings.TrimSpace(string(module)) + "/"
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", "./...").Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	all := make(map[string][]string)
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		if name, ours := strings.CutPrefix(p.ImportPath, prefix); ours {
			for i, path := range p.Imports {
				p.Imports[i] = strings.TrimPrefix(path, prefix)
			}
			all[name] = p.Imports
		}
	}
})

// folderOf returns the first two levels of a name in internal, otherwise the first.
func folderOf(name string) string {
	parts := strings.SplitN(name, "/", 3)
	if parts[0] == "internal" && len(parts) > 1 {
		return parts[0] + "/" + parts[1]
	}
	return parts[0]
}

func shipped(name string) bool { return folderOf(name) != workshop && !slices.Contains(helpers, name) }

func TestFloors(t *testing.T) {
	all := packages(t)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if !shipped(name) {
			continue
		}
		allowed, known := floors[folderOf(name)]
		if !known {
			t.Errorf("package %s is in no folder of the table of floors", name)
		}
		for _, imported := range all[name] {
			if _, ours := all[imported]; ours && folderOf(imported) != folderOf(name) && !slices.Contains(allowed, folderOf(imported)) {
				t.Errorf("%s imports %s, which the table of floors does not allow", name, imported)
			}
		}
	}
}

func TestWalls(t *testing.T) {
	all := packages(t)
	for name := range walls {
		if _, exists := all[name]; !exists {
			t.Errorf("package %s of the table of walls does not exist", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if !shipped(name) {
			continue
		}
		allowed, known := walls[name]
		if !known {
			t.Errorf("package %s is not in the table of walls", name)
			continue
		}
		for _, imported := range all[name] {
			if _, ours := all[imported]; ours && !slices.Contains(allowed, imported) {
				t.Errorf("%s imports %s, which the table of walls does not allow", name, imported)
			}
		}
	}
}

func TestPurePackagesKnowNoKafkaClient(t *testing.T) {
	all := packages(t)
	for _, name := range pure {
		for _, path := range all[name] {
			for _, client := range kafkaClients {
				if strings.HasPrefix(path, client) {
					t.Errorf("%s imports %s", name, path)
				}
			}
		}
	}
}

func TestBackpressureStandsAlone(t *testing.T) {
	// Other programs' producers import it, so it must add no dependencies.
	for _, name := range []string{"backpressure", "internal/lagcontrol"} {
		for _, path := range packages(t)[name] {
			if strings.Contains(path, ".") {
				t.Errorf("%s imports %s", name, path)
			}
		}
	}
}
