package native_test

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/plan/native"
)

var table = native.Table{
	Client: "a client", Passed: []string{"Retry.Max", "socket.nagle.disable"},
	Keys: map[string]string{"Flush.Frequency": "load.linger"}, Ours: map[string]string{"Partitioner": "it is ours"},
}

func TestCheck(t *testing.T) {
	const value = "a-value-that-nobody-sees"
	says := map[string]string{
		"Retry.Max": "", "socket.nagle.disable": "",
		"Flush.Frequency": "write load.linger", "linger.ms": "write load.linger",
		"Partitioner":   "the tool sets it: it is ours; leave it out",
		"sasl.password": "--command-config", "Net.SASL.Password": "--command-config", "ssl.key.pem": "--command-config",
		"bootstrap.servers": "--brokers", "SeedBrokers": "--brokers", "my.password": "--command-config",
		"Retry.Mxa": "did you mean Retry.Max?", "nothing.like.it": "docs/drivers.md",
		"Flush.Frequenc": "did you mean Flush.Frequency? that is load.linger",
		"linger.m":       "did you mean linger.ms? that is load.linger",
		"Partitoner":     "did you mean Partitioner? the tool sets it: it is ours",
	}
	given := map[string]string{}
	for name := range says {
		given[name] = value
	}
	found := map[string]string{}
	for _, fault := range table.Check(given) {
		found[fault.Name] = fault.Error()
	}
	for _, name := range slices.Sorted(maps.Keys(says)) {
		got, refused := found[name]
		if refused != (says[name] != "") || !strings.Contains(got, says[name]) || strings.Contains(got, value) {
			t.Errorf("%s: %q, want it to say %q", name, got, says[name])
		}
	}
	judging := table
	judging.Judges = true
	if faults := judging.Check(map[string]string{"nothing.like.it": "", "sasl.password": ""}); len(faults) != 1 ||
		faults[0].Name != "sasl.password" {
		t.Errorf("a client that judges unknown names: %v", faults)
	}
}

func TestSet(t *testing.T) {
	type section struct {
		Wait time.Duration
		On   bool
		Most int32
		Rack string
		No   []string
	}
	var config struct{ Part section }
	set := func(name, text string) error {
		return native.SetFields(&config, "Config.", map[string]string{"Config.Part." + name: text, "Other.Part": ""})
	}
	for name, text := range map[string]string{"Wait": "10ms", "On": "true", "Most": "-7", "Rack": "a b"} {
		if err := set(name, text); err != nil {
			t.Error(err)
		}
	}
	if want := (section{10 * time.Millisecond, true, -7, "a b", nil}); !reflect.DeepEqual(config.Part, want) {
		t.Errorf("%+v, want %+v", config.Part, want)
	}
	for name, text := range map[string]string{"Wait": "10", "On": "yes", "Most": "3000000000", "No": "a"} {
		if set(name, text) == nil {
			t.Errorf("%s takes %q", name, text)
		}
	}
}
