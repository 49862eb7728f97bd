package main

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDrivers(t *testing.T) {
	got := invoke(t, "drivers")
	for _, known := range knownDrivers() {
		wantSaid(t, got.stdout, known.Name)
		if known.Missing != "" {
			wantSaid(t, got.stdout, known.Name+": "+known.Missing)
		}
	}
	var all []aDriver
	if err := json.Unmarshal([]byte(invoke(t, "drivers", "--format", "json").stdout), &all); err != nil {
		t.Fatal(err)
	}
	for i, known := range knownDrivers() {
		if d := all[i]; d.Name != known.Name || d.BuiltIn != (known.Open != nil) || d.BuiltIn == (d.Version == "") || d.Missing != known.Missing {
			t.Errorf("%+v", d)
		}
	}
}

func TestWhatADriverLacks(t *testing.T) {
	got := invoke(t, "run", "quick", "--dry-run", "--driver", "segmentio", "--set", "load.acks=all", "--set", "load.idempotent=true", "--set", "consume.protocol=consumer")
	if got.code != exitBadInput || got.stdout != "" || strings.Count(got.stderr, "\n") != 2 {
		t.Errorf("exit code %d and\n%s%s", got.code, got.stdout, got.stderr)
	}
	wantSaid(t, got.stderr,
		"scenario quick: load.idempotent asks for idempotent producing, which the driver segmentio does not have (", "; set it to false, or choose another driver: franz or sarama",
		"scenario quick: consume.protocol asks for the group protocol consumer, which the driver segmentio does not have (", "; set it to classic, or choose another driver")
}

func TestClientSettingsRefused(t *testing.T) {
	const secret = "a-s3cret-value"
	for set, says := range map[string]string{
		"consume.client={sasl.password: " + secret + "}":                  "consume.client.sasl.password: it says how brokers are reached",
		"matrix.consume.client.sasl.password=[" + secret + ", x]":         "consume.client.sasl.password: it says how brokers are reached",
		"load={client: 'sasl.password=" + secret + "'}":                   "load.client: it is a single value, not a mapping",
		"load.client.linger.ms=" + secret:                                 "load.client.linger.ms: a key of the scenario sets it; write load.linger",
		"load.client.RecordPartitioner=" + secret:                         "load.client.RecordPartitioner: the tool sets it",
		"load.client={SeedBrokers: " + secret + "}":                       "load.client.SeedBrokers: it says how brokers are reached",
		"load.client={SeedBrokers: [" + secret + "]}":                     "load.client.SeedBrokers: ",
		"load.client={RecordPartitioner: [" + secret + "]}":               "load.client.RecordPartitioner: ",
		"load={client: {RecordRetrys: " + secret + "}}":                   "load.client.RecordRetrys: franz-go has no setting of this name that is passed on; did you mean RecordRetries?",
		"consume.client={Rack: eu, my-password: " + secret + ", A: true}": "consume.client.my-password: it says how",
	} {
		out := filepath.Join(t.TempDir(), "out")
		got := invoke(t, "run", "quick", "--cluster", "embedded", "--out", out, "--set", set)
		if got.code != exitBadInput || got.stdout != "" || strings.Contains(got.stderr, secret) {
			t.Errorf("%s: exit code %d and\n%s%s", set, got.code, got.stdout, got.stderr)
		}
		wantSaid(t, got.stderr, says)
		if _, err := os.Stat(out); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: the folder of results is there: %v", set, err)
		}
	}
}

func TestDriverOfAMatrix(t *testing.T) {
	const matrix = "matrix.driver=[franz, sarama, librdkafka]"
	got := invoke(t, "run", "quick", "--dry-run", "--cluster", "embedded", "--set", matrix)
	if why := notBuilt("librdkafka"); why != "" {
		wantSaid(t, got.stderr, "1 cell of quick left out: "+why)
		wantSaid(t, got.stdout, "quick: 2 runs\n")
		alone := invoke(t, "run", "quick", "--dry-run", "--cluster", "embedded", "--set", matrix, "--driver", "librdkafka")
		if alone.code != exitBadInput || alone.message() != "scenario quick: driver: "+why {
			t.Errorf("exit code %d and %s", alone.code, alone.message())
		}
	} else {
		wantSaid(t, got.stdout, "quick: 3 runs\n")
	}
	got = invoke(t, "run", "quick", "--dry-run", "--cluster", "embedded", "--set", matrix, "--driver", "sarama")
	wantSaid(t, got.stdout, "quick: 1 run\n", "driver=sarama")
}

func TestSeedOfOneRun(t *testing.T) {
	const hint = "seed: it orders several runs, and there is one; load.record.seed is the seed of the payload\n"
	for args, hinted := range map[string]bool{"": false, "--set seed=1": true, "--set seed=1 --repeat 2": false} {
		got := invoke(t, append(strings.Fields("run quick --dry-run --cluster embedded"), strings.Fields(args)...)...)
		if got.code != exitValid || strings.Contains(got.stderr, hint) != hinted {
			t.Errorf("%q: exit code %d and\n%s", args, got.code, got.stderr)
		}
	}
}

func TestQuickForm(t *testing.T) {
	file := write(t, "phases: {measure: 1h}\nquick: {phases: {measure: 2s}, repeat: 3}\n")
	got := invoke(t, "run", file, "--quick", "--dry-run", "--cluster", "embedded")
	wantSaid(t, got.stdout, "-quick: 3 runs\n")
	if got.code != exitValid {
		t.Error(got.stderr)
	}
	wantSaid(t, invoke(t, "show", file, "--quick").stdout, "measure: 2s")
	wantSaid(t, invoke(t, "show", file).stdout, "measure: 1h")
}
