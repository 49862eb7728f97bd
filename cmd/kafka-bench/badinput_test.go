package main

import (
	"os"
	"strings"
	"testing"

	"kafkabench.example/kafka-bench/internal/plan/scenario"
)

const scenarioKeys = "name, description, driver, cluster, topic, load, consume, phases, backpressure, faults, sampling, repeat, question, answer, by, quick, variants, matrix, order, seed"

func expected(message, file string) string {
	return strings.NewReplacer("FILE", file, "KEYS", scenarioKeys, "PRESETS", strings.Join(scenario.Names(), ", ")).Replace(message)
}

func wantBad(t *testing.T, got invoked, want string) {
	t.Helper()
	if got.message() != want || got.code != exitBadInput {
		t.Errorf("exit code %d and the message\n%s, want %d and\n%s", got.code, got.message(), exitBadInput, want)
	}
	if got.stdout != "" {
		t.Errorf("it began all the same:\n%s", got.stdout)
	}
}

func TestAllFaultsAtOnce(t *testing.T) {
	file := write(t, "topic: {partitions: 0}\nload:\n  rate: 10,000\n  compression: snapy\n")
	got := invoke(t, "run", file, "nosuch.yaml", "--set", "repeat=0", "--cluster", "embedded")
	want := expected(`FILE:1:21: topic.partitions: 0 is too low; give at least 1
FILE:3:9: load.rate: rate "10,000": a number has no separators; write 10000/s
FILE:4:16: load.compression: "snapy" is not known; did you mean snappy? choose one of none, gzip, snappy, lz4 or zstd
--set repeat=0: 0 is too low; give at least 1
scenario nosuch.yaml: file does not exist, and no preset has this name; kafka-bench list prints the presets
`, file)
	if got.stderr != want || got.code != exitBadInput {
		t.Errorf("exit code %d and\n%s, want %d and\n%s", got.code, got.stderr, exitBadInput, want)
	}
}

func TestFlagsAndScenarioAtOnce(t *testing.T) {
	file := write(t, "topic: {partitions: 0}\n")
	got := invoke(t, "run", file, "--agents", "2000", "--placement", "both", "--cluster", "kafka", "--cluster-id", "x")
	want := expected(`FILE:1:21: topic.partitions: 0 is too low; give at least 1
--cluster-id is for an existing cluster; name its addresses with --brokers, or leave it out
2000 agents: give 1 to 1000
--agents needs --brokers, the cluster under test, or --local-agents
--placement both: choose own, any or apart
`, file)
	if got.stderr != want || got.code != exitBadInput {
		t.Errorf("exit code %d and\n%s, want %d and\n%s", got.code, got.stderr, exitBadInput, want)
	}
}

func TestBadArguments(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for path, text := range map[string]string{"s.yaml": tiny, "file": "not a folder"} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ args, want string }{
		{"rum quick", `read as words of another tool; see kafka-bench run --help`},
		{"run", "run needs a SCENARIO: a preset's name (kafka-bench list) or a YAML file, as in"},
		{"run overlod", "scenario overlod: file does not exist, and no preset has this name; did you mean overload?"},
		{"run nosuch.yaml", "scenario nosuch.yaml: file does not exist, and no preset has this name; kafka-bench list prints the presets"},
		{"run .", "scenario . is a folder; name a file in it"},
		{"run s.yaml --set cluster.version=3.8", "--set cluster.version=3.8: \"3.8\" is not known; did you mean 3.9? choose one of 3.9, 4.0, 4.1, 4.2 or 4.3"},
		{"run s.yaml --set cluster.disks=[none]", "--set cluster.disks=[none]: cluster.disks[0]: the folder \"none\" does not exist; make it, or name another folder"},
		{"run s.yaml --set cluster.version=3.9 --cluster embedded", "scenario s: cluster.version asks for Kafka 3.9, and the cluster is the embedded broker; leave cluster.version out, or start such a Kafka with --cluster kafka"},
		{"cluster up --version 3.8", "Kafka \"3.8\" is not a version that can be started; choose one of 3.9, 4.0, 4.1, 4.2, 4.3"},
		{"cluster up --disk file", "\"file\" is not a folder; name a folder"},
		{"calibrate --disk=none", "--disk: the folder \"" + dir + "/none\" does not exist; make it, or name another folder"},
		{"run s.yaml --bogus", "read as words of another tool; see kafka-bench run --help"},
		{"run s.yaml --merge nosuch.yaml", "scenario nosuch.yaml: file does not exist, and no preset has this name; kafka-bench list prints the presets"},
		{"run s.yaml --repeat 0", "--repeat 0: give 1 to 1000"},
		{"run s.yaml --placement apart", "--session, --key, --placement and --join-timeout are for --agents; leave them out, or say how many agents there are"},
		{"run s.yaml --join-timeout 1ns", "--session, --key, --placement and --join-timeout are for --agents; leave them out, or say how many agents there are"},
		{"run s.yaml --agents 2 --local-agents --set consume.cpu=0.5 --set consume.consumers=2 --set load.producers=2 --set topic.partitions=2", "scenario s: consume.cpu: confine the agents by what starts them (systemd, Kubernetes), and leave it out"},
		{"agent --session s --index 0 --of 1 --brokers 127.0.0.1:1 --spool file", "--spool: cannot make the output folder: mkdir file: not a directory; choose a folder that can be written"},
		{"run s.yaml --repeat x", `--repeat: "x" is not a whole number; write it as 12; see kafka-bench run --help`},
		{"run s.yaml --repeat 99999999999999999999", `--repeat: "99999999999999999999" is out of range; see kafka-bench run --help`},
		{"run s.yaml --dry-run=maybe", `--dry-run: "maybe" is not a truth value; write true or false; see kafka-bench run --help`},
		{"search s.yaml --probe 5", `--probe: duration "5": it has no unit; write 5s or 5ms; see kafka-bench search --help`},
		{"search s.yaml --max-probes many", `--max-probes: "many" is not a whole number; write it as 12; see kafka-bench search --help`},
		{"compare a b --alpha x", `--alpha: "x" is not a number; write it as 0.05; see kafka-bench compare --help`},
		{"run s.yaml --order mixed", "--order mixed: choose interleaved or blocked"},
		{"run s.yaml --dry-run --driver pykafka", `--driver pykafka: driver: "pykafka" is not known; choose one of franz, sarama, segmentio or librdkafka`},
		{"run --resume .", ".: not a campaign's folder: it has no campaign.json"},
		{"run s.yaml --resume .", "--resume goes on with a campaign as it was planned, in its own folder; leave out s.yaml"},
		{"run --resume . --set load.rate=1/s --out x", "--resume goes on with a campaign as it was planned, in its own folder; leave out --set --out"},
		{"run --resume . --quick --driver franz", "--resume goes on with a campaign as it was planned, in its own folder; leave out --quick --driver"},
		{"drivers --format csv", "--format csv: choose text or json"},
		{"drivers franz", `unknown command "franz" for "kafka-bench drivers"`},
		{"run s.yaml --cluster embedded --out file", "--out: cannot make the output folder: mkdir file: not a directory; choose a folder that can be written"},
		{"run s.yaml --cluster kafka --brokers 127.0.0.1:1", "--cluster and --brokers name two clusters; leave one of them out"},
		{"run s.yaml --cluster-id 5L6g3nShT-eMCtK--X86sw", "--cluster-id is for an existing cluster; name its addresses with --brokers, or leave it out"},
		{"run s.yaml --broker-metrics http://localhost:1/metrics", "--broker-metrics is for an existing cluster; name its addresses with --brokers, or leave it out"},
		{"run s.yaml --brokers localhost", `--brokers: broker "localhost": missing port in address; write brokers as host:port, separated by commas`},
		{"run s.yaml --cluster kafka --set cluster.config.process.roles=x", "--set cluster.config.process.roles=x: the broker property process.roles is set by kafka-bench itself; leave it out"},
		{"show", "show needs one SCENARIO: a preset's name (kafka-bench list) or a YAML file"},
		{"show quick baseline", "show needs one SCENARIO: a preset's name (kafka-bench list) or a YAML file, and got 2 arguments"},
		{"report", "report needs a RUN: the folder of a run (kafka-bench list)"},
		{"report .", ".: not a run's folder: it has no run.json"},
		{"version extra", `unknown command "extra" for "kafka-bench version"`},
		{"cluster bogus", `"bogus" is no command of kafka-bench cluster: write one of down, status or up`},
		{"cluster up --heap 5KB", `--heap: size "5KB": write 5kB (1,000 bytes each) or 5KiB (1,024 bytes each)`},
		{"cluster up --heap 5MiB", "a broker needs a heap of at least 128 MiB, not 5242880 bytes"},
		{"cluster up --brokers 0", "--brokers: a local cluster has 1 to 9 brokers, not 0"},
		{"cluster up --brokers 10", "a local cluster has 1 to 9 brokers, not 10"},
		{"cluster up --config process.roles=broker", "the broker property process.roles is set by kafka-bench itself; leave it out"},
		{"cluster up --name a/b", `"a/b" is not a valid name for a cluster; use up to 32 lower-case letters, digits and dashes`},
	} {
		t.Run(c.args, func(t *testing.T) {
			wantBad(t, invoke(t, strings.Fields(c.args)...), expected(c.want, ""))
			entries, err := os.ReadDir(dir)
			if err != nil || len(entries) != 2 {
				t.Errorf("left behind: %v, %v", entries, err)
			}
		})
	}
}
