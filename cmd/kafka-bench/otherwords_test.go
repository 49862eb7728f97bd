package main

import (
	"os"
	"runtime"
	"strings"
	"testing"
)

// Each command line of testdata/otherwords.txt, typed as for another tool, is answered with the indented one below it, and
// that one is right.
func TestOtherTools(t *testing.T) {
	text, err := os.ReadFile("testdata/otherwords.txt")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	for path, text := range map[string]string{
		"scenario.yaml": tiny, "simple.yaml": tiny, "kafka.yaml": "name: Kafka\n", "client.properties": "", "data.txt": "{}\n",
		"workload.json":       `{"name": "1 topic", "topics": 1, "partitionsPerTopic": 16, "messageSize": 1024, "consumerBacklogSizeGB": 0, "producerRate": 50000, "testDurationMinutes": 15}`,
		"driver.yaml":         "driverClass: io.openmessaging.Kafka\nreplicationFactor: 3\ncommonConfig: |\n  bootstrap.servers=localhost:9092\nproducerConfig: |\n  acks=all\n  linger.ms=1\n",
		"ssp.json":            `{"brokers": ["localhost:9092"], "rate": 5000, "duration_s": 30, "producers": 4}`,
		"producer.properties": "# the producer\nbootstrap.servers=kafka-1:9092,kafka-2:9092\nacks=1\nbatch.size=8196\n",
		"tussle.yaml":         "workload:\n  targetRate: 10k\n  runTime: 60s\n",
		"result.json":         `{"config": {"brokers": ["localhost:9092"], "target_rate": 8000, "consumer_delay": "3ms", "phase_delay": "0s", "phase_duration": "30s"}, "final": {"errors": 0, "ack_latency_ms": {"Min": 0.2, "Variance": 9.1, "P50": 3.5, "Count": 5}, "raw_bytes": 1024000}}`,
		"tight.json":          `{"config": {"target_rate": 8000, "bp_max_lag": 5000, "burst_duration": "0s", "burst_rate": 0, "phase_delay": "0s", "phase_duration": "0s"}}`,
		"rater.yaml":          "runTime: 60\ninitialWarmupTime: 20\ninitialTargetRate: 1k\nhighBoundOnly: false\nrateStepPercent: 10\nhistogramsDir: ./histograms\nreportDir: ./report\nmakeReport: true\n",
		"wrong.properties":    "bootstrap.servers=localhost:9092\nacks=all\nsecurity.protocol=SASL_SSL\nclient.id=perf-1\n",
		"steps.yaml":          "topic: test\nmessageLength: 512\nscenario:\n  - [10k, 5s, 30s]\n  - [50k, 0s, 10s]\n",
		"bench.yaml":          "brokerList: localhost:9092\npartitions: 3\nmessageLength: 1024\nproducerConf:\n  compression.type: lz4\n  buffer.memory: 67108864\n",
		"runner.yaml":         "targetRate: 10k\nwarmupTime: 5s\nrunTime: 60s\nreset: true\n",
		"rdkafka.properties":  "bootstrap.servers=localhost:9092\ngroup.id=limit\nauto.offset.reset=earliest\nfetch.message.max.bytes=10485760\n",
		"mqperf.json":         `{"name": "x", "mq_type": "KafkaKmq", "msg_size": 100, "sender_threads": 25, "receiver_threads": 25, "mq": {"hosts": "localhost:9092", "partitions": 64, "acks": "all"}}`,
		"kmq-test.json":       `{"name": "t", "nodes": 4, "senderThreads": 25, "msgCountPerThread": 1000, "msgSize": 100, "mqType": "KafkaKmq"}`,
		"kmq.conf":            "kmq {\n  topic { queue = \"q\", markers = \"m\" }\n  msg-timeout = 30 seconds\n}\nkafka.clients.bootstrap.servers = \"a:9092\"\n",
		"application.conf":    "kmq {\n  queue-topic = \"queue\"\n  marker-topic = \"markers\"\n  msg-timeout = 30 seconds\n  max-redelivery-count = 3\n}\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	typed, tool, lines := "", "", map[string]int{}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		switch want, indented := strings.CutPrefix(line, "  "); {
		case indented:
			lines[tool]++
			t.Run(typed, func(t *testing.T) { checkAnswer(t, typed, want) })
		case strings.HasPrefix(line, "# "):
			tool = line
		default:
			typed = line
		}
	}
	for tool, n := range lines {
		if n < 10 {
			t.Errorf("%s has only %d command lines", tool, n)
		}
	}
	if len(lines) != 8 {
		t.Errorf("there are %d tools, want 8", len(lines))
	}
}

func checkAnswer(t *testing.T, typed, want string) {
	t.Helper()
	got := invoke(t, shellWords(strings.Fields(strings.ReplaceAll(typed, `"`, "'")))...)
	if reason, is := strings.CutPrefix(want, "= "); is { // there is no such command here
		if !strings.Contains(got.stderr, reason) || strings.Contains(got.stderr, "what was meant is") || got.code != exitBadInput {
			t.Errorf("exit code %d and\n%s%s\nwant\n%s", got.code, got.stdout, got.stderr, reason)
		}
		return
	}
	_, meant, _ := strings.Cut(got.stderr, "what was meant is\n  ")
	meant, remarks, _ := strings.Cut(meant, "\n")
	elsewhere := strings.Contains(remarks, "without --cluster-id it prints the ID of this cluster, which is not on this machine, and ends;")
	if meant != want || strings.Contains(remarks, "and in it\n") || got.code != exitBadInput || got.stdout != "" {
		t.Errorf("exit code %d and\n%s%s\nwant\n  %s", got.code, got.stdout, got.stderr, want)
	}
	want, _, _ = strings.Cut(want, " > ")
	args := shellWords(strings.Fields(want))[1:]
	if args[0] == "run" || args[0] == "search" {
		if elsewhere {
			args = append(args, "--cluster-id", anID)
		}
		if got := invokeIn(t, surroundings{offline: true}, append(args, "--dry-run")...); got.code != exitValid {
			t.Errorf("%s\nexit code %d and\n%s", want, got.code, got.stderr)
		}
		return
	}
	c, rest, err := rootCommand(surroundings{}).Find(args)
	if err != nil || c.ParseFlags(rest) != nil || c.ValidateArgs(c.Flags().Args()) != nil {
		t.Errorf("%s cannot be run: %v", want, err)
	}
}

// What the scenario can't have is said, with the reason, and so are an argument's name and a file's folder.
func TestRemarksOnOtherWords(t *testing.T) {
	for typed, want := range map[string]string{
		"consume --topic x --messages 5 --partitions 4": "--set topic.existing=x --set phases.measure=1h\nlocalhost:9092 stands for your brokers\nwithout load.records, because an existing topic is read to its end; from consume.from: end, for phases.measure\nwithout topic.partitions, because an existing topic has its own\nphases.measure=1h: a reader ends at the topic's end, or after this time\nwhat it does not set is printed by kafka-bench show consume-only\n",
		"offsets --group limit":                         "  --group limit   the GROUP, an argument\nwhat was meant is\n  kafka-bench kmq inspect limit\n",
		"RedeliveryTracker --msg-timeout-ms 1000":       "kmq tracker --group GROUP --topic TOPIC --visibility=1s\nGROUP stands for that of the queue\nTOPIC stands for that of the queue\n",
		"run quick --output r.json":                     "  --output r.json   --format json > r.json\nwhat was meant is\n  kafka-bench run quick --format json > r.json\n",
	} {
		if got := invoke(t, strings.Fields(typed)...); !strings.HasSuffix(got.stderr, want) || got.code != exitBadInput {
			t.Errorf("%s: exit code %d and\n%s", typed, got.code, got.stderr)
		}
	}
}

func TestUnknownWords(t *testing.T) {
	for _, c := range []struct{ typed, want string }{
		{"start", "  start   the command cluster up\nwhat was meant is\n  kafka-bench cluster up\n"},
		{"stop", "  stop   the command cluster down\nwhat was meant is\n  kafka-bench cluster down\n"},
		{"bench", "  bench   the command run baseline\nwhat was meant is\n  kafka-bench run baseline\nwhat it does not set is printed by kafka-bench show baseline\n"},
		{"baseline", "  baseline   a scenario, for the command run\nwhat was meant is\n  kafka-bench run baseline\n"},
		{"rum quick", "  rum   did you mean the command run?\nwhat was meant is\n  kafka-bench run quick\n"},
		{"run quick -driver sarama", "  -driver sarama   --driver\nwhat was meant is\n  kafka-bench run quick --driver sarama\n"},
		{"run quick --keepTopics --cluster_id=x --brokers a:9092", "  --keepTopics     --keep-topics\n  --cluster_id=x   --cluster-id\nwhat was meant is\n" +
			"  kafka-bench run quick --keep-topics --cluster-id=x --brokers a:9092\n"},
		{"run quick --cluster_id=x", "  --cluster_id=x   --cluster-id; left out: --cluster-id is for an existing cluster; name its addresses with --brokers, or leave it out\nwhat was meant is\n  kafka-bench run quick\n"},
		{"run quick --bogus --bogu 3 -f", "  --bogus    unknown\n  --bogu 3   unknown\n  -f         the SCENARIO, an argument; keys of a scenario are given with --set\nwhat was meant is\n  kafka-bench run quick\n"},
		{"run quick --acks -1 --repeat x --drvier", "  --acks -1   load.acks\n  --drvier    unknown; did you mean --driver?\n" +
			"--repeat: \"x\" is not a whole number; write it as 12\nwhat was meant is\n  kafka-bench run quick --set load.acks=all\n"},
		{"run quick --threshold p(99)<500 --tag k=v -q --vus 3", "  --threshold p(99)<500   the flag --expect\n  --tag k=v               the flag --label\n  -q                      the flag --quiet\n" +
			"  --vus 3                 load.producers\nwhat was meant is\n  kafka-bench run quick --expect 'e2e_response_time_p99 <= 500ms' --label k=v --quiet --set load.producers=3\n"},
		{"run quick --summary-export x.json --iterations 50 --junit-file x.xml", "  --summary-export x.json   --format json > x.json\n  --iterations 50           load.records\n  --junit-file x.xml        the flag --junit\n" +
			"what was meant is\n  kafka-bench run quick --junit x.xml --format json --set load.records=50 > x.json\n"},
		{"run quick --load.rate=5k --LOAD.acks 1", "  --load.rate=5k   load.rate\n  --LOAD.acks 1    unknown\nwhat was meant is\n  kafka-bench run quick --set load.rate=5k/s\n"},
		{"run quick --batch-size 64KB", "  --batch-size 64KB   load.batch; left out: size \"64KB\": write 64kB (1,000 bytes each) or 64KiB (1,024 bytes each), or 1 record to send each record by itself\nwhat was meant is\n  kafka-bench run quick\n"},
		{"run quick -s 100 -p 3", "  -s 100   load.record.size\n  -p 3     topic.partitions\nwhat was meant is\n  kafka-bench run quick --set load.record.size=100B --set topic.partitions=3\n"},
		{"show overload --rate 5000", "  --rate 5000   load.rate\nwhat was meant is\n  kafka-bench show overload --set load.rate=5k/s\n"},
		{"produce -rate 5000", "  produce      the command run produce-only\n  -rate 5000   load.rate\nwhat was meant is\n  kafka-bench run produce-only --set load.rate=5k/s\nwhat it does not set is printed by kafka-bench show produce-only\n"},
		{"serch quick --rate=5k", "  serch       did you mean the command search?\n  --rate=5k   load.rate\nwhat was meant is\n  kafka-bench search quick\nwithout load.rate, because a search finds the rate\n"},
		{"consume --conumers 8", "  consume                           the command run consume-only\n  --conumers 8, read as consumers   consume.consumers\nwhat was meant is\n" +
			"  kafka-bench run consume-only --brokers localhost:9092 --set consume.consumers=8 --set phases.measure=1h --set topic.existing=TOPIC\ntopic.existing=TOPIC stands for a topic of yours\nlocalhost:9092 stands for your brokers\nphases.measure=1h: a reader ends at the topic's end, or after this time\nwhat it does not set is printed by kafka-bench show consume-only\n"},
		{"--quick overload", "what was meant is\n  kafka-bench run overload --quick\n"},
		{"compare a b -alpha 0.1", "  -alpha 0.1   --alpha\nwhat was meant is\n  kafka-bench compare a b --alpha 0.1\n"},
		{"compare a b --alhpa 0.1 --bogus", "  --alhpa 0.1   --alpha\n  --bogus       unknown\nwhat was meant is\n  kafka-bench compare a b --alpha=0.1\n"},
	} {
		got := invoke(t, strings.Fields(c.typed)...)
		_, said, _ := strings.Cut(got.stderr, " --help\n")
		if said != c.want || !strings.HasPrefix(got.stderr, "kafka-bench: read as words of another tool; see kafka-bench ") || got.code != exitBadInput || got.stdout != "" {
			t.Errorf("%s: exit code %d and\n%s%s\nwant\n%s", c.typed, got.code, got.stdout, got.stderr, c.want)
		}
	}
}

func TestNoPasswordIsSaid(t *testing.T) {
	for _, args := range [][]string{
		{"--producer-props", "sasl.jaas.config=hunter2"}, {"run", "quick", "--ssl.keystore.password", "hunter2"},
		{"run", "quick", "--load.client.sasl.password=hunter2"}, {"run", "quick", "sasl.password=hunter2"},
	} {
		if got := invoke(t, args...); strings.Contains(got.stderr, "hunter2") || got.code != exitBadInput {
			t.Errorf("%q: exit code %d and\n%s", args, got.code, got.stderr)
		}
	}
}

// The answer leaves out a value that a key does not take, and gives the reason beside the word.
func TestMistakesOfWhatWasMeant(t *testing.T) {
	got := invoke(t, "run", "quick", "-compression", "snapy")
	want := "load.compression; left out: \"snapy\" is not known; did you mean snappy? "
	if !strings.Contains(got.stderr, want) || got.code != exitBadInput {
		t.Errorf("exit code %d and\n%s", got.code, got.stderr)
	}
}

func TestAllInvalidValues(t *testing.T) {
	got := invoke(t, "search", "quick", "--probe", "5", "--max-probes=many", "--confirm", "1 minute")
	want := "kafka-bench: --probe: duration \"5\": it has no unit; write 5s or 5ms\n--max-probes: \"many\" is not a whole number; write it as 12; see kafka-bench search --help\n"
	if got.stderr != want || got.code != exitBadInput {
		t.Errorf("exit code %d and\n%s", got.code, got.stderr)
	}
}

func TestListsAreTrimmed(t *testing.T) {
	got := invokeIn(t, surroundings{offline: true}, "run", "quick", "--dry-run", "--brokers", " a:9092, b:9092 ,", "--brokers", "c:9092", "--cluster-id", "5L6g3nShT-eMCtK--X86sw")
	if got.code != exitValid || !strings.Contains(got.stdout, "the existing one at a:9092,b:9092,c:9092; none is started") {
		t.Errorf("exit code %d, %s\n%s", got.code, got.stderr, got.stdout)
	}
}

func TestQuickWithoutAQuickForm(t *testing.T) {
	got := invoke(t, "run", "quick", "--quick", "--dry-run", "--cluster", "embedded")
	if got.code != exitValid || !strings.Contains(got.stderr, "quick has no quick form, and is run as it is\n") || !strings.HasPrefix(got.stdout, "quick: 1 run\n") {
		t.Errorf("exit code %d, %s\n%s", got.code, got.stderr, got.stdout)
	}
}

func TestVersionFlag(t *testing.T) {
	commit = "3f1c9e2a1b2c" // as the build sets it
	defer func() { commit = "" }()
	want := "kafka-bench development " + runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH + " commit 3f1c9e2a1b2c\n"
	for _, word := range []string{"--version", "version"} {
		if got := invoke(t, word); got.code != exitValid || got.stdout != want {
			t.Errorf("%s: exit code %d, %q, want %q", word, got.code, got.stdout, want)
		}
	}
	if got := tool().Revision; got != commit {
		t.Errorf("runs have the revision %q, want %q", got, commit)
	}
}

func TestPreview(t *testing.T) {
	var stdout, stderr strings.Builder
	err := preview(t.Context(), runFlags{engineFlags: engineFlags{cluster: "embedded", out: "runs"}, fleetFlags: noAgents, progress: shortProgress}, &stdout, &stderr, os.ErrInvalid)
	for _, part := range []string{"e2e: 1 run\n", "the embedded broker is started and stopped", "kafka-bench run e2e\n"} {
		if !strings.Contains(stdout.String(), part) {
			t.Errorf("%q is missing in\n%s", part, stdout.String())
		}
	}
	if code := exitCode(&stderr, err); code != exitBadInput {
		t.Errorf("exit code %d and\n%s", code, stderr.String())
	}
}
