package scenario

import (
	"bytes"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

// A value with one meaning is accepted, and printed in its canonical form.
func TestOneMeaning(t *testing.T) {
	const existing, burst, queue = "topic: {existing: orders}", "load: {arrival: {process: burst, peak: 9k/s, length: 1s, period: 5s}}", "consume: {queue: markers}"
	for _, c := range []struct{ base, path, written, canonical string }{
		{"", "load.rate", "5k", "5k/s"},
		{"", "load.rate", "10000", "10k/s"},
		{"", "load.rate", "10_000", "10k/s"},
		{"", "load.rate", "5000 msg/s", "5k/s"},
		{"", "load.rate", "-1", "max"},
		{burst, "load.arrival.peak", "20000", "20k/s"},
		{"", "load.acks", "-1", "all"},
		{"", "load.acks", "ALL", "all"},
		{"", "load.acks", "leader", "1"},
		{"", "load.compression", "uncompressed", "none"},
		{"", "load.compression", "ZSTD", "zstd"},
		{"", "load.linger", "5 millis", "5ms"},
		{"", "load.batch", "16384", "16KiB"},
		{"", "load.batch", "0", "1 record"},
		{"", "load.record.size", "1024", "1KiB"},
		{"", "load.record.size", "{uniform: [512, 1 KiB]}", "[512B, 1KiB]"},
		{"", "load.record.keys", "KEY_ROUND_ROBIN", "{distribution: sequential}"},
		{"", "load.records", "50M", "50000000"},
		{"", "load.records_each", "1e6", "1000000"},
		{"", "load.producers", "'8'", "8"},
		{"load: {acks: all}", "load.idempotent", "on", "true"},
		{"", "topic.fill_records", "1M", "1000000"},
		{"", "phases.measure", "5000 ms", "5s"},
		{"", "phases.measure", "20 seconds", "20s"},
		{"", "phases.measure", "PT1M30S", "1m30s"},
		{"", "consume.assignor", "org.apache.kafka.clients.consumer.CooperativeStickyAssignor", "cooperative-sticky"},
		{"", "consume.queue", "kmq", "markers"},
		{queue, "consume.queue.acks", "-1", "all"},
		{existing, "consume.from", "latest", "end"},
		{"", "backpressure.controller", "none", "off"},
		{"", "driver", "franz-go", "franz"},
	} {
		suite, err := suiteOf(Options{Set: []string{c.path + "=" + c.written}}, "name: a\n"+c.base)
		if err != nil {
			t.Errorf("%s: %s: %v", c.path, c.written, err)
			continue
		}
		text, err := suite.Cells[0].Scenario.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		if got := printedAt(t, text, c.path); got != c.canonical && !strings.HasPrefix(got, strings.TrimSuffix(c.canonical, "}")) {
			t.Errorf("%s: %s is printed as %s, want %s", c.path, c.written, got, c.canonical)
		}
	}
}

// printedAt follows path as far as the text has it: a size {uniform: [512B, 1KiB]} is its list, a queue its engine.
func printedAt(t *testing.T, text []byte, path string) string {
	t.Helper()
	var root yaml.Node
	if err := yaml.NewDecoder(bytes.NewReader(text)).Decode(&root); err != nil {
		t.Fatal(err)
	}
	at := root.Content[0]
	for key := range strings.SplitSeq(path, ".") {
		for i := 0; i+1 < len(at.Content); i += 2 {
			if at.Content[i].Value == key {
				at = at.Content[i+1]
				break
			}
		}
	}
	if path != "load.record.keys" && at.Kind == yaml.MappingNode {
		at = at.Content[1]
	}
	return flowText(at)
}

// The names of cells, and the values in campaign.json, are canonical too.
func TestOneMeaningInAMatrix(t *testing.T) {
	suite, err := suiteOf(Options{}, "name: a\nmatrix: {load.rate: [5k, 10000], load.acks: [-1], exclude: [{load.rate: 5000, load.acks: all}]}")
	if err != nil {
		t.Fatal(err)
	}
	if len(suite.Cells) != 1 || strings.Join(suite.Cells[0].Values, " ") != "10k/s all" || strings.Join(suite.Axes[0].Values, " ") != "5k/s 10k/s" {
		t.Errorf("the axes are %v, the cells %+v", suite.Axes, suite.Cells)
	}
}
