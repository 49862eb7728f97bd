package bench

import (
	"slices"
	"testing"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/kafka/driver/franz"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
)

func TestNeedsOf(t *testing.T) {
	for text, want := range map[string][]string{
		"load: {rate: 1k/s}":                                             nil,
		"load: {acks: all, idempotent: true}":                            {"load.idempotent: idempotent producing"},
		"load: {compression: zstd, level: 3, in_flight: 1}":              {"load.level: compression levels", "load.in_flight: a limit of requests in flight"},
		"load: {producers: 0}\ntopic: {fill: 1MB}":                       {"topic.fill: pausing partitions"},
		"load: {in_flight: 1, producers: 0}\ntopic: {existing: orders}":  nil,
		"consume: {assignment: manual}":                                  {"consume.assignment: partitions assigned by hand"},
		"consume: {hold: 3s}":                                            {"consume.hold: pausing partitions"},
		"consume: {parallel: partition}":                                 nil,
		"consume: {parallel: partition, work: 1ms}":                      {"consume.parallel: pausing partitions"},
		"consume: {parallel: partition, changes: [{at: 1s, work: 1ms}]}": {"consume.parallel: pausing partitions"},
		"load: {batch: 1 record}":                                        nil,
		"load: {batch: 1 record, record: {size: 219B}}":                  nil,
		"load: {batch: 1 record, record: {size: 218B}}":                  {"load.batch: batches of one record"},
		"load: {batch: 1 record, record: {size: {list: [600B, 2KiB]}}}":  {"load.batch: batches of one record"},
		"consume: {assignor: range}":                                     nil,
		"consume: {assignor: sticky}":                                    {"consume.assignor: the assignor sticky"},
		"consume: {assignor: cooperative-sticky}":                        {"consume.assignor: the assignor cooperative-sticky"},
		"consume: {protocol: consumer}":                                  {"consume.protocol: the group protocol consumer"},
		"consume: {session_timeout: 6s}":                                 {"consume.session_timeout: a session timeout"},
		"consume: {consumers: 0, protocol: consumer}":                    nil,
		"consume: {consumers: 2}\nfaults: [{at: 1s, kill: consumer 0}]":  {"faults: a consumer that is killed"},
		"consume: {consumers: 2}\nfaults: [{at: 1s, stop: consumer 0}]":  nil,
		"cluster: {brokers: 2}\nfaults: [{at: 1s, kill: broker 1}]":      nil,
	} {
		s, err := scenario.Parse("s", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, n := range NeedsOf(s) {
			got = append(got, n.Key+": "+string(n.Capability))
			if n.Remedy == "" {
				t.Errorf("%s has no remedy", n.Key)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q needs %q, want %q", text, got, want)
		}
	}
}

// All mistakes are reported at once, the client's own error last.
func TestCheckClients(t *testing.T) {
	for text, want := range map[string]string{
		"load: {client: {RecordRetries: 3}}\nconsume: {client: {Rack: a, DisableFetchSessions: true}}": "",
		"load: {client: {linger.ms: 5, Linger: 1}}\nconsume: {client: {Balancers: range}}": `load.client.Linger: franz-go has no setting of this name that is passed on; did you mean linger.ms? that is load.linger
load.client.linger.ms: a key of the scenario sets it; write load.linger
consume.client.Balancers: a key of the scenario sets it; write consume.assignor`,
		"load: {client: {RecordRetries: many}}":      `load.client: client configuration: RecordRetries: "many" is not a whole number of this size; write it as 12, without a unit`,
		"consume: {fetch: {max_wait: 5ms}}":          "consume: client configuration: consumer: max fetch wait 5ms is less than allowed 10ms",
		"load: {record: {size: 1B}, batch: 100B}":    "load: client configuration: producer: max record batch bytes 100 is less than allowed 512",
		"consume: {client: {RebalanceTimeout: 1ms}}": "consume.client: client configuration: consumer: rebalance timeout 1ms is less than allowed 100ms",
	} {
		s, err := scenario.Parse("s", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if err := CheckClients(s, franz.New()); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q gives\n%s\nwant\n%s", text, got, want)
		}
	}
	s := scenario.Defaults()
	s.Load.Client = map[string]string{"a": "b"}
	if err := CheckClients(s, client{}); err == nil {
		t.Error("a driver that passes nothing on was given a setting")
	}
}

type client struct{ driver.Driver }

func (client) Name() string { return "client" }

func TestDriversPresetAsksForLittle(t *testing.T) {
	suite, err := scenario.ReadSuite("drivers", scenario.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, cell := range suite.Cells {
		for _, n := range NeedsOf(cell.Scenario) {
			if n.Capability != driver.PausePartitions {
				t.Errorf("%s asks for %s", cell.Name, n.Capability)
			}
		}
	}
}
