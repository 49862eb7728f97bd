package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/plan/unit"
)

// A run and its dry run refuse the same, in the same words, before anything is started.
func TestRefusedBeforeTheStart(t *testing.T) {
	file := write(t, tiny)
	for args, want := range map[string]string{
		"run consume-only":                                                         "scenario consume-only: topic.existing: name-of-your-topic stands for a topic of yours; give --set topic.existing=TOPIC, and its cluster with --brokers",
		"run consume-only --brokers localhost:1":                                   "scenario consume-only: topic.existing: name-of-your-topic stands for",
		"run consume-only --set topic.existing=orders":                             `scenario consume-only: topic.existing: a cluster that is started for the run has no topic "orders"; name its cluster with --brokers or --cluster, or leave it out`,
		"run FILE --set topic.existing=orders --cluster embedded":                  "scenario s: topic.existing: a cluster that is started",
		"run agents-producer":                                                      "scenario agents-producer is made by agents, at least 1; give --agents 2 --local-agents, which starts them here, or one on each of several machines (docs/machines.md); --set agents=0 makes it without",
		"run agents-online --quick":                                                "scenario agents-online-quick is made by agents",
		"search agents-producer --set variants=null":                               "scenario agents-producer is made by agents",
		"run FILE --brokers kafka":                                                 `--brokers: broker "kafka": missing port in address; write brokers as host:port, separated by commas`,
		"search FILE --brokers localhost:1,kafka:x":                                `--brokers: broker "kafka:x": the port "x" is not 1 to 65535; write`,
		"run FILE --brokers :9092":                                                 `--brokers: broker ":9092": it names no host; write`,
		"run FILE --brokers localhost:1 --broker-metrics localhost:9404":           `--broker-metrics: "localhost:9404" is not a metrics endpoint; write http://host:port/metrics`,
		"run quick --brokers localhost:1 --agents 2 --key nosuch":                  "--key: open nosuch: no such file or directory",
		"run quick --cluster embedded --agents 1 --local-agents --session a/b":     `--session: "a/b" can't be the name of a session; write 1 to 200 letters`,
		"run FILE --cluster embedded --set topic.fill=1GB":                         "scenario s: topic.fill: the brokers keep 67.1 MB of each partition, and a fill of 1.00 GB is 1.04 GB in each of 1; give less",
		"run FILE --set topic.fill=1GB --set cluster.config.log.retention.bytes=1": "scenario s: topic.fill: the brokers keep 1 B of each partition",
		"run FILE --set load.rate=1M/s --set phases.measure=300h --set load.record.size=1MB --set load.batch=1008kB --set load.compression=none":    "scenario s: load: the records of its schedule are 1,080,022 TB with 1 replica, and the disk of the brokers has ",
		"run FILE --set load.rate=1M/s --set load.record.payload=json --set phases.measure=300h --set load.record.size=1MB --set load.batch=1008kB": "scenario s: load: the records of its schedule are 1,080,022 TB with 1 replica, and the disk of the brokers has ",
		"search FILE --set load.producers=0 --set topic.fill=1MB":                                                                                   "scenario s has no producers, so there is no rate to search; give load.producers",
		"run FILE --cluster embedded --out /dev/null/runs":                                                                                          "--out: cannot make the output folder: stat /dev/null/runs: not a directory; choose a folder that can be written",
	} {
		for _, dry := range []string{"--dry-run", "--dry-run=false"} {
			out := filepath.Join(t.TempDir(), "runs")
			words := append(strings.Fields(strings.Replace(args, "FILE", file, 1)), dry)
			if !strings.Contains(args, "--out") {
				words = append(words, "--out", out)
			}
			got := invoke(t, words...)
			if got.code != exitBadInput || got.stdout != "" || !strings.HasPrefix(got.message(), want) {
				t.Errorf("%s %s: exit code %d, %q and\n%s, want\n%s", args, dry, got.code, got.stdout, got.message(), want)
			}
			wantNothing(t, out)
		}
	}
}

func TestAddressesAreChecked(t *testing.T) {
	for _, args := range []string{
		"agent --session monday --index 0 --of 2", "collect --session monday", "kmq inspect billing --topic orders", "kmq redrive billing",
		"kmq tracker --group billing --topic orders", "peers quick",
	} {
		got := invoke(t, append(strings.Fields(args), "--brokers", "localhost")...)
		if got.code != exitBadInput || !strings.Contains(got.stderr, `--brokers: broker "localhost": missing port in address`) {
			t.Errorf("%s: exit code %d and\n%s", args, got.code, got.stderr)
		}
	}
}

// The plan has what the runs store: half of the free disk, in two digits.
func TestDryRunOfMoreThanTheDisk(t *testing.T) {
	home, err := cluster.UserHome()
	if err != nil {
		t.Fatal(err)
	}
	free, err := home.Free(nil)
	if err != nil {
		t.Fatal(err)
	}
	got := invoke(t, "run", write(t, tiny), "--dry-run", "--cluster", "kafka", "--set", "load={rate: max, volume: 10TB}", "--set", "topic.fill=10TB")
	if got.code != exitValid {
		t.Fatalf("exit code %d and %s", got.code, got.stderr)
	}
	wantSaid(t, got.stdout, " are stored and not 20.0 TB: with 1 replica that would take more than half of the ")
	for _, line := range strings.Split(got.stdout, "\n") {
		var bytes float64
		var size string
		if _, err := fmt.Sscanf(line, "bytes %f %s uncompressed", &bytes, &size); err != nil {
			continue
		}
		stored, err := unit.ParseSize(fmt.Sprint(bytes) + size)
		if err != nil || float64(stored) > float64(free)/1.9 || float64(stored) < float64(free)/3 {
			t.Errorf("%v are planned, %v; %d are free", stored, err, free)
		}
		return
	}
	t.Errorf("no bytes in\n%s", got.stdout)
}

func TestDryRunOfAmounts(t *testing.T) {
	for args, want := range map[string][]string{
		"--set load.volume=1TB":                      {"records   80\n", "disk      about 41.0 kB at a time"},
		"--set load.rate=max --set topic.fill=100MB": {"195,313 + rate max  100 MB + rate max", "duration  about 11 s: ", "records   195,313, and what is sent at rate max\n", "disk      about 100 MB, and what is sent at rate max at a time"},
		"--set load.rate=max --set topic.fill=1GB":   {"duration  about 20 s: ", "to fill the topics\n"},
	} {
		got := invoke(t, append([]string{"run", write(t, tiny), "--dry-run", "--cluster", "kafka"}, strings.Fields(args)...)...)
		if got.code != exitValid || strings.Contains(got.stdout, "are stored and not") {
			t.Errorf("%s: exit code %d and\n%s%s", args, got.code, got.stdout, got.stderr)
		}
		wantSaid(t, got.stdout, want...)
	}
}

func TestDrySearch(t *testing.T) {
	for args, want := range map[string][]string{
		"": {
			"search-s\nWhat is the highest rate at which e2e_response_time_p99 <= 50ms",
			"rates       first as fast as it goes, which gives the capacity; then 90 % of it, then 1 % to 500 %, and higher if these pass\n",
			"probes      at most 13 (--max-probes), until the answer is within 3 % of a rate that fails\n",
			"each takes  100 ms warm-up, 10 s window (30 s if it confirms, or a percentile needs more records), and a drain\n",
			// thirteen of 30.1 s and a drain of 10 s; twelve of 10.1 s and one of 30.1 s
			"duration    at most 8 min 41.3 s, and what it takes to start; about 3 min if no probe is longer or repeated",
		},
		"--max-probes 4 --curve": {"at most 4 (--max-probes)", "curve       10 % to 110 % of the answer, at most 22 probes: one that delivers nothing is repeated once\n"},
		"--curve-of 20k/s":       {"curve-s\n", "curve       2,000/s to 22,000/s, at most 22 probes"},
	} {
		out := filepath.Join(t.TempDir(), "runs")
		got := invoke(t, append([]string{"search", write(t, tiny), "--dry-run", "--cluster", "embedded", "--out", out}, strings.Fields(args)...)...)
		if got.code != exitValid || got.stderr != "" {
			t.Errorf("%q: exit code %d and %s", args, got.code, got.stderr)
		}
		wantSaid(t, got.stdout, want...)
		wantNothing(t, out)
	}
}
