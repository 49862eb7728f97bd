package scenario

import (
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/plan/unit"
)

func TestDefaultsAreValid(t *testing.T) {
	s := Defaults()
	if err := s.Validate(); err != nil {
		t.Error(err)
	}
	if warnings := s.Warnings(48); len(warnings) > 0 {
		t.Errorf("defaults warn: %q", warnings)
	}
	resolved, err := Parse("unnamed.yaml", []byte("{}"))
	if err != nil || !reflect.DeepEqual(resolved, s) {
		t.Errorf("an empty mapping is %+v (%v), want the defaults %+v", resolved, err, s)
	}
}

func TestRangeMistakes(t *testing.T) {
	check(t, [][2]string{
		{"name: ''", "f.yaml:1:7: name: it is empty; name the scenario, as in overload-eu"},
		{"name: ../up", `f.yaml:1:7: name: "../up" cannot be part of a folder's name; use letters, digits, dots, hyphens and underscores, a letter or digit first, 64 at most`},
		{"repeat: -3", "f.yaml:1:9: repeat: -3 is too low; give at least 1"},
		{"repeat: 1001", "f.yaml:1:9: repeat: 1001 is too high; give at most 1000"},
		{"phases: {measure: 0s}", "f.yaml:1:19: phases.measure: it must be above 0; give a time, as in 30s"},
		{"phases: {measure: -5s}", "f.yaml:1:19: phases.measure: -5s is too low; give at least 1ns"},
		{"phases: {measure: 721h}", "f.yaml:1:19: phases.measure: 721h is too high; give at most 720h"},
		{"phases: {warmup: -1s}", "f.yaml:1:18: phases.warmup: -1s is too low; give at least 0s"},
		{"phases: {drain: -1s}", "f.yaml:1:17: phases.drain: -1s is too low; give at least 0s"},
		{"sampling: {interval: 1ms}", "f.yaml:1:22: sampling.interval: 1ms is too low; give at least 100ms"},
		{"sampling: {lag: 0s}", "f.yaml:1:17: sampling.lag: 0s is too low; give at least 10ms"},
		{"cluster: {brokers: 0}", "f.yaml:1:20: cluster.brokers: it must be above 0; leave it out for its default: topic.replication"},
		{"cluster: {brokers: 10}", "f.yaml:1:20: cluster.brokers: 10 is too high; give at most 9"},
		{"cluster: {heap: 64MiB}", "f.yaml:1:17: cluster.heap: 64MiB is too low; give at least 128MiB"},
		{"topic: {partitions: 0}", "f.yaml:1:21: topic.partitions: 0 is too low; give at least 1"},
		{"topic: {replication: 0}", "f.yaml:1:22: topic.replication: 0 is too low; give at least 1"},
		{"cluster: {brokers: 2}\ntopic: {replication: 3}", "f.yaml:2:22: topic.replication: 3 replicas need as many brokers, and cluster.brokers is 2; lower it, or leave cluster.brokers out to have as many as the replication asks for"},
		{"topic: {config: {min.insync.replicas: 2}}", "f.yaml:1:39: topic.config.min.insync.replicas: 2 in-sync replicas can never be reached with a replication of 1; lower it, or raise topic.replication"},
		{"topic: {config: {cleanup.policy: compact}}", "f.yaml:1:34: topic.config.cleanup.policy: a compacted topic takes no records without keys, and load.record.keys is none; give load.record.keys, for example uniform, or a topic with cleanup.policy=delete"},
		{"cluster: {config: {log.cleanup.policy: \"compact,delete\"}}", "f.yaml:1:40: cluster.config.log.cleanup.policy: a compacted topic takes no records without keys, and load.record.keys is none; give load.record.keys, for example uniform, or a topic with cleanup.policy=delete"},
		{"topic: {existing: a b}", `f.yaml:1:19: topic.existing: "a b" cannot be the name of a topic; a topic's name has letters, digits, dots, hyphens and underscores, 249 at most`},
		{"topic: {existing: ..}", `f.yaml:1:19: topic.existing: ".." cannot be the name of a topic; a topic's name has letters, digits, dots, hyphens and underscores, 249 at most`},
		{"topic: {existing: mine, config: {retention.ms: 1}}", "f.yaml:1:25: topic.config: an existing topic keeps its own configuration; leave topic.config out, or leave topic.existing out to create a topic"},
	})
}

func TestLoadMistakes(t *testing.T) {
	check(t, [][2]string{
		{"load: {rate: 0/s}", "f.yaml:1:14: load.rate: it must be above 0; give a rate, as in 20k/s, or max for as fast as it goes; kafka-bench search finds the highest rate that holds"},
		{"load: {rate: 0}", "f.yaml:1:14: load.rate: it must be above 0; give a rate, as in 20k/s, or max for as fast as it goes; kafka-bench search finds the highest rate that holds"},
		{"load: {rate: -5/s}", `f.yaml:1:14: load.rate: rate "-5/s": a rate cannot be negative; max is as fast as it goes`},
		{"load: {rate: 200M/s}", "f.yaml:1:14: load.rate: 200M/s is too high; give at most 100M/s, or max for as fast as it goes"},
		{"load: {rate: max, arrival: poisson}", "f.yaml:1:28: load.arrival: rate max has no schedule, so its arrivals cannot be poisson; leave load.arrival out, or give a rate, as in 20k/s"},
		{"load: {rate: max}\nbackpressure: {controller: hysteresis, max_lag: 100}", "f.yaml:2:1: backpressure: rate max offers nothing that hysteresis could hold back; give a rate, as in 20k/s, or set backpressure: off"},
		{"load: {producers: -1}", "f.yaml:1:19: load.producers: -1 is too low; give at least 0"},
		{"load: {producers: 0}", "f.yaml:1:19: load.producers: without producers a new topic stays empty; name a topic to read in topic.existing, have one filled with topic.fill, or give at least 1"},
		{"load: {producers: 0}\ntopic: {existing: orders}\nconsume: {consumers: 0}", "f.yaml:1:19: load.producers: without producers and consumers nothing happens; give consume.consumers, or at least 1 producer"},
		{"load: {producers: 0, volume: 1GB}\ntopic: {existing: orders}", "f.yaml:1:30: load.volume: without producers nothing is offered; leave it out"},
		{"load: {producers: 0}\ntopic: {existing: orders}\nbackpressure: {controller: hysteresis, max_lag: 100}", "f.yaml:3:1: backpressure: without producers there is nothing to hold back; set backpressure: off"},
		{"load: {volume: 1GB, records: 5}", "f.yaml:1:30: load.records: load.volume already gives the amount; leave one of them out"},
		{"load: {volume: 1GB, records_each: 5}", "f.yaml:1:35: load.records_each: load.volume already gives the amount; leave one of them out"},
		{"load: {records: 5, records_each: 5}", "f.yaml:1:34: load.records_each: load.records already gives the amount; leave one of them out"},
		{"load: {records: -1}", "f.yaml:1:17: load.records: -1 is too low; give at least 0"},
		{"load: {records_each: 1099511627776, producers: 2}", "f.yaml:1:22: load.records_each: 1099511627776 for each of 2 producers is too much; give at most 549755813888"},
		{"load: {producers: 0, records: 5}\ntopic: {existing: orders}", "f.yaml:1:31: load.records: without producers nothing is offered; leave it out"},
		{"topic: {fill: 1GB, fill_records: 5}", "f.yaml:1:34: topic.fill_records: topic.fill already gives the amount; leave one of them out"},
		{"topic: {fill_producers: 5}", "f.yaml:1:25: topic.fill_producers: there is nothing to fill the topic with; give topic.fill or topic.fill_records, or leave it out"},
		{"topic: {fill_records: 1000, config: {retention.bytes: 10000}, partitions: 1}", "f.yaml:1:55: topic.config.retention.bytes: a partition keeps 10.0 kB, and its part of a fill of 512kB is more; raise it, or leave it out"},
		{"topic: {existing: orders, fill_records: 5}", "f.yaml:1:41: topic.fill_records: an existing topic is never filled, because its records are not the run's; leave topic.fill_records out, or leave topic.existing out to create a topic"},
		{"topic: {existing: orders, name: more}", "f.yaml:1:33: topic.name: it names a new topic, and topic.existing an existing one; leave one of them out"},
		{"topic: {name: a/b}", `f.yaml:1:15: topic.name: "a/b" cannot be the name of a topic; a topic's name has letters, digits, dots, hyphens and underscores, 237 at most`},
		{"consume: {group: a b}", `f.yaml:1:18: consume.group: "a b" cannot be the name of a group; a group's name has letters, digits, dots, hyphens and underscores, 237 at most`},
		{"consume: {group: mine, assignment: manual}", "f.yaml:1:18: consume.group: manually assigned consumers are in no group; leave it out"},
		{"load: {rate: max, round: 500, producers: 1, clients: 4, max_buffered: 100}", "f.yaml:1:26: load.round: a producer may have 400 records in flight, and a round has 500; make it smaller, or raise load.max_buffered"},
		{"load: {round: 10}", "f.yaml:1:15: load.round: at 1k/s each record is sent at its own time, and none waits for acks; set load.rate to max, or leave load.round out"},
		{"load: {rate: max, round: 600, producers: 4, clients: 2, max_buffered: 1000}", "f.yaml:1:26: load.round: a producer may have 500 records in flight, and a round has 600; make it smaller, or raise load.max_buffered"},
		{"load: {volume: -1B}", `f.yaml:1:16: load.volume: size "-1B": a size cannot be negative`},
		{"load: {clients: -1}", "f.yaml:1:17: load.clients: -1 is too low; give at least 0"},
		{"load: {pacer: busy}", `f.yaml:1:15: load.pacer: "busy" is not known; choose one of frugal or precise`},
		{"load: {partitioning: roundrobin}", `f.yaml:1:22: load.partitioning: "roundrobin" is not known; did you mean round-robin? choose one of sticky, round-robin or key`},
		{"load: {partitioning: key}", "f.yaml:1:22: load.partitioning: the records have no keys to go by; set load.record.keys, or choose sticky or round-robin"},
		{"load: {acks: 2}", `f.yaml:1:14: load.acks: "2" is not known; choose one of 0, 1 or all`},
		{"load: {compression: snapy}", `f.yaml:1:21: load.compression: "snapy" is not known; did you mean snappy? choose one of none, gzip, snappy, lz4 or zstd`},
		{"load: {level: 3}", "f.yaml:1:15: load.level: compression snappy has no levels; leave it out"},
		{"load: {compression: gzip, level: 10}", "f.yaml:1:34: load.level: 10 is not a level of gzip; give 1 to 9, or 0 for the codec's default"},
		{"load: {compression: zstd, level: -1}", "f.yaml:1:34: load.level: -1 is not a level of zstd; give 1 to 22, or 0 for the codec's default"},
		{"load: {idempotent: true}", "f.yaml:1:20: load.idempotent: it needs acks all, and load.acks is 1; set load.acks to all, or idempotent to false"},
		{"load: {acks: all, idempotent: true, in_flight: 6}", "f.yaml:1:48: load.in_flight: an idempotent producer has 5 requests in flight, and not 6; leave it out, or set load.idempotent to false"},
		{"load: {acks: all, in_flight: 3, idempotent: true}", "f.yaml:1:30: load.in_flight: an idempotent producer has 5 requests in flight, and not 3; leave it out, or set load.idempotent to false"},
		{"load: {in_flight: 0}", "f.yaml:1:19: load.in_flight: 0 is too low; give at least 1"},
		{"load: {max_buffered: 0}", "f.yaml:1:22: load.max_buffered: 0 is too low; give at least 1"},
		{"load: {linger: -1ms}", "f.yaml:1:16: load.linger: -1ms is too low; give at least 0s"},
		{"load: {delivery_timeout: 0s}", "f.yaml:1:26: load.delivery_timeout: 0s is too low; give at least 1s"},
		{"load: {delivery_timeout: 999ms}", "f.yaml:1:26: load.delivery_timeout: 999ms is too low; give at least 1s"},
		{"load: {linger: 1s, delivery_timeout: 1s}", "f.yaml:1:38: load.delivery_timeout: 1s ends before a linger of 1s does; give more than load.linger"},
		{"load: {batch: 1 record, record: {size: 2MiB}}", "f.yaml:1:40: load.record.size: a record of 2MiB needs a batch of 2097234B, and the broker takes 1048588B; make it smaller, or raise topic.config.max.message.bytes"},
		{"load: {client: {sasl.password: s3cret}}", "f.yaml:1:32: load.client.sasl.password: it says how brokers are reached or who logs in, and would be in the result; give it in the file of --command-config, and addresses with --brokers"},
		{"consume: {client: {bootstrap.servers: b}}", "f.yaml:1:39: consume.client.bootstrap.servers: it says how brokers are reached or who logs in, and would be in the result; give it in the file of --command-config, and addresses with --brokers"},
		{"consume: {assignor: stick}", `f.yaml:1:21: consume.assignor: "stick" is not known; did you mean sticky? choose one of range, roundrobin, sticky or cooperative-sticky`},
		{"consume: {assignor: range, protocol: consumer}", "f.yaml:1:21: consume.assignor: with protocol consumer the broker assigns the partitions; leave it out and set cluster.config.group.consumer.assignors, or choose classic"},
		{"consume: {assignor: range, assignment: manual}", "f.yaml:1:21: consume.assignor: manually assigned consumers are in no group, and the tool assigns the partitions; leave it out"},
		{"consume: {poll_timeout: 2h}", "f.yaml:1:25: consume.poll_timeout: 2h is too high; give at most 1h"},
		{"load: {batch: 2GiB}", "f.yaml:1:15: load.batch: 2GiB is too high; give at most 2147483647B"},
		{"load: {batch: 2MiB}", "f.yaml:1:15: load.batch: a batch of 2MiB is more than the broker takes, 1048588B; make it smaller, or raise topic.config.max.message.bytes"},
	})
}

func TestFillMistakes(t *testing.T) {
	check(t, [][2]string{
		{"topic: {fill: -1B}", `f.yaml:1:15: topic.fill: size "-1B": a size cannot be negative`},
		{"topic: {fill: 100B}", "f.yaml:1:15: topic.fill: 100B is less than one record of 512B; give more, or leave it out"},
		{"topic: {fill: 1MB, existing: orders}", "f.yaml:1:15: topic.fill: an existing topic is never filled, because its records are not the run's; leave topic.fill out, or leave topic.existing out to create a topic"},
		{"topic: {fill: 24MB, config: {retention.bytes: 1000000}}", "f.yaml:1:47: topic.config.retention.bytes: a partition keeps 1.00 MB, and its part of a fill of 24MB is more; raise it, or leave it out"},
		{"topic: {fill: 1MB}\nload: {producers: 0}\nconsume: {from: end}", "f.yaml:3:17: consume.from: after the fill there is nothing to read, and the run has no producers; leave it out, or give load.producers"},
		{"topic: {fill: 1MB}\nload: {producers: 0}\nconsume: {consumers: 0}", "f.yaml:2:19: load.producers: without producers and consumers nothing happens; give consume.consumers, or at least 1 producer"},
		{"cluster: {metrics: jmc}", `f.yaml:1:20: cluster.metrics: "jmc" is not known; did you mean jmx? choose one of jmx or none`},
		{"cluster: {warmup: 2h}", "f.yaml:1:19: cluster.warmup: 2h is too high; give at most 1h"},
		{"driver: ''", "f.yaml:1:9: driver: it is empty; leave it out for franz, or name one (kafka-bench drivers)"},
		{"sampling: {brokers: 1ms}", "f.yaml:1:21: sampling.brokers: 1ms is too low; give at least 500ms"},
		{"sampling: {replicas: 1ms}", "f.yaml:1:22: sampling.replicas: 1ms is too low; give at least 10ms"},
	})
}

func TestRecordMistakes(t *testing.T) {
	check(t, [][2]string{
		{"load: {record: {payload: xml}}", `f.yaml:1:26: load.record.payload: "xml" is not known; choose one of random, zeros, text, json, logline or mixed`},
		{"load: {record: {size: 0}}", "f.yaml:1:23: load.record.size: a size must be above 0; give at least 1B"},
		{"load: {record: {size: 8GiB}}", "f.yaml:1:23: load.record.size: a record may have 8GiB; give at most 64MiB"},
		{"load: {record: {size: 1MiB}, batch: 1MiB}", "f.yaml:1:23: load.record.size: a record of 1MiB needs a batch of 1048658B, and the broker takes 1048588B; make it smaller, or raise topic.config.max.message.bytes"},
		{"load: {record: {size: {uniform: [1B, 128KiB]}}}", "f.yaml:1:17: load.record.size: a record of 128KiB needs a batch of 131154B, and load.batch is 64KiB; make it smaller, or raise load.batch"},
		{"load: {record: {size: {normal: [60KiB, 1KiB]}}}", "f.yaml:1:17: load.record.size: a record of 64KiB needs a batch of 65618B, and load.batch is 64KiB; make it smaller, or raise load.batch"},
		{"load: {record: {size: 1000B, keys: uniform}, batch: 1100B}", "f.yaml:1:23: load.record.size: a record of 1kB needs a batch of 1114B, and load.batch is 1100B; make it smaller, or raise load.batch"},
		{"load: {record: {size: {uniform: [2B, 1B]}}}", "f.yaml:1:17: load.record.size: uniform takes the smallest and the largest size; write it as {uniform: [64B, 1KiB]}"},
		{"load: {record: {size: {normal: [2B]}}}", "f.yaml:1:17: load.record.size: normal takes a mean and a standard deviation; write it as {normal: [1KiB, 200B]}"},
		{"load: {record: {size: {list: []}}}", "f.yaml:1:17: load.record.size: the list has 0 sizes; give 1 to 1000"},
		{"load: {record: {keys: ziff}}", `f.yaml:1:23: load.record.keys.distribution: "ziff" is not known; did you mean zipf? choose one of none, sequential, uniform or zipf`},
		{"load: {record: {keys: {count: 3}}}", "f.yaml:1:31: load.record.keys.count: keys: none has no number of keys; leave it out, or choose sequential, uniform or zipf"},
		{"load: {record: {keys: {distribution: uniform, count: 0}}}", "f.yaml:1:54: load.record.keys.count: it must be above 0; leave it out for its default: 10000"},
		{"load: {record: {keys: {distribution: uniform, skew: 2}}}", "f.yaml:1:53: load.record.keys.skew: keys: uniform has no skew; leave it out, or choose zipf"},
		{"load: {record: {keys: {distribution: zipf, skew: 1}}}", "f.yaml:1:50: load.record.keys.skew: 1 is not an exponent of a Zipf distribution here; give more than 1, as in 1.1"},
	})
}

func TestArrivalMistakes(t *testing.T) {
	const prefix = "phases: {measure: 60s}\nload: {arrival: "
	cases := [][2]string{
		{"poison}", `2:17: load.arrival.process: "poison" is not known; did you mean poisson? choose one of constant, poisson, burst, ramp, steps or spike`},
		{"{peak: 5k/s}}", "2:24: load.arrival.peak: constant arrivals have none; leave it out, or set process to burst or spike"},
		{"{process: burst, length: 1s, period: 5s}}", "2:8: load.arrival.peak: it is required; give a rate, as in 20k/s"},
		{"{process: burst, peak: max, length: 1s, period: 5s}}", "2:40: load.arrival.peak: it cannot be max; only load.rate can be max, with constant arrivals; give a rate, as in 20k/s"},
		{"{process: burst, peak: 5k/s, length: 5s, period: 5s}}", "2:54: load.arrival.length: a burst of 5s leaves nothing of a period of 5s; make it shorter than the period"},
		{"{process: burst, peak: 5k/s, length: 5s, period: 61s}}", "2:66: load.arrival.period: the first burst ends at 1m1s, and the measured window ends at 1m; shorten it, or raise phases.measure"},
		{"{process: burst, peak: 5k/s, length: 5s}}", "2:8: load.arrival.period: it is required, and above 0; give a time, as in 3s"},
		{"{process: burst, peak: 5k/s, period: 5s}}", "2:8: load.arrival.length: it is required, and above 0; give a time, as in 3s"},
		{"{process: spike, peak: 5k/s}}", "2:8: load.arrival.length: it is required, and above 0; give a time, as in 3s"},
		{"{process: ramp}}", "2:8: load.arrival.to: it is required; give a rate, as in 20k/s"},
		{"{process: ramp, to: 5k/s, over: 0s}}", "2:49: load.arrival.over: it must be above 0; leave it out for its default: the whole measured window"},
		{"{process: ramp, to: 5k/s, over: 2m}}", "2:49: load.arrival.over: the ramp ends at 2m, and the measured window ends at 1m; shorten it, or raise phases.measure"},
		{"{process: spike, peak: 5k/s, at: 50s, length: 11s}}", "2:63: load.arrival.length: the spike ends at 1m1s, and the measured window ends at 1m; shorten it, or raise phases.measure"},
		{"{process: spike, peak: 5k/s, at: -1s, length: 11s}}", "2:50: load.arrival.at: -1s is too low; give at least 0s"},
		{"steps}", "2:17: load.arrival.steps: it has 0 steps; give 1 to 1000, as in [{rate: 5k/s, for: 10s}, {rate: 10k/s}]"},
		{"{process: steps, steps: [{rate: 0/s}]}}", "2:49: load.arrival.steps[0].rate: it must be above 0; give a rate, as in 20k/s"},
		{"{process: steps, steps: [{rate: 1/s}, {rate: 2/s}]}}", "2:42: load.arrival.steps[0].for: it must be above 0; give a time, as in 30s"},
		{"{process: steps, steps: [{rate: 1/s, for: 40s}, {rate: 2/s, for: 21s}]}}", "2:41: load.arrival.steps: the steps end at 1m1s, and the measured window ends at 1m; shorten it, or raise phases.measure"},
		{"{process: steps, steps: [{rate: 1/s}]}, rate: 2/s}", "2:63: load.rate: 2/s is not the first step's rate of 1/s; leave it out"},
	}
	for i := range cases {
		cases[i][0] = prefix + cases[i][0]
		cases[i][1] = "f.yaml:" + cases[i][1]
	}
	check(t, cases)
}

func TestConsumeMistakes(t *testing.T) {
	check(t, [][2]string{
		{"consume: {consumers: -1}", "f.yaml:1:22: consume.consumers: -1 is too low; give at least 0"},
		{"consume: {parallel: record}", `f.yaml:1:21: consume.parallel: "record" is not known; choose one of partition or consumer`},
		{"consume: {groups: 0}", "f.yaml:1:19: consume.groups: 0 is too low; give at least 1"},
		{"consume: {groups: 101}", "f.yaml:1:19: consume.groups: 101 is too high; give at most 100"},
		{"consume: {assignment: manuel}", `f.yaml:1:23: consume.assignment: "manuel" is not known; did you mean manual? choose one of group or manual`},
		{"consume: {from: start}", "f.yaml:1:17: consume.from: a new topic is empty, and read from its first record; leave it out, or name a topic in topic.existing"},
		{"topic: {existing: orders}\nconsume: {from: begin}", `f.yaml:2:17: consume.from: "begin" is not known; choose one of end or start`},
		{"consume: {processes: 0}", "f.yaml:1:22: consume.processes: 0 is too low; give at least 1"},
		{"consume: {consumers: 2, processes: 3}", "f.yaml:1:36: consume.processes: there are fewer consumers than these 3 processes: 2; give each process at least one consumer, or fewer processes"},
		{"consume: {cpu: 0.001}", "f.yaml:1:16: consume.cpu: 0.001 is too low; give at least 0.01"},
		{"consume: {cpu: 1025}", "f.yaml:1:16: consume.cpu: 1025 is too high; give at most 1024"},
		{"consume: {cpu: all}", `f.yaml:1:16: consume.cpu: "all" is not a number; write a number, as in 1.1`},
		{"consume: {memory: 1MiB}", "f.yaml:1:19: consume.memory: 1MiB is too low; give at least 32MiB"},
		{"consume: {consumers: 0, cpu: 1}", "f.yaml:1:30: consume.cpu: there are no consumers to limit; leave it out, or give consume.consumers"},
		{"consume: {hold: 0s}", "f.yaml:1:17: consume.hold: it must be above 0; write off to hold no consumer"},
		{"consume: {hold: 3}", `f.yaml:1:17: consume.hold: duration "3": it has no unit; write 3s or 3ms, or drain to hold them until the drain`},
		{"consume: {hold: -1s}", "f.yaml:1:17: consume.hold: -1s is too low; give at least 0s"},
		{"consume: {hold: 30s}", "f.yaml:1:17: consume.hold: the consumers are held until 30s, and the measured window ends at 30s; let them go earlier, or write drain"},
		{"consume: {hold: drain}\nphases: {drain: 0s}", "f.yaml:1:17: consume.hold: the consumers are held until the drain, and there is none; raise phases.drain"},
		{"consume: {hold: drain, consumers: 0}", "f.yaml:1:17: consume.hold: there are no consumers to hold; leave it out, or give consume.consumers"},
		{"load: {producers: 0}\ntopic: {existing: orders}\nconsume: {hold: 5s}", "f.yaml:3:17: consume.hold: without producers no backlog grows while the consumers are held; leave it out"},
		{"consume: {assignment: manual}\nbackpressure: {controller: hysteresis, max_lag: 100}", "f.yaml:2:1: backpressure: manually assigned consumers commit nothing, so there is no lag to go by; set backpressure: off, or consume.assignment: group"},
		{"consume: {protocol: clasic}", `f.yaml:1:21: consume.protocol: "clasic" is not known; did you mean classic? choose one of classic or consumer`},
		{"consume: {commit: 0s}", "f.yaml:1:19: consume.commit: it must be above 0; write batch to commit after each batch"},
		{"consume: {commit: -1s}", "f.yaml:1:19: consume.commit: -1s is too low; give at least 1ms"},
		{"consume: {work: -1ms}", "f.yaml:1:17: consume.work.time: -1ms is too low; give at least 0s"},
		{"consume: {work: {jitter: -1ms}}", "f.yaml:1:26: consume.work.jitter: -1ms is too low; give at least 0s"},
		{"consume: {work: {jitter: 1ms, distribution: fixed}}", "f.yaml:1:26: consume.work.jitter: fixed work has no jitter; leave it out, or choose uniform or lognormal"},
		{"consume: {work: {distribution: exponential}}", "f.yaml:1:11: consume.work.time: exponential work needs a mean above 0; give one, as in 4ms"},
		{"consume: {work: {time: 1ms, distribution: normal}}", `f.yaml:1:43: consume.work.distribution: "normal" is not known; did you mean lognormal? choose one of fixed, uniform, exponential or lognormal`},
		{"consume: {changes: [{at: 30s, work: 1ms}]}", "f.yaml:1:26: consume.changes[0].at: the work changes at 30s, and the measured window ends at 30s; let it change earlier, or raise phases.measure"},
		{"consume: {changes: [{at: 2s, work: 1ms}, {at: 2s, work: 0s}]}", "f.yaml:1:47: consume.changes[1].at: 2s is not after the change before it, at 2s; give the changes in the order of their times"},
		{"consume: {fetch: {min_bytes: 2MiB, max_bytes: 1MiB}}", "f.yaml:1:30: consume.fetch.min_bytes: 2MiB is more than max_bytes, 1MiB; make it smaller"},
		{"consume: {fetch: {max_wait: -1s}}", "f.yaml:1:29: consume.fetch.max_wait: -1s is too low; give at least 0s"},
		{"backpressure: of", `f.yaml:1:15: backpressure.controller: "of" is not known; did you mean off? choose one of off, hysteresis, credit, latency, aimd or gradient`},
		{"backpressure: hysteresis", "f.yaml:1:15: backpressure.max_lag: hysteresis needs a lag above which the gate closes; give max_lag in records, as in 20000"},
		{"backpressure: {controller: hysteresis, max_lag: -5}", "f.yaml:1:49: backpressure.max_lag: -5 is too low; give at least 2"},
		{"backpressure: {controller: hysteresis, max_lag: 100, resume_lag: 100}", "f.yaml:1:66: backpressure.resume_lag: 100 is not below max_lag, 100; give less, or leave it out for half of max_lag"},
		{"backpressure: {controller: hysteresis, max_lag: 100, resume_lag: 0}", "f.yaml:1:66: backpressure.resume_lag: it must be above 0; leave it out for its default: half of max_lag"},
		{"backpressure: {poll: 0s}", "f.yaml:1:22: backpressure.poll: 0s is too low; give at least 1ms"},
		{"backpressure: {excess: drop}", `f.yaml:1:24: backpressure.excess: "drop" is not known; choose one of defer, shed or degrade`},
		{"backpressure: {max_deferred: 0}", "f.yaml:1:30: backpressure.max_deferred: 0 is too low; give at least 1"},
		{"consume: {consumers: 0}\nbackpressure: {controller: hysteresis, max_lag: 100}", "f.yaml:2:1: backpressure: without consumers there is no lag to go by; set backpressure: off, or consume.consumers"},
	})
}

func TestBackpressureMistakes(t *testing.T) {
	const three = "load: {producers: 3, processes: 3}\n"
	check(t, [][2]string{
		{"backpressure: credit", "f.yaml:1:15: backpressure.max_lag: credit needs the lag that is never to be exceeded; give max_lag in records, as in 5000"},
		{"backpressure: {controller: credit, max_lag: 5, resume_lag: 3}", "f.yaml:1:60: backpressure.resume_lag: credit does not close and open by two lags; leave it out, or choose hysteresis"},
		{"backpressure: {controller: credit, max_lag: 5, target: 1s}", "f.yaml:1:56: backpressure.target: credit has no target; leave it out, or choose latency or aimd"},
		{"backpressure: latency", "f.yaml:1:15: backpressure.target: latency needs a target time; give a time, as in 250ms"},
		{"backpressure: {controller: latency, target: 1us}", "f.yaml:1:45: backpressure.target: 1µs is too low; give at least 1ms"},
		{"backpressure: {controller: aimd, target: 0s}", "f.yaml:1:42: backpressure.target: it must be above 0; leave it out for its default: 250ms for aimd; latency asks for one"},
		{"backpressure: {controller: gradient, max_lag: -1}", "f.yaml:1:47: backpressure.max_lag: -1 is too low; give at least 0"},
		{"backpressure: {signal: lag}", `f.yaml:1:24: backpressure.signal: "lag" is not known; choose one of committed or delivered`},
		{"backpressure: {blind: shut}", `f.yaml:1:23: backpressure.blind: "shut" is not known; choose one of closed or open`},
		{"backpressure: {grace: 50ms}", "f.yaml:1:23: backpressure.grace: 50ms is over before the next reading, after 100ms; give at least backpressure.poll"},
		{"backpressure: {excess: shed, keep: 3}", "f.yaml:1:36: backpressure.keep: excess shed keeps no part of the records; leave it out, or choose degrade"},
		{"backpressure: {excess: degrade, keep: 1000001}", "f.yaml:1:39: backpressure.keep: 1000001 is too high; give at most 1000000"},
		{"backpressure: {excess: degrade, keep: 0}", "f.yaml:1:39: backpressure.keep: it must be above 0; leave it out for its default: 10"},
		{three + "backpressure: {controller: credit, max_lag: 2}", "f.yaml:2:45: backpressure.max_lag: 2 records divided by 3 processes is no record for some of them; give at least 3"},
		{"load: {processes: 0}", "f.yaml:1:19: load.processes: 0 is too low; give at least 1"},
		{"load: {processes: 65}", "f.yaml:1:19: load.processes: 65 is too high; give at most 64"},
		{"load: {processes: 2}", "f.yaml:1:19: load.processes: there are fewer producers than these 2 processes: 1; give each process at least one producer, or fewer processes"},
		{"load: {producers: 4, clients: 1, processes: 2}", "f.yaml:1:45: load.processes: processes cannot share a client, and there are fewer than these 2: 1; leave load.clients out, or give each process at least one"},
	})
}

func TestScheduledFaultFaults(t *testing.T) {
	const two = "consume: {consumers: 2}\nfaults: "
	const three = "topic: {replication: 3}\nfaults: "
	check(t, [][2]string{
		{"faults: 5", `f.yaml:1:9: faults: it is the single value "5", not a list; write it as [first, second]`},
		{two + "[{at: 1s}]", "f.yaml:2:10: faults[0]: it does 0 things; give exactly one of kill, stop, start, pause, resume and restart, as in {at: 10s, kill: consumer 0}"},
		{two + "[{at: 1s, kill: consumer 0, start: consumer 0}]", "f.yaml:2:10: faults[0]: it does 2 things; give exactly one of kill, stop, start, pause, resume and restart, as in {at: 10s, kill: consumer 0}"},
		{two + "[{kill: consumer 0}]", "f.yaml:2:10: faults[0].at: the fault has no time; give a time after the start of the measured window, as in {at: 10s, kill: consumer 0}"},
		{two + "[{at: 1s, kill: 0}]", `f.yaml:2:25: faults[0].kill: "0" is no target; write consumer 0, broker 1, leader of partition 0, or every broker`},
		{two + "[{at: 1s, kill: the broker}]", `f.yaml:2:25: faults[0].kill: "the broker" is no target; write consumer 0, broker 1, leader of partition 0, or every broker`},
		{two + "[{at: 1s, kill: consumer -1}]", `f.yaml:2:25: faults[0].kill: "consumer -1" is no target; write consumer 0, broker 1, leader of partition 0, or every broker`},
		{two + "[{at: 1s, kil: consumer 0}]", "f.yaml:2:19: faults[0].kil: unknown key; did you mean kill?"},
		{two + "[{at: 30s, kill: consumer 0}]", "f.yaml:2:15: faults[0].at: the fault comes at 30s, and the measured window ends at 30s; let it come earlier, or raise phases.measure"},
		{two + "[{at: -1s, kill: consumer 0}]", "f.yaml:2:15: faults[0].at: -1s is too low; give at least 0s"},
		{two + "[{at: 2s, kill: consumer 0}, {at: 1s, start: consumer 0}]", "f.yaml:2:43: faults[1].at: 1s is before the previous fault, at 2s; give the faults in the order of their times"},
		{two + "[{at: 1s, stop: consumer 2}]", "f.yaml:2:25: faults[0].stop: there is no consumer 2; they are 0 to 1"},
		{two + "[{at: 1s, start: consumer 1}]", "f.yaml:2:26: faults[0].start: consumer 1 is running; stop it before, or start consumer 2 for one more"},
		{two + "[{at: 1s, start: consumer 3}]", "f.yaml:2:26: faults[0].start: consumer 3 cannot be the next to join; start consumer 2"},
		{two + "[{at: 1s, stop: consumer 1}, {at: 1s, kill: consumer 1}]", "f.yaml:2:53: faults[1].kill: consumer 1 is not running any more; start it before"},
		{"consume: {consumers: 0}\nfaults: [{at: 1s, kill: consumer 0}]", "f.yaml:2:9: faults: there are no consumers for a fault; leave it out, or give consume.consumers"},
		{"consume: {assignment: manual}\nfaults: [{at: 1s, kill: consumer 0}]", "f.yaml:2:9: faults: manually assigned consumers are in no group, so the others would not notice a fault; leave it out, or set consume.assignment: group"},
		{"consume: {groups: 2}\nfaults: [{at: 1s, kill: consumer 0}]", "f.yaml:2:9: faults: a consumer's number does not say in which of the 2 groups it is; leave it out, or set consume.groups: 1"},
		{three + "[{at: 1s, kill: broker 4}]", "f.yaml:2:25: faults[0].kill: there is no broker 4; they are 1 to 3"},
		{three + "[{at: 1s, kill: broker 0}]", "f.yaml:2:25: faults[0].kill: there is no broker 0; they are 1 to 3"},
		{three + "[{at: 1s, start: broker 1}]", "f.yaml:2:26: faults[0].start: broker 1 is running; kill or stop it before"},
		{three + "[{at: 1s, kill: broker 1, for: 1s}, {at: 2s, start: broker 1}]", "f.yaml:2:61: faults[1].start: broker 1 is running; kill or stop it before"},
		{three + "[{at: 1s, kill: broker 1}, {at: 2s, restart: broker 1}]", "f.yaml:2:54: faults[1].restart: broker 1 is not running any more; start it before"},
		{three + "[{at: 1s, pause: broker 1}, {at: 2s, stop: broker 1}]", "f.yaml:2:52: faults[1].stop: broker 1 is paused; resume it before"},
		{three + "[{at: 1s, pause: broker 1}, {at: 2s, start: broker 1}]", "f.yaml:2:53: faults[1].start: broker 1 is paused, not stopped; resume it"},
		{three + "[{at: 1s, resume: broker 1}]", "f.yaml:2:27: faults[0].resume: broker 1 is not paused; pause it before"},
		{two + "[{at: 1s, resume: consumer 1}]", "f.yaml:2:27: faults[0].resume: consumer 1 is not paused; pause it before"},
		{three + "[{at: 1s, kill: every broker}]", "f.yaml:2:25: faults[0].kill: without any broker nothing is left to measure; write restart: every broker, which takes one after the other, or name one, as in broker 1"},
		{three + "[{at: 1s, kill: leader of partition 12}]", "f.yaml:2:25: faults[0].kill: there is no partition 12; they are 0 to 11"},
		{three + "[{at: 1s, start: leader of partition 0}]", "f.yaml:2:26: faults[0].start: a partition's leader is running; name the broker, as in broker 1, or write for: 5s in the fault that stops it"},
		{three + "[{at: 1s, restart: broker 1, for: 1s}]", "f.yaml:2:43: faults[0].for: restart has no duration; leave it out; only kill, stop and pause have one"},
		{three + "[{at: 1s, kill: broker 1, for: -1s}]", "f.yaml:2:40: faults[0].for: -1s is too low; give at least 1ns"},
		{"consume: {consumers: 0}\ntopic: {replication: 2}\nfaults: [{at: 1s, kill: consumer 0}, {at: 2s, kill: broker 1}]", "f.yaml:3:9: faults: there are no consumers for a fault; leave it out, or give consume.consumers"},
		{"consume: {session_timeout: 6s, protocol: consumer}", "f.yaml:1:28: consume.session_timeout: with protocol consumer the broker sets it; leave it out and set cluster.config.group.consumer.session.timeout.ms, or choose classic"},
		{"cluster: {version: 3.8}", `f.yaml:1:20: cluster.version: "3.8" is not known; did you mean 3.9? choose one of 3.9, 4.0, 4.1, 4.2 or 4.3`},
		{"cluster: {version: 3.9}\nconsume: {protocol: consumer}", "f.yaml:2:21: consume.protocol: Kafka 3.9 has the protocol consumer only as a preview, switched off; choose classic, or Kafka 4.0 or later (KIP-848)"},
		{"cluster: {version: 4.1}\nconsume: {queue: {engine: share}}", "f.yaml:2:27: consume.queue.engine: Kafka 4.1 has share groups only as a preview, or not at all; choose another engine, or Kafka 4.2 or later (KIP-932)"},
		{"cluster: {config: {listeners: x}}", "f.yaml:1:31: cluster.config.listeners: the broker property listeners is set by kafka-bench itself; leave it out"},
		{"cluster: {jvm: [-XX:MaxHeapSize=2g]}", "f.yaml:1:17: cluster.jvm[0]: JVM option -XX:MaxHeapSize=2g sets the heap; set the heap of the cluster instead"},
		{"cluster: {jvm: [-XX:+UseZGC, -Xmx2g]}", "f.yaml:1:30: cluster.jvm[1]: JVM option -Xmx2g sets the heap; set the heap of the cluster instead"},
		{"cluster: {disks: [/a, /a]}", `f.yaml:1:23: cluster.disks[1]: "/a" is named twice; name each folder once`},
		{"consume: {session_timeout: 6s, assignment: manual}", "f.yaml:1:28: consume.session_timeout: manually assigned consumers are in no group, and have no session; leave it out"},
		{"consume: {session_timeout: 1ms}", "f.yaml:1:28: consume.session_timeout: 1ms is too low; give at least 100ms"},
	})
	s, err := Parse("f.yaml", []byte(two+"[{at: 0s, stop: consumer 0}, {at: 1s, start: consumer 2}, {at: 1s, kill: consumer 2}, {at: 2s, start: consumer 0}, {at: 3s, start: consumer 3}]"))
	if err != nil || len(s.Faults) != 5 {
		t.Fatalf("%+v, %v", s.Faults, err)
	}
	if f := s.Faults[2]; f.Action() != Kill || f.Target() != (Target{ConsumerTarget, 2}) || f.String() != "kill consumer 2" || f.At != unit.Duration(time.Second) {
		t.Errorf("the third fault is %v at %v", f, f.At)
	}
}

func TestDiskNamedTwice(t *testing.T) {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	s := Defaults()
	s.Cluster.Disks = []string{here, "."}
	if err := s.Validate(); err == nil || !strings.Contains(err.Error(), `cluster.disks[1]: "." is named twice`) {
		t.Errorf("a folder with and without its whole path: %v", err)
	}
}

func TestDerivedValues(t *testing.T) {
	cases := []struct {
		text string
		got  func(Scenario) any
		want any
	}{
		{"topic: {replication: 3}", func(s Scenario) any { return s.Cluster.Brokers }, 3},
		{"topic: {replication: 3}", func(s Scenario) any { return s.Cluster.Heap }, 512 * unit.MiB},
		{"backpressure: {controller: hysteresis, max_lag: 301}", func(s Scenario) any { return s.Backpressure.ResumeLag }, int64(150)},
		{"backpressure: aimd", func(s Scenario) any { return s.Backpressure.Target }, unit.Duration(250e6)},
		{"backpressure: {controller: latency, target: 2s}", func(s Scenario) any { return s.Backpressure.Target }, unit.Duration(2e9)},
		{"backpressure: gradient", func(s Scenario) any { return s.Backpressure.Target }, unit.Duration(0)},
		{"backpressure: {excess: degrade}", func(s Scenario) any { return s.Backpressure.Keep }, int64(10)},
		{"backpressure: {excess: degrade}\nload: {producers: 4, processes: 3}", func(s Scenario) any { return s.Load.Processes }, 3},
		{"consume: {work: {time: 4ms, jitter: 1ms}}", func(s Scenario) any { return s.Consume.Work.Distribution }, "uniform"},
		{"consume: {work: {time: 4ms, jitter: 1ms}}", func(s Scenario) any { return s.Consume.Work.Mean() }, 4500 * time.Microsecond},
		{"consume: {work: 4ms}", func(s Scenario) any { return s.Consume.Work }, Work{Time: 4e6, Distribution: "fixed"}},
		{"load: {record: {keys: zipf}}", func(s Scenario) any { return s.Load.Record.Keys }, Keys{"zipf", 10_000, 1.1}},
		{"load: {arrival: {process: ramp, to: 2k/s}}", func(s Scenario) any { return s.Load.Arrival.Over }, unit.Duration(30e9)},
		{"load: {arrival: {process: steps, steps: [{rate: 7/s, for: 10s}, {rate: 0/s}]}}", func(s Scenario) any { return s.Load.Arrival.Steps[1].For }, unit.Duration(20e9)},
		{"load: {arrival: {process: steps, steps: [{rate: 7/s, for: 10s}, {rate: 8/s}]}}", func(s Scenario) any { return s.Load.Rate }, unit.Rate{Records: 7, Per: time.Second}},
		{"consume: {commit: batch}", func(s Scenario) any { return s.Consume.Commit }, Commit{EachBatch: true}},
		{"consume: {hold: drain}", func(s Scenario) any { return s.Consume.Hold }, Hold{Drain: true}},
		{"consume: {hold: 5s}", func(s Scenario) any { return s.Consume.Hold }, Hold{Until: 5e9}},
		{"consume: {hold: off}", func(s Scenario) any { return s.Consume.Hold.Off() }, true},
		{"topic: {existing: orders}", func(s Scenario) any { return s.Consume.From }, "end"},
		{"topic: {existing: orders}\nload: {producers: 0}", func(s Scenario) any { return s.Consume.From }, "start"},
		{"topic: {existing: orders}\nload: {producers: 0}", func(s Scenario) any { return s.Phases.Warmup }, unit.Duration(0)},
		{"topic: {fill: 1MB}", func(s Scenario) any { return s.Consume.From }, "end"},
		{"topic: {fill: 1MB}\nload: {producers: 0}", func(s Scenario) any { return s.Consume.From }, "start"},
		{"topic: {fill: 1MB}\nload: {producers: 0}", func(s Scenario) any { return s.Phases.Warmup }, unit.Duration(0)},
		{"driver: sarama", func(s Scenario) any { return s.Driver }, "sarama"},
		{"consume: {cpu: 0.5, memory: 64MiB}", func(s Scenario) any { return s.Consume.CPU }, 0.5},
		{"topic: {existing: orders}\nload: {producers: 0}\nphases: {warmup: 2s}", func(s Scenario) any { return s.Phases.Warmup }, unit.Duration(2e9)},
		{"load: {acks: 'all'}", func(s Scenario) any { return s.Load.Acks }, "all"},
		{"load: {acks: 0}", func(s Scenario) any { return s.Load.Acks }, "0"},
		{"load: {rate: max}", func(s Scenario) any { return s.Load.Rate }, unit.MaxRate},
		{"load: {batch: 2MB, record: {size: 1MiB}}\ntopic: {config: {max.message.bytes: 2000000}}", func(s Scenario) any { return unit.Size(s.Load.Batch) }, 2 * unit.MB},
		{"load: {batch: 2MB}\ncluster: {config: {message.max.bytes: 2000000}}", func(s Scenario) any { return unit.Size(s.Load.Batch) }, 2 * unit.MB},
		{"load: {batch: 2MB}\ntopic: {existing: theirs}", func(s Scenario) any { return unit.Size(s.Load.Batch) }, 2 * unit.MB},
		{"load: {batch: 1 record}", func(s Scenario) any { return s.Load.Batch }, OneRecord},
		{"load: {batch: 0}", func(s Scenario) any { return s.Load.Batch }, OneRecord},
		{"load: {batch: 0B}", func(s Scenario) any { return s.Load.Batch }, OneRecord},
		{"load: {batch: 1 record}", func(s Scenario) any { return s.BatchBytes() }, 64 * unit.KiB},
		{"load: {batch: 1 record, record: {size: 100kB}}", func(s Scenario) any { return s.BatchBytes() }, unit.Size(100_082)},
		{"consume: {client: {fetch.queue.backoff.ms: 10}}", func(s Scenario) any { return s.Consume.Client }, map[string]string{"fetch.queue.backoff.ms": "10"}},
		{"load: {rate: 2k/s}", func(s Scenario) any { return s.Name }, "f"},
	}
	for _, c := range cases {
		s, err := Parse("f.yaml", []byte(c.text))
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
		} else if got := c.got(s); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%q gives %v, want %v", c.text, got, c.want)
		}
	}
}

func TestValidateWithoutAFile(t *testing.T) {
	s := Defaults()
	s.Phases.Measure = 0
	s.Load.Arrival.Process = ""
	before := s
	err := s.Validate()
	want := "phases.measure: it must be above 0; give a time, as in 30s\n" +
		`load.arrival.process: "" is not known; choose one of constant, poisson, burst, ramp, steps or spike`
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if !reflect.DeepEqual(s, before) {
		t.Error("Validate changed the scenario")
	}
	if err := (Scenario{}).Validate(); err == nil {
		t.Error("the zero scenario is valid")
	}
}

func TestWarnings(t *testing.T) {
	cases := []struct{ text, want string }{
		{"load: {record: {size: {uniform: [40B, 1KiB]}}}", "load.record.size: records below the 42 bytes of the stamp"},
		{"load: {rate: max}", "load.rate: max is closed loop"},
		{"load: {rate: max, round: 10}", "load.rate: max is closed loop: there is no schedule, so response times are not reported\nload.round: a round that does not fill a batch waits for load.linger, 5ms"},
		{"load: {rate: max, round: 10, batch: 1 record}", "load.rate: max is closed loop"},
		{"load: {acks: 0}", "load.acks: with acks 0"},
		{"topic: {replication: 3}", "load.acks: with acks 1 a replicated topic"},
		{"load: {record: {keys: uniform}}", "load.partitioning: the records have keys, and sticky does not go by them"},
		{"load: {rate: 5k/s, arrival: {process: spike, peak: 5k/s, length: 1s}}", "load.arrival.peak: the peak of 5k/s is not above load.rate, 5k/s"},
		{"load: {rate: 5k/s, arrival: {process: ramp, to: 5k/s}}", "load.arrival.to: the ramp ends at the rate that it starts from, 5k/s"},
		{"load: {producers: 8, record: {size: 16KiB}}", "load.max_buffered: the clients may hold 1.31 GB of records"},
		{"consume: {consumers: 0}", "consume.consumers: nobody consumes"},
		{"consume: {consumers: 15}", "consume.consumers: 15 consumers share 12 partitions; 3 of them will be idle"},
		{"consume: {commit: 31s}", "consume.commit: an interval of 31s is longer than the measured window"},
		{"topic: {existing: orders}\nload: {producers: 0}\nconsume: {from: end}", "consume.from: this run has no producers"},
		{"backpressure: {max_lag: 5}", "backpressure: it is off, so max_lag and resume_lag have no effect; choose a controller, as in controller: credit"},
		{"backpressure: {controller: off, target: 5s}", "backpressure: it is off, so target has no effect"},
		{"load: {rate: 10k/s}\nbackpressure: {controller: credit, max_lag: 5000}", "backpressure.max_lag: give at least 11,550 records; it is 5,000. Less holds back consumers that keep up"},
		{"consume: {session_timeout: 5s}", "consume.session_timeout: a broker refuses less than 6s"},
		{"faults: [{at: 1s, kill: consumer 0}, {at: 2s, start: consumer 0}]", "faults: consumer 0 is killed at 1s, and Kafka reassigns its partitions only after 45s of silence, after the measured window"},
		{"faults: [{at: 1s, stop: consumer 0}]", "faults: no consumer runs at the end of the measured window"},
		{"consume: {consumers: 2}\nfaults: [{at: 28s, stop: consumer 0, for: 2s}]", "faults: stop consumer 0 at 28s lasts for 2s, until after the measured window"},
		{"consume: {session_timeout: 6s}\nfaults: [{at: 1s, stop: consumer 0, for: 2s}]", ""},
		{"cluster: {brokers: 2}\nfaults: [{at: 1s, kill: broker 1, for: 2s}]", "faults: topic.replication is 1: no other broker can lead"},
		{"topic: {replication: 2, config: {min.insync.replicas: 2}}\nload: {acks: all}\nfaults: [{at: 1s, kill: leader of partition 0, for: 2s}]", "faults: min.insync.replicas is 2 of 2 replicas"},
		{"topic: {replication: 3, config: {min.insync.replicas: 2}}\nload: {acks: all}\nfaults: [{at: 1s, restart: every broker}]", ""},
		{"phases: {warmup: 0s}", "phases.warmup: there is none"},
		{"phases: {drain: 0s}", "phases.drain: there is none"},
		{"phases: {measure: 900ms}\nconsume: {commit: batch}", "sampling.interval: 1s is longer than the measured window"},
	}
	for _, c := range cases {
		s, err := Parse("f.yaml", []byte(c.text))
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		got := strings.Join(s.Warnings(42), "\n")
		if !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%q warns %q, want %q", c.text, got, c.want)
		}
		if s.Load.Batch == OneRecord && strings.Contains(got, "load.linger") {
			t.Errorf("%q warns of a linger: %q", c.text, got)
		}
	}
}
