package main

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// pairsOfOptions is how many random pairs of options of each tool are typed.
const pairsOfOptions = 5

// Each option of testdata/otheroptions.txt, behind the name of its tool, and some random pairs of them, are answered with
// every word that was typed, and this program takes the command line that it prints.
func TestOptionsOfOtherTools(t *testing.T) {
	text, err := os.ReadFile("testdata/otheroptions.txt")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	program, options, n := "", map[string][]string{}, 0
	for line := range strings.Lines(string(text)) {
		switch line = strings.TrimSpace(line); {
		case strings.HasPrefix(line, "# "):
			program = strings.TrimPrefix(line, "# ")
		case line != "":
			options[program] = append(options[program], line)
			n++
		}
	}
	if n < 200 {
		t.Errorf("only %d options of other tools were found", n)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for program, all := range options {
		lines := slices.Clone(all)
		for range pairsOfOptions {
			lines = append(lines, all[random.IntN(len(all))]+" "+all[random.IntN(len(all))])
		}
		for _, line := range lines {
			typed := strings.TrimPrefix(program+" "+line, "- ")
			t.Run(typed, func(t *testing.T) { checkOptions(t, typed) })
		}
	}
}

// checkOptions needs no second try of the command line: the answer has tried it, and says what it left out.
func checkOptions(t *testing.T, typed string) {
	t.Helper()
	args := shellWords(strings.Fields(typed))
	got := invoke(t, args...)
	if got.code != exitBadInput || strings.Contains(got.stderr, "and in it\n") || strings.Contains(got.stderr, "   unknown") {
		t.Errorf("exit code %d and\n%s%s", got.code, got.stdout, got.stderr)
	}
	for _, arg := range args {
		if !strings.Contains(got.stderr, arg) {
			t.Errorf("%s is not in the answer\n%s", arg, got.stderr)
		}
	}
}

// A value keeps its unit, the last of two options wins, and the answer names the other one.
func TestValuesOfOtherTools(t *testing.T) {
	for _, c := range []struct{ typed, said, meant string }{
		{"redeliverAfterMs=10000 mqType=kmq", "consume.queue.visibility", "consume.queue.visibility=10s"},
		{"runTimeSec=90 targetRate=1k", "phases.measure", "phases.measure=1m30s"},
		{"-duration 30s -duration 40s -rate 5", "phases.measure is 40s, and not the 30s of -duration 30s", "phases.measure=40s"},
		{"-report-interval 5s -sysperf-interval 2s -rate 5", "sampling.interval is 2s, and not the 5s of", "sampling.interval=2s"},
		{"--record-size 100000 --num-records 5", "load.record.size", "--set load.volume=null --set load.batch=128KiB"},
		{"-msg-size 2097152 -rate 5", "load.record.size", "load.batch=4MiB --set topic.config.max.message.bytes=4194304"},
		{"-compression snapy -rate 5", "load.compression; left out: \"snapy\" is not known; did you mean snappy?", "baseline --set load.rate=5/s\n"},
		{"-producer-only -rate 5", "load.rate", "load.producers=8 --set load.record.size=512B"},
		{"producer -n 5 -consumers 3", "without consume.consumers, because nobody reads", "produce-only"},
		{"-C -t x -X queued.min.messages=5", "nothing: librdkafka's own prefetch", "topic.existing=x"},
		{"-rate 5 -X metadata.max.age.ms=5", "nothing: no key has it", "load.rate=5/s\n"},
		{"producer -s avro -t x", "-s avro    nothing: records are bytes", "topic.name=x"},
		{"StepRater runTime=1m sleConfig=[[99,10,1]]", "without the window: a bound is for all", "--probe 1m --confirm 1m"},
		{"mqperf --sender-nodes 6 --sender-threads 25", "load.producers, of all nodes together", "load.producers=150"},
		{"-consumers 1,2,4,8 -group g -topic t", "a list is a matrix", "'matrix.consume.consumers=[1, 2, 4, 8]'"},
		{"consume -t t", "phases.measure=1h: a reader ends at the topic's end, or after this time", "phases.measure=1h"},
		{"run quick -out x.html", "--page", "run quick --page=x.html"},
	} {
		got := invoke(t, strings.Fields(c.typed)...)
		_, meant, _ := strings.Cut(got.stderr, "what was meant is\n")
		if !strings.Contains(got.stderr, c.said) || !strings.Contains(meant, c.meant) {
			t.Errorf("%s:\n%s\nwant %s and %s", c.typed, got.stderr, c.said, c.meant)
		}
	}
}

// If the words do not say whether to send or to read, nothing that sends is proposed.
func TestUncertainJob(t *testing.T) {
	for _, typed := range []string{"--brokers localhost:9092 --topic t", "-brokers localhost:9092", "-partitions 5 -b a:9092", "perf --bogus 5"} {
		got := invoke(t, strings.Fields(typed)...)
		if strings.Contains(got.stderr, "what was meant is") || !strings.Contains(got.stderr, "\n  kafka-bench run consume-only   reads a topic that is there\n") {
			t.Errorf("%s:\n%s", typed, got.stderr)
		}
	}
}

// A command that takes folders of runs says of all files what they are.
func TestForeignFiles(t *testing.T) {
	ssp, err := filepath.Abs("../../internal/result/foreign/testdata/ssp")
	if err != nil {
		t.Fatal(err)
	}
	results, _ := filepath.Glob(filepath.Join(ssp, "*.json"))
	if len(results) == 0 {
		t.Fatal("no results of SSP Kafka Bench in", ssp)
	}
	table, err := os.ReadFile(filepath.Join(filepath.Dir(ssp), "poll_time.hgrm"))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	for _, folder := range []string{"h1", "h2"} {
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for path, text := range map[string]string{
		"h1/a.hgrm": string(table), "h2/a.hgrm": string(table),
		"plain.prom": "# TYPE mqperf_receive_total counter\nmqperf_receive_total 5\n", "tussle.yaml": "targetRate: 10k\nrunTime: 60s\n", "notes.txt": "x",
		"page.json": `{"status": "success", "data": {"resultType": "matrix", "result": []}}`,
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"report", results[0]}, []string{"a result of another tool", "kafka-bench import " + results[0] + " --out imported\nand then kafka-bench report"}},
		{[]string{"compare", results[0], "plain.prom", "nosuch.json"}, []string{"plain.prom", "metrics of Prometheus", "nosuch.json", "not there", "kafka-bench import"}},
		{[]string{"compare", ssp, "tussle.yaml", "-o", "x.html"}, []string{"--format html > x.html", "kafka-bench run tussle.yaml says", "kafka-bench import"}},
		{[]string{"view", "page.json"}, []string{"page.json   metrics of Prometheus, which are not imported; kafka-bench import --help says what is", "kafka-bench report RUN"}},
		{[]string{"plot", results[0]}, []string{"kafka-bench import " + results[0]}},
		{[]string{"compare", "h1", "h2"}, []string{"import h1/a.hgrm --hlog-unit us --out imported-1\n  kafka-bench import h2/a.hgrm", "compare imported-1 imported-2"}},
		{[]string{"serve", results[0]}, []string{"kafka-bench import"}},
		{[]string{"list", ssp}, []string{"kafka-bench import"}},
		{[]string{"report", "notes.txt"}, []string{"no result that import knows"}},
	} {
		got := invoke(t, c.args...)
		for _, want := range c.want {
			if !strings.Contains(got.stderr, want) || got.code != exitBadInput || strings.Contains(got.stderr, "not a directory") {
				t.Errorf("%q: exit code %d and\n%s\nwant %s", c.args, got.code, got.stderr, want)
			}
		}
	}
}
