package drivertest_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/kafka/driver/drivertest"
	"kafkabench.example/kafka-bench/internal/kafka/driver/franz"
	"kafkabench.example/kafka-bench/internal/kafka/driver/sarama"
	"kafkabench.example/kafka-bench/internal/kafka/driver/segmentio"
)

func documented() []driver.Driver {
	return append([]driver.Driver{franz.New(), sarama.New(), segmentio.New()}, inC()...)
}

func TestDocumentedCapabilities(t *testing.T) {
	table := capabilityTable(t)
	for _, d := range documented() {
		for _, c := range drivertest.Capabilities() {
			want := "yes"
			if _, lacking := d.Lacks()[c]; lacking {
				want = "no"
			}
			if got := table[string(c)][d.Name()]; got != want {
				t.Errorf("docs/drivers.md says %q of %s and %q, want %q", got, d.Name(), c, want)
			}
		}
	}
	if len(table) != len(drivertest.Capabilities()) {
		t.Errorf("docs/drivers.md has %d capabilities, there are %d", len(table), len(drivertest.Capabilities()))
	}
}

func TestLacksAreKnown(t *testing.T) {
	known := make(map[driver.Capability]bool)
	for _, c := range drivertest.Capabilities() {
		known[c] = true
	}
	for _, d := range documented() {
		for c := range d.Lacks() {
			if !known[c] {
				t.Errorf("%s lacks %q, which is not a capability", d.Name(), c)
			}
		}
	}
}

func TestDocumentedSettings(t *testing.T) {
	for _, d := range documented() {
		producer, consumer := d.(driver.Tuner).Tables()
		for key, want := range map[string][]string{"load.client": producer.Passed, "consume.client": consumer.Passed} {
			if got := passedOn(t, d.Name(), key); !slices.Equal(got, want) {
				t.Errorf("docs/drivers.md, %s of %s:\n%q, want\n`%s`", key, d.Name(), got, strings.Join(want, "`, `"))
			}
		}
	}
}

func passedOn(t *testing.T, name, key string) (names []string) {
	t.Helper()
	_, section, found := strings.Cut(document(t), "\n### Passed on by "+name+"\n")
	if !found {
		t.Fatalf("docs/drivers.md does not say what %s passes on", name)
	}
	_, list, _ := strings.Cut(section, "- `"+key+"`: ")
	list, _, _ = strings.Cut(list, "\n- ")
	list, _, _ = strings.Cut(list, "\n\n")
	for i, part := range strings.Split(list, "`") {
		if i%2 == 1 {
			names = append(names, part)
		}
	}
	return names
}

func document(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../../../docs/drivers.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func capabilityTable(t *testing.T) map[string]map[string]string {
	t.Helper()
	table := make(map[string]map[string]string)
	var names []string
	for line := range strings.Lines(document(t)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		switch {
		case cells[0] == "capability":
			names = cells
		case len(names) == 0 || strings.HasPrefix(cells[0], "---"):
		case cells[0] == "":
			return table
		default:
			table[cells[0]] = make(map[string]string)
			for i := 1; i < len(cells) && i < len(names); i++ {
				table[cells[0]][names[i]] = cells[i]
			}
		}
	}
	t.Fatal("docs/drivers.md has no table of capabilities")
	return nil
}
